import { type HeaderPrefixes, spellingOf } from '@sluice/contracts';
import { fromUnknown, GatewayError } from '@sluice/errors';
import type { Logger } from '@sluice/telemetry';
import type { Exchange } from '../exchange/exchange.ts';
import type { Reply } from '../exchange/reply.ts';
import type { Stage } from '../pipeline/pipeline.ts';
import { errorBody, errorHeaders } from '../routes/error-reply.ts';
import { cancelBatch, createBatch, getBatch, listBatches, readOutput } from './batches.ts';
import {
  createFile,
  deleteFile,
  fileUuid,
  getFile,
  listFiles,
  readFiles,
  type StoredOwner,
} from './files.ts';
import type { StoredRegister } from './register.ts';
import { type StoredAsk, storedAsk } from './stored-path.ts';

export interface StoredDeps {
  readonly register: StoredRegister;
  readonly prefixes: HeaderPrefixes;
  readonly resolveConfig: Stage;
  readonly logger: Logger;
}

/** What names the service itself where a config by default names a provider. */
const ownName = 'service';

/**
 * Files and batches of the service's own: what `/v1/files` and `/v1/batches` mean where no provider is named, by the request or by
 * a config. Costs nothing, counts against no limit and leaves no record: the lines of a batch do, each for itself.
 */
export function answerStored(deps: StoredDeps): Stage {
  return (exchange, next) => {
    const { method, pathname } = exchange.arrival;
    const ask = storedAsk(method, pathname);
    if (ask === undefined) return next();
    return deps.resolveConfig(exchange, () =>
      namesProvider(exchange) ? next() : answered(ask, exchange, deps),
    );
  };
}

function namesProvider({ arrival: { caller }, config }: Exchange): boolean {
  if (caller.provider?.replace(/^@/, '') === ownName) return false;
  return (
    caller.provider !== undefined ||
    caller.customHost !== undefined ||
    config?.compiled.namesProvider === true
  );
}

/** Refusals are answers: nobody was asked, and nothing is to be recorded. */
async function answered(ask: StoredAsk, exchange: Exchange, deps: StoredDeps): Promise<Reply> {
  try {
    return await answer(ask, exchange, deps);
  } catch (caught) {
    const error = fromUnknown(caught);
    if (error.status >= 500)
      deps.logger.warn(
        { err: caught, code: error.code, request_id: exchange.arrival.requestIdText },
        'files or batches could not be reached',
      );
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
  const { register, prefixes } = deps;
  const { arrival } = exchange;
  const owner = ownerOf(exchange);
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
      return readFiles([fileUuid(ask.id)], undefined, owner, register, arrival.signal);
    case 'create-batch':
      return createBatch(arrival, owner, register, prefixes);
    case 'list-batches':
      return listBatches(arrival, owner, register);
    case 'get-batch':
      return getBatch(ask.id, owner, register);
    case 'cancel-batch':
      return cancelBatch(ask.id, owner, register);
    case 'read-output':
      return readOutput(ask.id, owner, register, arrival.signal);
  }
}

function ownerOf({ key }: Exchange): StoredOwner {
  if (key === undefined) throw new GatewayError('internal');
  const { organisationId, workspaceId, id } = key.source;
  // A token ends before a batch does, and nobody could speak for it then.
  return { organisationId, workspaceId, apiKeyId: 'validUntilMs' in key ? '' : id };
}
