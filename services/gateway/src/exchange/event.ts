/**
 * A call of an MCP server or of an agent, as limits count it and records tell it:
 * what is asked of whom, known when its message is read. What the parts of a
 * call are called stands here only: its mode, its address, and whether it uses
 * anything up.
 */
export interface ServerEvent {
  readonly kind: 'mcp' | 'agent';
  /** What logs, analytics and metrics call it: `mcp:tool_call`, `agent:send_message`, … */
  readonly mode: string;
  /** `mcp://{server}/tools/{name}`. */
  readonly url: string;
  /** Who is asked; through a merged server, the member. */
  readonly server: NamedServer;
  /** Slug of the merged server that it came through. */
  readonly mergedSlug: string | undefined;
  /** As the protocol names it; never empty. */
  readonly method: string;
  /** The message's id as JSON; empty = it has none. */
  readonly rpcId: string;
  /** Of the tool, prompt or skill, of a resource its URI, as its server names it; empty = none is named. */
  readonly capability: string;
  /** The same as callers know it. */
  readonly calledAs: string;
  readonly isToolCall: boolean;
  /** Whether limits and budgets count it. */
  readonly spends: boolean;
}

export interface NamedServer {
  readonly id: string;
  readonly slug: string;
}

/** What is said of an event. */
export interface AskedEvent {
  readonly server: NamedServer;
  readonly mergedSlug?: string | undefined;
  readonly method: string;
  readonly rpcId?: string | undefined;
  readonly capability?: string | undefined;
  readonly calledAs?: string | undefined;
}

interface EventRow {
  readonly mode: string;
  /** What stands before the name in its address; absent = the method is the address. */
  readonly path?: string;
  readonly spends?: true;
}

/** Each method of MCP that is told apart; whatever else a caller sends is `mcp:other`, so that nobody makes modes. */
const mcpRows: ReadonlyMap<string, EventRow> = new Map<string, EventRow>([
  ['tools/call', { mode: 'mcp:tool_call', path: 'tools', spends: true }],
  ['resources/read', { mode: 'mcp:resource_read', path: 'resources', spends: true }],
  ['prompts/get', { mode: 'mcp:prompt_get', path: 'prompts', spends: true }],
  ['initialize', { mode: 'mcp:initialize' }],
  ['server/discover', { mode: 'mcp:discover' }],
  ['tools/list', { mode: 'mcp:tool_list' }],
  ['resources/list', { mode: 'mcp:resource_list' }],
  ['resources/templates/list', { mode: 'mcp:resource_template_list' }],
  ['prompts/list', { mode: 'mcp:prompt_list' }],
  ['completion/complete', { mode: 'mcp:completion' }],
  ['resources/subscribe', { mode: 'mcp:subscribe' }],
  ['resources/unsubscribe', { mode: 'mcp:unsubscribe' }],
  ['subscriptions/listen', { mode: 'mcp:listen' }],
  ['logging/setLevel', { mode: 'mcp:log_level' }],
  ['ping', { mode: 'mcp:ping' }],
]);

const mcpTask: EventRow = { mode: 'mcp:task' };
const mcpOther: EventRow = { mode: 'mcp:other' };

/** Methods of A2A, of both generations; HTTP+JSON is named by the method that it stands for. */
const agentRows: ReadonlyMap<string, EventRow> = new Map<string, EventRow>(
  (
    [
      [{ mode: 'agent:send_message', spends: true }, 'message/send', 'SendMessage'],
      [{ mode: 'agent:stream_message', spends: true }, 'message/stream', 'SendStreamingMessage'],
      [{ mode: 'agent:get_task' }, 'tasks/get', 'GetTask'],
      [{ mode: 'agent:list_tasks' }, 'tasks/list', 'ListTasks'],
      [{ mode: 'agent:cancel_task' }, 'tasks/cancel', 'CancelTask'],
      [{ mode: 'agent:subscribe_task' }, 'tasks/resubscribe', 'SubscribeToTask'],
      [
        { mode: 'agent:push_config' },
        ...['set', 'get', 'list', 'delete'].map((word) => `tasks/pushNotificationConfig/${word}`),
        ...['Create', 'Get', 'List', 'Delete'].map((word) => `${word}TaskPushNotificationConfig`),
        'ListTaskPushNotificationConfigs',
      ],
      [
        { mode: 'agent:get_card' },
        'agent/getAuthenticatedExtendedCard',
        'GetExtendedAgentCard',
        'agent/getCard',
      ],
    ] as const satisfies readonly (readonly [EventRow, ...string[]])[]
  ).flatMap(([row, ...methods]) => methods.map((method) => [method, row] as const)),
);

/** Agents that speak no A2A, and what A2A does not know: each is a piece of work. */
const agentOther: EventRow = { mode: 'agent:call', spends: true };

/** What an agent tells a caller's address, on its way through. No caller asks for it by a method. */
const agentCallback: EventRow = { mode: 'agent:callback' };

/** All modes that there are. */
export const eventModes: readonly string[] = [
  ...new Set(
    [...mcpRows.values(), mcpTask, mcpOther, ...agentRows.values(), agentOther, agentCallback].map(
      ({ mode }) => mode,
    ),
  ),
];

export function mcpEvent(asked: AskedEvent): ServerEvent {
  const { method } = asked;
  const row = mcpRows.get(method) ?? (method.startsWith('tasks/') ? mcpTask : mcpOther);
  return eventOf('mcp', row, asked);
}

/** @param asked of what is no A2A, the method is HTTP's with the path below the agent's: `POST /runs` */
export function agentEvent(asked: AskedEvent): ServerEvent {
  return eventOf('agent', agentRows.get(asked.method) ?? agentOther, asked);
}

/** Of an agent that calls back. */
export function agentCallbackEvent(server: NamedServer): ServerEvent {
  return eventOf('agent', agentCallback, { server, method: 'callback' });
}

function eventOf(kind: ServerEvent['kind'], row: EventRow, asked: AskedEvent): ServerEvent {
  const { server, mergedSlug, method, rpcId = '', capability = '', calledAs } = asked;
  const path =
    row.path === undefined
      ? method.split('/').map(encoded).join('/')
      : `${row.path}/${encoded(capability)}`;
  return {
    kind,
    mode: row.mode,
    url: `${kind}://${server.slug}/${path.startsWith('/') ? path.replace(/^\/+/, '') : path}`,
    server,
    mergedSlug,
    method,
    rpcId,
    capability,
    calledAs: calledAs ?? capability,
    isToolCall: row.mode === 'mcp:tool_call',
    spends: row.spends === true,
  };
}

/** Long names are cut where they are kept; this only keeps them from being long work. */
const encodedMax = 1024;

/** Names whose every character stands for itself are most: the others are written out. */
const plainName = /^[\w.-]{1,128}$/;

function encoded(text: string): string {
  return plainName.test(text) ? text : encodeURIComponent(text.slice(0, encodedMax).toWellFormed());
}
