import { type HeaderPrefixes, spellingOf } from '@sluice/contracts';
import { fromUnknown } from '@sluice/errors';
import type { Exchange } from '../exchange/exchange.ts';
import type { Reply } from '../exchange/reply.ts';
import type { NewerBundles } from '../held/newer-bundles.ts';
import type { Stage } from '../pipeline/pipeline.ts';
import { errorBody, errorHeaders } from '../routes/error-reply.ts';
import { cancelBatch, createBatch, getBatch, listBatches, readOutput } from './batches.ts';
import {
  addItems,
  createConversation,
  deleteConversation,
  deleteItem,
  getConversation,
  getItem,
  updateConversation,
} from './conversations.ts';
import { createFile, deleteFile, fileUuid, getFile, listFiles, readFile } from './files.ts';
import { listItems } from './item-page.ts';
import type { KeptStore } from './kept-store.ts';
import { namesNobody } from './names-nobody.ts';
import type { ReachWatch } from './reach-watch.ts';
import type { StoredRegister } from './register.ts';
import { cancelResponse, deleteResponse, getResponse } from './responses.ts';
import { ownerOf } from './stored-owner.ts';
import { type StoredAsk, storedAsk } from './stored-path.ts';
import { addPart, cancelUpload, completeUpload, createUpload } from './uploads.ts';

export interface StoredDeps {
  readonly register: StoredRegister;
  readonly kept: KeptStore;
  readonly prefixes: HeaderPrefixes;
  readonly resolveConfig: Stage;
  readonly watch: ReachWatch;
  /** For providers of batches that are not known here. */
  readonly newer: Pick<NewerBundles, 'after'>;
}

/**
 * Files and batches of the service's own: what `/v1/files` and `/v1/batches` mean where no provider is named, by the request or by
 * a config; and the responses and conversations that it keeps. Costs nothing, counts against no limit and leaves no record: the lines of a batch do, each for itself.
 */
export function answerStored(deps: StoredDeps): Stage {
  return (exchange, next) => {
    const { method, pathname } = exchange.arrival;
    const ask = storedAsk(method, pathname);
    if (ask === undefined) return next();
    if (ask.isOurs) return answered(ask, exchange, deps);
    return deps.resolveConfig(exchange, () =>
      isMeant(ask, exchange) ? answered(ask, exchange, deps) : next(),
    );
  };
}

/** Whether the service itself is asked: no provider is named, or a config says who keeps conversations. */
function isMeant(ask: StoredAsk, exchange: Exchange): boolean {
  if (ask.kind === 'create-conversation' && exchange.config?.compiled.keepsResponses === true)
    return true;
  return namesNobody(exchange);
}

/** Refusals are answers: nobody was asked, and nothing is to be recorded. */
async function answered(ask: StoredAsk, exchange: Exchange, deps: StoredDeps): Promise<Reply> {
  try {
    const reply = await answer(ask, exchange, deps);
    deps.watch.reached();
    return reply;
  } catch (caught) {
    const error = fromUnknown(caught);
    if (error.status >= 500) deps.watch.lost(caught, exchange.arrival.requestIdText);
    const spelling = spellingOf(deps.prefixes, exchange.arrival.headers);
    return {
      kind: 'body',
      status: error.status,
      headers: errorHeaders(error, exchange),
      body: errorBody(error, exchange, spelling),
    };
  }
}

function answer(ask: StoredAsk, exchange: Exchange, deps: StoredDeps): Promise<Reply> {
  const { register, prefixes, kept, newer } = deps;
  const { arrival } = exchange;
  const owner = ownerOf(exchange);
  const keeping = { store: kept, register };
  switch (ask.kind) {
    case 'create-file':
      return createFile(arrival, owner, register);
    case 'list-files':
      return listFiles(arrival, owner, register);
    case 'get-file':
      return getFile(ask.id, owner, register);
    case 'delete-file':
      return deleteFile(ask.id, owner, register);
    case 'read-file':
      return readFile(fileUuid(ask.id), arrival, owner, register);
    case 'create-upload':
      return createUpload(arrival, owner, register);
    case 'add-part':
      return addPart(ask.id, arrival, owner, register);
    case 'complete-upload':
      return completeUpload(ask.id, arrival, owner, register);
    case 'cancel-upload':
      return cancelUpload(ask.id, owner, register);
    case 'create-batch':
      return createBatch(exchange, owner, register, prefixes, newer);
    case 'list-batches':
      return listBatches(arrival, owner, register);
    case 'get-batch':
      return getBatch(ask.id, owner, register);
    case 'cancel-batch':
      return cancelBatch(ask.id, owner, register);
    case 'read-output':
      return readOutput(ask.id, owner, register, arrival.signal);
    case 'get-response':
      return getResponse(ask.id, arrival, owner, keeping);
    case 'delete-response':
      return deleteResponse(ask.id, owner, keeping);
    case 'cancel-response':
      return cancelResponse(ask.id, owner, keeping);
    case 'list-input-items':
      return listItems({ kind: 'response', id: ask.id }, arrival, owner, kept);
    case 'create-conversation':
      return createConversation(arrival, owner, kept);
    case 'get-conversation':
      return getConversation(ask.id, owner, kept);
    case 'update-conversation':
      return updateConversation(ask.id, arrival, owner, kept);
    case 'delete-conversation':
      return deleteConversation(ask.id, owner, kept);
    case 'add-items':
      return addItems(ask.id, arrival, owner, kept);
    case 'list-items':
      return listItems({ kind: 'conversation', id: ask.id }, arrival, owner, kept);
    case 'get-item':
      return getItem(ask.id, ask.itemId, owner, kept);
    case 'delete-item':
      return deleteItem(ask.id, ask.itemId, owner, kept);
  }
}
