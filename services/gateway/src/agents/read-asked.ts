import { type AgentRequest, entriesOf, isObject, readAgentRequest } from '@sluice/a2a';
import { GatewayError } from '@sluice/errors';
import { JsonError, jsonBounds, readJson } from '@sluice/json';
import { checkUpstreamUrl, type HostRules } from '@sluice/outbound';
import { principalOf } from '../exchange/principal.ts';
import { carriesBody } from '../http/body-stream.ts';
import { inTurn, largeBytes } from '../http/large-work.ts';
import { repeatedMember } from '../http/repeated-members.ts';
import type { AgentPlan } from './agent-plan.ts';
import type { AgentExchange } from './find-agent.ts';
import type { TaskNotes, TaskPlace } from './task-notes.ts';

/** A request to an agent that speaks A2A, read as far as the gateway has a say in it. */
export interface Asked extends AgentRequest {
  /** As it came; undefined = there was none. */
  readonly body: Buffer | undefined;
}

/**
 * Reads the whole request: what is not read cannot be held to the tasks of its
 * caller. Its bytes go on as they came.
 * @throws GatewayError
 */
export async function readAsked(exchange: AgentExchange): Promise<Asked> {
  const { arrival, subject } = exchange;
  const { remainder } = subject;
  if (!carriesBody(arrival.headers)) return { ...ask(exchange, undefined), body: undefined };
  const { 'content-type': type, 'content-encoding': encoding } = arrival.headers;
  const startedAt = performance.now();
  subject.isRead = true;
  const body = await arrival.readBody();
  if (body.length === 0) return { ...ask(exchange, undefined), body: undefined };
  const mayBeRead =
    (type === undefined || /^application\/(?:[\w.+-]+\+)?json\b/i.test(type)) &&
    (encoding ?? 'identity') === 'identity';
  if (!mayBeRead)
    throw new GatewayError('request.unsupported_content_type', {
      field: encoding === undefined ? 'content-type' : 'content-encoding',
      message: 'Agents are sent JSON: application/json or application/a2a+json, not compressed.',
    });
  const read = () => ({ ...ask(exchange, parsed(body, exchange)), body });
  const asked =
    body.length < largeBytes
      ? read()
      : await inTurn(exchange.bundle?.source.workspaceId ?? '', body.length, read);
  exchange.progress.readingMs = performance.now() - startedAt;
  if (asked.form === 'json-rpc') subject.rpcId = asked.id;
  subject.wantsStream = asked.kind === 'stream' || asked.kind === 'subscribe';
  if (asked.form === 'other' && remainder.replace(/\/+$/, '') === '' && arrival.method === 'POST')
    throw new GatewayError('request.invalid_field', {
      field: 'body.method',
      message: 'body.method must be a text: at this address an agent takes JSON-RPC.',
    });
  return asked;
}

function ask({ arrival, subject }: AgentExchange, body: unknown): AgentRequest {
  return readAgentRequest(arrival.method, subject.remainder, body);
}

function parsed(bytes: Buffer, { subject }: AgentExchange): unknown {
  let value: unknown;
  try {
    value = readJson(bytes, jsonBounds.request);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    // At the agent's own address there is nothing but JSON-RPC, whose errors have a place for an id.
    subject.rpcId = null;
    throw new GatewayError(faults[error.fault], {
      field: 'body',
      message: `The request body is ${error.message}.`,
      cause: error.cause,
    });
  }
  if (!isObject(value)) {
    subject.rpcId = null;
    throw new GatewayError('request.invalid_field', {
      field: 'body',
      message: 'The request body must be a JSON object; A2A has no batches.',
    });
  }
  // Of two members with one name some agents take the first: it must not be another task than was checked.
  const methods = entriesOf(value, 'method');
  const repeated = repeatedMember(bytes) ?? (methods.length > 1 ? methods[1]?.[0] : undefined);
  if (repeated !== undefined) {
    if (typeof value.method === 'string') subject.rpcId = null;
    throw new GatewayError('request.ambiguous_member', {
      field: 'body',
      message: `The request body has a member twice: ${repeated.slice(0, 80)}.`,
    });
  }
  // By their places nobody knows which of them names a task.
  if (
    methods.length > 0 &&
    entriesOf(value, 'params').some(([, params]) => Array.isArray(params))
  ) {
    subject.rpcId = null;
    throw new GatewayError('request.invalid_field', {
      field: 'body.params',
      message: 'body.params must be an object: A2A has no parameters by position.',
    });
  }
  return value;
}

const faults = {
  malformed: 'request.malformed_json',
  'too-large': 'request.too_large',
  'too-deep': 'request.too_deep',
  'too-many-values': 'request.too_many_values',
} as const;

export interface Judges {
  readonly notes: TaskNotes;
  readonly hostRules: HostRules;
}

export function placeOf({ key, subject }: AgentExchange): TaskPlace {
  return {
    organisationId: key?.source.organisationId ?? '',
    serverId: subject.server?.source.id ?? '',
  };
}

/** Whether what is asked may be. @throws GatewayError */
export async function judgeAsked(
  exchange: AgentExchange,
  asked: AgentRequest,
  plan: AgentPlan,
  { notes, hostRules }: Judges,
): Promise<void> {
  judgeCallbacks(asked, plan, hostRules);
  const { key } = exchange;
  if (key === undefined) throw new Error('requests are judged once they are authenticated');
  const place = placeOf(exchange);
  const principal = principalOf(key);
  for (const id of asked.taskIds) {
    const whose = notes.whose(place, 'task', id, principal);
    if ((whose instanceof Promise ? await whose : whose) !== 'own') throw notFound(asked);
  }
  // Callers may make up the name of a conversation.
  for (const id of asked.contextIds) {
    const whose = notes.whose(place, 'context', id, principal);
    if ((whose instanceof Promise ? await whose : whose) === 'others') throw notFound(asked);
  }
}

/** As an agent says that there is none: in JSON-RPC with 200. */
function notFound({ form }: AgentRequest): GatewayError {
  return new GatewayError('agent.task_not_found', form === 'json-rpc' ? { status: 200 } : {});
}

function judgeCallbacks(
  { callbacks }: AgentRequest,
  { pushes }: AgentPlan,
  rules: HostRules,
): void {
  if (callbacks.length === 0) return;
  if (pushes === undefined) throw new GatewayError('agent.push_not_supported');
  for (const { url: callback } of callbacks) {
    const field = 'body.pushNotificationConfig.url';
    if (typeof callback !== 'string')
      throw new GatewayError('request.invalid_field', {
        field,
        message: `${field} must be a text.`,
      });
    checkUpstreamUrl(callback, rules, field, 'caller');
  }
}

/** For the card itself, by its well-known address. */
export const cardRequest: Asked = {
  form: 'card',
  id: undefined,
  method: 'agent/getCard',
  kind: 'card',
  version: undefined,
  taskIds: new Set(),
  contextIds: new Set(),
  callbacks: [],
  body: undefined,
};

/** What it answers must not pass unread. */
export function mustBeRead(asked: Asked | undefined): boolean {
  return asked?.kind === 'card' || asked?.kind === 'list';
}
