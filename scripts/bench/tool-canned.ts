/**
 * What the bench's MCP clients and A2A clients ask, and what its server and
 * agent answer: a call of about a kilobyte each way, a stream of 20 events, a
 * list of 500 tools, and an agent's message with a stream of 100.
 */
const sentence = 'The quick brown fox jumps over the lazy dog while the gateway counts. ';
const rpc = (method: string, params: object): string =>
  JSON.stringify({ jsonrpc: '2.0', id: 17, method, params });
const answer = (result: object): string => JSON.stringify({ jsonrpc: '2.0', id: 17, result });

/** A tool of this name answers with events, one each turn of the event loop. */
export const streamingTool = 'tool_1';
/** The same, one event a second. */
export const slowTool = 'tool_2';

const callOf = (name: string) =>
  rpc('tools/call', {
    name,
    arguments: { query: sentence.repeat(8), limit: 10, filters: { lang: 'en', since: 2024 } },
    _meta: { progressToken: 3 },
  });
export const toolCallRequest = callOf('tool_0');
export const toolStreamRequest = callOf(streamingTool);
export const toolSlowRequest = callOf(slowTool);
/** 2 kB of text, for what looks at it. */
export const toolTextRequest = rpc('tools/call', {
  name: 'tool_0',
  arguments: { query: sentence.repeat(29) },
});
export const toolListRequest = rpc('tools/list', {});
export const initializeRequest = rpc('initialize', {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'bench', version: '1' },
});

const called = answer({
  content: [{ type: 'text', text: sentence.repeat(12) }],
  structuredContent: { hits: 3, title: 'Tuesday', score: 0.75 },
});
const event = (data: string) => Buffer.from(`event: message\ndata: ${data}\n\n`);
const progress = (at: number) =>
  JSON.stringify({
    jsonrpc: '2.0',
    method: 'notifications/progress',
    params: { progressToken: 3, progress: at, total: 20, message: sentence },
  });

export const toolStreamEvents: readonly Buffer[] = [
  ...Array.from({ length: 19 }, (_, at) => event(progress(at + 1))),
  event(called),
];

export const listedTools = 500;
const tool = (at: number) => ({
  name: `tool_${at}`,
  title: `Tool ${at}`,
  description: `Looks for records of kind ${at}. ${sentence}`,
  inputSchema: {
    type: 'object',
    properties: {
      query: { type: 'string', description: 'What is looked for' },
      limit: { type: 'integer', minimum: 1, maximum: 100 },
      filters: { type: 'object', additionalProperties: true },
    },
    required: ['query'],
  },
  annotations: { readOnlyHint: true },
});

const listed = answer({ tools: Array.from({ length: listedTools }, (_, at) => tool(at)) });
const initialized = answer({
  protocolVersion: '2025-11-25',
  capabilities: { tools: { listChanged: true } },
  serverInfo: { name: 'bench', version: '1' },
});

/** By method; notifications are told from these by having none. */
export const toolReplies: Readonly<Record<string, string>> = {
  initialize: initialized,
  'tools/list': listed,
  'tools/call': called,
};
export const toolReplyBytes = {
  initialize: initialized.length,
  call: called.length,
  list: listed.length,
  stream: toolStreamEvents.reduce((sum, { length }) => sum + length, 0),
};

const message = {
  kind: 'message',
  messageId: 'b6dbd13d-2ab8-4dbb-8a2f-3ac9e4b1c6b1',
  role: 'user',
  parts: [{ kind: 'text', text: sentence.repeat(8) }],
};
export const agentRequest = rpc('message/send', { message });
export const agentStreamRequest = rpc('message/stream', { message });

const taskId = '0f3c9a4e-94b1-4f0e-a6a4-1e8f3d1f9c01';
const contextId = '6a3c9a4e-94b1-4f0e-a6a4-1e8f3d1f9c02';
export const agentReply = answer({
  kind: 'task',
  id: taskId,
  contextId,
  status: { state: 'completed' },
  artifacts: [{ artifactId: 'a', parts: [{ kind: 'text', text: sentence.repeat(10) }] }],
  metadata: { usage: { prompt_tokens: 312, completion_tokens: 148, total_tokens: 460 } },
});
const update = (at: number) =>
  answer({
    kind: 'artifact-update',
    taskId,
    contextId,
    append: at > 0,
    artifact: { artifactId: 'a', parts: [{ kind: 'text', text: sentence }] },
  });
export const agentEvents: readonly Buffer[] = [
  ...Array.from({ length: 99 }, (_, at) => Buffer.from(`data: ${update(at)}\n\n`)),
  Buffer.from(
    `data: ${answer({ kind: 'status-update', taskId, contextId, status: { state: 'completed' }, final: true })}\n\n`,
  ),
];
export const agentStreamBytes = agentEvents.reduce((sum, { length }) => sum + length, 0);
