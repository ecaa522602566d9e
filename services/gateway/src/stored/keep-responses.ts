import { storedId } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import type { JsonObject } from '@sluice/providers';
import { uuidText } from '@sluice/usage';
import { expectModelCall, type ModelExchange } from '../exchange/exchange.ts';
import { type GoesOn, goesOnFrom } from '../exchange/goes-on-from.ts';
import type { Stage } from '../pipeline/pipeline.ts';
import { uuidV7 } from '../usage/uuid.ts';
import { type BackgroundDeps, headersForJob, leaveToBackground, runKept } from './background.ts';
import type { StoredOwner } from './files.ts';
import { sendInstead, withContext, withKept } from './kept-context.ts';
import { itemsOfInput, itemsOfOutput } from './kept-items.ts';
import { keptReply } from './kept-reply.ts';
import { type KeptStore, keptUuid } from './kept-store.ts';
import { referencesIn } from './referred-items.ts';
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

interface Asked extends Pick<GoesOn, 'previous' | 'conversation'> {
  readonly json: JsonObject;
  /** False = it goes on from what is kept, and is not kept itself. */
  readonly isKept: boolean;
}

/** Undefined = it is its provider's to keep, or nobody's. */
function readAsked({ subject, config }: ModelExchange): Asked | undefined {
  const json = subject.json ?? {};
  const { previous, conversation, isOurs } = goesOnFrom(json);
  if (!isOurs && (previous !== undefined || conversation !== undefined)) return undefined;
  const isKept = json.store !== false;
  const keeps = isOurs || config?.compiled.keepsResponses === true;
  if (keeps && json.background === true && !isKept)
    throw new GatewayError('request.invalid_field', {
      field: 'body.store',
      message: 'A response in the background is kept: body.store must not be false.',
    });
  if (!isOurs && !(keeps && (isKept || referencesIn(json.input).length > 0))) return undefined;
  return { json, previous, conversation, isKept };
}

/** For who explains a request: what would be sent of it. Nothing is kept, and nobody is asked for anything but what it goes on from. */
export function showKept(store: KeptStore): Stage {
  return async (exchange, next) => {
    expectModelCall(exchange);
    if (exchange.subject.operation.id !== 'createModelResponse') return next();
    const asked = readAsked(exchange);
    if (asked === undefined) return next();
    const owner = ownerOf(exchange);
    const { json, context } = await withKept(asked, owner, store);
    if (json.background === true) headersForJob(owner, exchange.arrival);
    sendInstead(exchange, requestOf(json, context));
    exchange.subject.bringsKept = context.length > 0 || json !== asked.json;
    return next();
  };
}

async function kept(
  exchange: ModelExchange,
  asked: Asked,
  next: Parameters<Stage>[1],
  deps: BackgroundDeps,
): ReturnType<Stage> {
  const owner = ownerOf(exchange);
  const { json, context } = await withKept(asked, owner, deps.store);
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
  sendInstead(exchange, request);
  exchange.subject.bringsKept = context.length > 0 || json !== asked.json;
  return keptReply(await next(), {
    told,
    async keep(response) {
      try {
        await keep(response, { asked, owner, id, context, input }, deps.store);
        deps.watch.kept();
        return true;
      } catch (error) {
        deps.watch.lost(error, owner.workspaceId, exchange.arrival.requestIdText);
        return false;
      }
    },
    lose(error) {
      deps.watch.lost(error, owner.workspaceId, exchange.arrival.requestIdText);
      return 'pass';
    },
  });
}

function requestOf(json: JsonObject, context: readonly JsonObject[]): JsonObject {
  const {
    background: _background,
    background_options: _options,
    ...rest
  } = withContext(json, context);
  const include = Array.isArray(json.include) ? json.include : [];
  return {
    ...rest,
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
