import { segmentsOf } from './agent-path.ts';
import { entriesOf, folded, isObject, type JsonObject, membersOf } from './fold.ts';
import { agentMethodOf, type MethodKind } from './methods.ts';

/** What a request to an agent names, as far as the gateway has a say in it. */
export interface AgentRequest {
  /** `card` = the document itself is asked for. */
  readonly form: 'json-rpc' | 'rest' | 'card' | 'other';
  /** Of JSON-RPC; undefined = there is none, null as it was sent. */
  readonly id: string | number | null | undefined;
  /** As JSON-RPC names it; of REST the method that it stands for; empty = neither. */
  readonly method: string;
  readonly kind: MethodKind | undefined;
  /** By its method; undefined = it does not say. */
  readonly version: '0.3' | '1.0' | undefined;
  readonly taskIds: ReadonlySet<string>;
  readonly contextIds: ReadonlySet<string>;
  /** Where the agent is asked to call back. */
  readonly callbacks: readonly Callback[];
}

/** An address that a request gives, whatever it is, and where it stands in the body. */
export interface Callback {
  readonly path: readonly string[];
  readonly url: unknown;
}

/**
 * Reads what a request says: generous, since each of the servers behind may
 * understand more than one spelling, and what is overlooked here is not checked.
 * @param remainder the path below the agent, without query
 * @param body the body as JSON; undefined = there is none, or it is none
 */
export function readAgentRequest(
  httpMethod: string,
  remainder: string,
  body: unknown,
): AgentRequest {
  const found = new Found();
  const rest = readRestPath(httpMethod, remainder, found);
  const [rpcMethod] = membersOf(body, 'method');
  const isRpc = typeof rpcMethod === 'string' || membersOf(body, 'jsonrpc').length > 0;
  if (isRpc && isObject(body)) {
    const method = typeof rpcMethod === 'string' ? rpcMethod : '';
    const known = agentMethodOf(method);
    for (const [name, params] of entriesOf(body, 'params'))
      readParams(params, [name], found, known?.kind, true);
    // What stands beside it is what a server of REST reads.
    readParams(body, [], found, rest?.kind, false);
    const isPost = httpMethod !== 'GET' && httpMethod !== 'HEAD';
    return {
      form: 'json-rpc',
      id: rpcId(body),
      method,
      kind: isPost ? known?.kind : (rest?.kind ?? known?.kind),
      version: known?.version,
      ...found,
    };
  }
  if (isObject(body)) readParams(body, [], found, rest?.kind, false);
  return {
    form: rest?.kind === 'card' ? 'card' : rest === undefined ? 'other' : 'rest',
    id: undefined,
    method: rest?.method ?? '',
    kind: rest?.kind,
    version: rest?.version,
    ...found,
  };
}

/** What is collected; as sets, since a name may be read in several ways. */
class Found {
  readonly taskIds = new Set<string>();
  readonly contextIds = new Set<string>();
  readonly callbacks: Callback[] = [];
}

/** Null also stands for an id that is none: an answer has to carry some. */
function rpcId(body: JsonObject): string | number | null {
  const { id } = body;
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}

/** Where a task stands in the text of a resource name, as drafts of 1.0 have it: `tasks/{id}/…`. */
const resourceName = /(?:^|\/)tasks\/([^/]+)/;

function readParams(
  params: unknown,
  at: readonly string[],
  found: Found,
  kind: MethodKind | undefined,
  isRpc: boolean,
): void {
  if (!isObject(params)) return;
  addIds(params, found);
  const ownIds = membersOf(params, 'taskid').filter((id) => typeof id === 'string');
  // Beside a task's id, `id` is the push config's. REST has the task in its path.
  if (isRpc && kind !== 'list' && !(kind === 'push' && ownIds.length > 0))
    addTexts(membersOf(params, 'id'), found.taskIds);
  for (const name of membersOf(params, 'name', 'parent')) {
    const [, id] = typeof name === 'string' ? (resourceName.exec(name) ?? []) : [];
    if (id !== undefined) found.taskIds.add(id);
  }
  // A list may be of one context.
  for (const message of membersOf(params, 'message', 'request')) addIds(message, found);
  addCallbacks(params, at, found, kind === 'push');
  for (const [name, configuration] of entriesOf(params, 'configuration'))
    addCallbacks(configuration, [...at, name], found, false);
}

function addIds(from: unknown, found: Found): void {
  addTexts(membersOf(from, 'taskid'), found.taskIds);
  addTexts(membersOf(from, 'contextid', 'sessionid'), found.contextIds);
  for (const ids of membersOf(from, 'referencetaskids'))
    if (Array.isArray(ids)) addTexts(ids, found.taskIds);
}

function addTexts(values: readonly unknown[], into: Set<string>): void {
  for (const value of values)
    if (typeof value === 'string' && value !== '') into.add(value);
    // Some servers read a number as its text.
    else if (typeof value === 'number') into.add(String(value));
}

function addCallbacks(from: unknown, at: readonly string[], found: Found, isConfig: boolean): void {
  const add = (config: unknown, path: readonly string[]) => {
    for (const [name, url] of entriesOf(config, 'url'))
      found.callbacks.push({ path: [...path, name], url });
  };
  if (isConfig) add(from, at);
  const configs = entriesOf(from, 'pushnotificationconfig', 'taskpushnotificationconfig', 'config');
  for (const [name, config] of configs) {
    add(config, [...at, name]);
    for (const [inner, one] of entriesOf(config, 'pushnotificationconfig'))
      add(one, [...at, name, inner]);
  }
  for (const [name, one] of entriesOf(from, 'pushnotification')) add(one, [...at, name]);
}

interface RestCall {
  readonly method: string;
  readonly kind: MethodKind;
  readonly version: '0.3' | '1.0' | undefined;
}

const cardNames = new Set(['agent-card.json', 'agent.json']);
const actions: ReadonlyMap<string, MethodKind> = new Map([
  ['cancel', 'cancel'],
  ['subscribe', 'subscribe'],
]);

/** What a call of REST stands for, in the words of 0.3 and of 1.0. */
const names = {
  send: ['message/send', 'SendMessage'],
  stream: ['message/stream', 'SendStreamingMessage'],
  get: ['tasks/get', 'GetTask'],
  list: ['tasks/list', 'ListTasks'],
  cancel: ['tasks/cancel', 'CancelTask'],
  subscribe: ['tasks/resubscribe', 'SubscribeToTask'],
  card: ['agent/getAuthenticatedExtendedCard', 'GetExtendedAgentCard'],
} as const satisfies Partial<Record<MethodKind, readonly [string, string]>>;

/** Whatever the path may mean at a server: the binding may be mounted anywhere, and servers may ignore case. */
function readRestPath(httpMethod: string, remainder: string, found: Found): RestCall | undefined {
  const segments = segmentsOf(remainder);
  // Some servers cut off what follows a semicolon. Of ids it is not cut off: with it they are nobody's.
  const lower = segments.map((segment) => (segment.split(';', 1)[0] ?? '').toLowerCase());
  const version = lower.includes('v1') ? '0.3' : undefined;
  let call: RestCall | undefined;
  const is = (kind: keyof typeof names) => {
    call ??= { method: names[kind][version === undefined ? 1 : 0], kind, version };
  };
  for (const [at, name] of lower.entries()) {
    if (name === '.well-known' && cardNames.has(lower[at + 1] ?? ''))
      call ??= { method: 'agent/getCard', kind: 'card', version: undefined };
    else if (name === 'extendedagentcard' || name === 'authenticatedextendedcard') is('card');
    else if (name === 'card' && lower[at - 1] === 'v1') is('card');
    else if (name === 'message:send') is('send');
    else if (name === 'message:stream') is('stream');
    else if (name === 'tasks') {
      const { id, action } = taskIn(segments[at + 1] ?? '');
      if (id === '') is('list');
      else {
        found.taskIds.add(id);
        if (action === 'cancel' || action === 'subscribe') is(action);
        else if (lower[at + 2] === undefined) is('get');
        else
          call ??= {
            method: pushMethod(httpMethod, lower[at + 3] !== undefined, version),
            kind: 'push',
            version,
          };
      }
    }
  }
  return call;
}

/** @param isOne a config is named */
function pushMethod(httpMethod: string, isOne: boolean, version: string | undefined): string {
  const word =
    httpMethod === 'DELETE' ? 'Delete' : httpMethod === 'POST' ? 'Create' : isOne ? 'Get' : 'List';
  if (version === undefined)
    return `${word}TaskPushNotificationConfig${word === 'List' ? 's' : ''}`;
  return `tasks/pushNotificationConfig/${word === 'Create' ? 'set' : word.toLowerCase()}`;
}

/** `{id}` or `{id}:{action}`; an action that nobody knows is part of the id. */
function taskIn(segment: string): { id: string; action: string } {
  const colon = segment.lastIndexOf(':');
  const action = colon < 0 ? '' : folded(segment.slice(colon + 1));
  return actions.has(action)
    ? { id: segment.slice(0, colon), action }
    : { id: segment, action: '' };
}
