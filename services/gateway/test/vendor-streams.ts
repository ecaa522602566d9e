import {
  type RecordedRequest,
  type Refusal,
  refuseChat,
  refuseConverse,
  refuseGemini,
  refuseMessages,
  refuseResponses,
  type SseOptions,
  sse,
  type UpstreamReply,
} from '@sluice/testkit';
import { awsEvent, awsFrame, awsStreamHeaders } from './aws-frame.ts';

/** How the vendor at one path streams a text, what it refuses, and how requests show it an answer. */
interface VendorStream {
  /** Of paths that are its. */
  path: RegExp;
  headers?: SseOptions['headers'];
  events(texts: readonly string[]): unknown[];
  /** Its own word, within a stream, for a load that it cannot take. */
  overloaded: unknown;
  refuse(body: unknown): Refusal | undefined;
  turns(body: Body): Turn[];
}

interface Body {
  messages?: Turn[];
  input?: Turn[];
  contents?: { role: string; parts: { text: string }[] }[];
}

export interface Turn {
  role: string;
  content: string | { text: string }[];
}

const vendors: readonly VendorStream[] = [
  {
    path: /\/messages/,
    events: messageEvents,
    overloaded:
      'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n',
    refuse: refuseMessages,
    turns: ({ messages = [] }) => messages,
  },
  {
    path: /\/responses/,
    events: responseEvents,
    overloaded: { type: 'error', code: 'server_error', message: 'Overloaded', param: null },
    refuse: refuseResponses,
    turns: ({ input = [] }) => input,
  },
  {
    path: /streamGenerateContent/,
    events: geminiEvents,
    overloaded: { error: { code: 503, status: 'UNAVAILABLE', message: 'Overloaded' } },
    refuse: (body) => refuseGemini('gemini-2.5-flash', body),
    turns: ({ contents = [] }) =>
      contents.map(({ role, parts }) => ({
        role: role === 'model' ? 'assistant' : role,
        content: parts,
      })),
  },
  {
    path: /converse-stream/,
    headers: awsStreamHeaders,
    events: converseFrames,
    overloaded: awsFrame(
      { ':message-type': 'exception', ':exception-type': 'throttlingException' },
      { message: 'Overloaded' },
    ),
    refuse: (body) => refuseConverse('amazon.nova-lite-v1:0', body),
    turns: ({ messages = [] }) => messages,
  },
  {
    path: /\/chat\/completions/,
    events: chatEvents,
    overloaded: { error: { message: 'Overloaded', type: 'server_error', code: null } },
    refuse: refuseChat,
    turns: ({ messages = [] }) => messages,
  },
];

function vendorOf({ path }: RecordedRequest): VendorStream {
  const vendor = vendors.find((entry) => entry.path.test(path));
  if (vendor === undefined) throw new Error(`no vendor streams at ${path}`);
  return vendor;
}

/** What the vendor at this path would stream. */
export function streamOf(
  request: RecordedRequest,
  texts: readonly string[],
  { failAfter, ...options }: SseOptions & { failAfter?: number } = {},
): UpstreamReply {
  const { events, headers, overloaded } = vendorOf(request);
  const all = events(texts);
  const told = failAfter === undefined ? all : [...all.slice(0, failAfter), overloaded];
  return sse(told, { ...options, headers });
}

/** What the vendor at this path would refuse of this request. */
export function refusalOf(request: RecordedRequest): Refusal | undefined {
  return vendorOf(request).refuse(request.json());
}

/** The conversation that a request shows. */
export function turnsOf(request: RecordedRequest): Turn[] {
  return vendorOf(request).turns(request.json() as Body);
}

export function textIn(turn: Turn | undefined): string {
  const content = turn?.content ?? '';
  return typeof content === 'string' ? content : content.map(({ text }) => text).join('');
}

function chatEvents(texts: readonly string[]): unknown[] {
  const chunk = (delta: object, finish_reason: string | null = null) => ({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'gpt-4o-mini',
    choices: [{ index: 0, delta, finish_reason }],
  });
  const usage = { prompt_tokens: 10, completion_tokens: 20, total_tokens: 30 };
  return [
    chunk({ role: 'assistant', content: '' }),
    ...texts.map((content) => chunk({ content })),
    { ...chunk({}, 'stop'), usage },
    '[DONE]',
  ];
}

function messageEvents(texts: readonly string[]): unknown[] {
  const event = (type: string, fields: object) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude',
    content: [],
    usage: { input_tokens: 10, output_tokens: 1 },
  };
  return [
    event('message_start', { message }),
    event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    ...texts.map((text) =>
      event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } }),
    ),
    event('content_block_stop', { index: 0 }),
    event('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 20 } }),
    event('message_stop', {}),
  ];
}

function responseEvents(texts: readonly string[]): unknown[] {
  let sequence_number = 0;
  const event = (type: string, fields: object) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence_number++, ...fields })}\n\n`;
  const response = { id: 'resp_1', object: 'response', created_at: 1, model: 'gpt', output: [] };
  const text = texts.join('');
  const at = { item_id: 'msg_a', output_index: 0, content_index: 0 };
  const part = { type: 'output_text', text, annotations: [] };
  const item = { id: 'msg_a', type: 'message', role: 'assistant', content: [part] };
  return [
    event('response.created', { response: { ...response, status: 'in_progress' } }),
    event('response.output_item.added', { output_index: 0, item: { ...item, content: [] } }),
    event('response.content_part.added', { ...at, part: { ...part, text: '' } }),
    ...texts.map((delta) => event('response.output_text.delta', { ...at, delta })),
    event('response.output_text.done', { ...at, text }),
    event('response.content_part.done', { ...at, part }),
    event('response.output_item.done', { output_index: 0, item }),
    event('response.completed', {
      response: {
        ...response,
        status: 'completed',
        output: [item],
        usage: { input_tokens: 10, output_tokens: 20, total_tokens: 30 },
      },
    }),
  ];
}

function geminiEvents(texts: readonly string[]): unknown[] {
  const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 20, totalTokenCount: 30 };
  return texts.map((text, at) => ({
    responseId: 'g1',
    modelVersion: 'gemini',
    candidates: [
      {
        index: 0,
        content: { role: 'model', parts: [{ text }] },
        ...(at === texts.length - 1 && { finishReason: 'STOP' }),
      },
    ],
    usageMetadata,
  }));
}

function converseFrames(texts: readonly string[]): Buffer[] {
  return [
    awsEvent('messageStart', { role: 'assistant' }),
    ...texts.map((text) =>
      awsEvent('contentBlockDelta', { contentBlockIndex: 0, delta: { text } }),
    ),
    awsEvent('contentBlockStop', { contentBlockIndex: 0 }),
    awsEvent('messageStop', { stopReason: 'end_turn' }),
    awsEvent('metadata', { usage: { inputTokens: 10, outputTokens: 20, totalTokens: 30 } }),
  ];
}
