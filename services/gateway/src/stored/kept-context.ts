import { GatewayError } from '@sluice/errors';
import { type JsonObject, withoutForeignItems } from '@sluice/providers';
import { expectModelCall, type ModelExchange } from '../exchange/exchange.ts';
import { type GoesOn, goesOnFrom } from '../exchange/goes-on-from.ts';
import { overloaded } from '../http/read-body.ts';
import type { Stage } from '../pipeline/pipeline.ts';
import { noteRequest } from '../pipeline/stages/read-request.ts';
import type { StoredOwner } from './files.ts';
import { itemsOfOutput, itemsToSend } from './kept-items.ts';
import { type KeptStore, keptUuid } from './kept-store.ts';
import { referencesIn, withReferred } from './referred-items.ts';
import { ownerOf } from './stored-owner.ts';

/**
 * What was said before.
 * @throws GatewayError `response.not_found`, `conversation.not_found`, `response.not_finished`, each with the field; `response.unavailable`
 */
async function contextOf(
  { previous, conversation }: Pick<GoesOn, 'previous' | 'conversation'>,
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

/** What was said before, and the request with what its items refer to. @throws GatewayError as `contextOf` does */
export async function withKept(
  { json, ...from }: Pick<GoesOn, 'previous' | 'conversation'> & { readonly json: JsonObject },
  owner: StoredOwner,
  store: KeptStore,
): Promise<{ json: JsonObject; context: readonly JsonObject[] }> {
  const context = await contextOf(from, owner, store);
  return { context, json: await withReferred(json, context, owner.workspaceId, store) };
}

/** The request as somebody understands it who keeps nothing: what was said before stands before its input. */
export function withContext(json: JsonObject, context: readonly JsonObject[]): JsonObject {
  const { previous_response_id: _previous, conversation: _conversation, ...rest } = json;
  const isAsSent = context.length === 0 && !Array.isArray(json.input);
  return isAsSent ? rest : { ...rest, input: itemsToSend(context, json.input) };
}

/** @throws GatewayError 503 where there is no room for it */
export function sendInstead(exchange: ModelExchange, request: JsonObject): void {
  const body = Buffer.from(JSON.stringify(request));
  if (!exchange.arrival.holdBytes(body.length)) throw overloaded();
  exchange.subject.body = body;
  noteRequest(exchange, request);
}

/** Ask of a response what is no response itself. */
const asking: ReadonlySet<string> = new Set(['countResponseInputTokens', 'compactModelResponse']);

/** Counts and compactions of what is kept here: whoever makes them is sent the whole of it. Any other request is left alone. */
export function resumeKept(store: KeptStore): Stage {
  return (exchange, next) => {
    expectModelCall(exchange);
    const { subject, config } = exchange;
    const { operation, json } = subject;
    if (json === undefined || !asking.has(operation.id)) return next();
    const from = goesOnFrom(json);
    const refers = config?.compiled.keepsResponses === true && referencesIn(json.input).length > 0;
    return from.isOurs || refers ? sendWhole(exchange, json, from).then(next) : next();
  };

  async function sendWhole(
    exchange: ModelExchange,
    asked: JsonObject,
    from: ReturnType<typeof goesOnFrom>,
  ): Promise<void> {
    const { json, context } = await withKept({ ...from, json: asked }, ownerOf(exchange), store);
    const request = withContext(json, context);
    sendInstead(exchange, withoutForeignItems(request)?.body ?? request);
  }
}
