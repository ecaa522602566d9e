import { isStoredId, storedId } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import { isObject } from '@sluice/mcp';
import type { JsonObject, JsonValue } from '@sluice/providers';
import { uuidText } from '@sluice/usage';
import { expectModelCall, type ModelExchange } from '../exchange/exchange.ts';
import { overloaded } from '../http/read-body.ts';
import type { Stage } from '../pipeline/pipeline.ts';
import { noteRequest } from '../pipeline/stages/read-request.ts';
import { uuidV7 } from '../usage/uuid.ts';
import { type BackgroundDeps, leaveToBackground, runKept } from './background.ts';
import type { StoredOwner } from './files.ts';
import { itemsOfInput, itemsOfOutput, itemsToSend } from './kept-items.ts';
import { keptReply } from './kept-reply.ts';
import { type KeptStore, keptUuid } from './kept-store.ts';
import { ownerOf } from './stored-owner.ts';

/**
 * Responses that the service keeps: those of a config that says so, and those that go on from one, or in a conversation, that is kept
 * here. What was said before stands before the input, and the whole is a plain request: nothing is kept at its provider, and checks,
 * lists and limits see all of it.
 */
export function keepResponses(deps: BackgroundDeps): Stage {
  return (exchange, next) => {
    expectModelCall(exchange);
    if (exchange.subject.operation.id !== 'createModelResponse') return next();
    const { keptJob } = exchange.arrival;
    if (keptJob !== undefined) return runKept(exchange, keptJob, next, deps);
    const asked = readAsked(exchange);
    return asked === undefined ? next() : kept(exchange, asked, next, deps);
  };
}

interface Asked {
  readonly json: JsonObject;
  readonly previous: string | undefined;
  readonly conversation: string | undefined;
  /** False = it goes on from what is kept, and is not kept itself. */
  readonly isKept: boolean;
}

/** Undefined = it is its provider's to keep, or nobody's. */
function readAsked({ subject, config }: ModelExchange): Asked | undefined {
  const json = subject.json ?? {};
  const previous = idIn(json.previous_response_id);
  const conversation = idIn(json.conversation);
  const isOurs =
    (previous !== undefined && isStoredId('response', previous)) ||
    (conversation !== undefined && isStoredId('conversation', conversation));
  if (!isOurs && (previous !== undefined || conversation !== undefined)) return undefined;
  if (previous !== undefined && conversation !== undefined)
    throw new GatewayError('request.invalid_field', {
      field: 'body.conversation',
      message: 'A response goes on from another one or in a conversation, not both.',
    });
  const isKept = json.store !== false;
  const keeps = isOurs || config?.compiled.keepsResponses === true;
  if (keeps && json.background === true && !isKept)
    throw new GatewayError('request.invalid_field', {
      field: 'body.store',
      message: 'A response in the background is kept: body.store must not be false.',
    });
  if (!isOurs && !(isKept && keeps)) return undefined;
  return { json, previous, conversation, isKept };
}

function idIn(value: JsonValue | undefined): string | undefined {
  const id = isObject(value) ? value.id : value;
  return typeof id === 'string' && id !== '' ? id : undefined;
}

async function kept(
  exchange: ModelExchange,
  asked: Asked,
  next: Parameters<Stage>[1],
  deps: BackgroundDeps,
): ReturnType<Stage> {
  const owner = ownerOf(exchange);
  const { json } = asked;
  const context = await contextOf(asked, owner, deps.store);
  const input = itemsOfInput(json.input);
  const request = requestOf(json, context);
  const id = uuidText(uuidV7(exchange.arrival.startedAtMs));
  const told = {
    ...(asked.isKept && { id: storedId('response', id) }),
    store: asked.isKept,
    background: json.background === true,
    previous_response_id: asked.previous ?? null,
    ...(asked.conversation !== undefined && { conversation: { id: asked.conversation } }),
  };
  if (json.background === true) {
    const conversation =
      asked.conversation === undefined ? undefined : keptUuid('conversation', asked.conversation);
    const job = {
      request,
      told,
      said: input.length,
      ...(conversation !== undefined && { conversation }),
    };
    const kept = { items: [...context, ...input], job };
    return leaveToBackground(exchange, { id, owner, kept }, deps);
  }
  const body = Buffer.from(JSON.stringify(request));
  if (!exchange.arrival.holdBytes(body.length)) throw overloaded();
  exchange.subject.body = body;
  noteRequest(exchange, request);
  exchange.subject.bringsKept = context.length > 0;
  return keptReply(await next(), {
    told,
    async keep(response) {
      try {
        await keep(response, { asked, owner, id, context, input }, deps.store);
        deps.watch.kept();
        return true;
      } catch (error) {
        deps.watch.lost(error, exchange.arrival.requestIdText);
        return false;
      }
    },
  });
}

async function contextOf(
  { previous, conversation }: Asked,
  { workspaceId }: StoredOwner,
  store: KeptStore,
): Promise<readonly JsonObject[]> {
  try {
    if (previous !== undefined) {
      const id = keptUuid('response', previous);
      const { response, items, job } = await store.find({ kind: 'response', workspaceId, id });
      if (job !== undefined) throw new GatewayError('response.not_finished');
      return [...items, ...itemsOfOutput(response)];
    }
    if (conversation === undefined) return [];
    const id = keptUuid('conversation', conversation);
    return (await store.find({ kind: 'conversation', workspaceId, id })).items;
  } catch (error) {
    if (!(error instanceof GatewayError) || error.status >= 500) throw error;
    const field = previous === undefined ? 'body.conversation' : 'body.previous_response_id';
    throw new GatewayError(error.code, { field, message: error.message, cause: error });
  }
}

function requestOf(json: JsonObject, context: readonly JsonObject[]): JsonObject {
  const {
    previous_response_id: _previous,
    conversation: _conversation,
    background: _background,
    ...rest
  } = json;
  const include = Array.isArray(json.include) ? json.include : [];
  return {
    ...rest,
    ...(context.length > 0 && { input: itemsToSend(context, json.input) }),
    store: false,
    // A thought that its provider does not keep is kept here, sealed by it.
    ...(json.reasoning != null &&
      !include.includes(sealedThoughts) && { include: [...include, sealedThoughts] }),
  };
}

const sealedThoughts = 'reasoning.encrypted_content';

interface Keeping {
  readonly asked: Asked;
  readonly owner: StoredOwner;
  readonly id: string;
  readonly context: readonly JsonObject[];
  readonly input: readonly JsonObject[];
}

async function keep(
  response: JsonObject,
  { asked, owner, id, context, input }: Keeping,
  store: KeptStore,
): Promise<void> {
  if (asked.conversation !== undefined) {
    const said = [...input, ...itemsOfOutput(response)];
    const name = {
      kind: 'conversation',
      workspaceId: owner.workspaceId,
      id: keptUuid('conversation', asked.conversation),
    } as const;
    await store.change(name, owner, (now) => ({ ...now, items: [...now.items, ...said] }));
  }
  if (asked.isKept)
    await store.create('response', id, owner, { response, items: [...context, ...input] });
}
