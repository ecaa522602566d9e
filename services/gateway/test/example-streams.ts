/** For tests: streams of every format that say given pieces, and what of them a reader hears. */
import type { Endpoint } from '@sluice/contracts';
import type { WireFormat } from '@sluice/providers';

export interface ExampleStream {
  readonly format: WireFormat;
  readonly endpoint: Endpoint;
  /** Its events, when the answer is told in these pieces. */
  tell(pieces: readonly string[]): string[];
  /** Its events, when a tool is called with these pieces of JSON. */
  call?(pieces: readonly string[]): string[];
  /** What is said in a stream, and what the tool is called with. */
  read(stream: string): { said: string; called: string };
}

const data = (value: object, name = '') =>
  `${name === '' ? '' : `event: ${name}\n`}data: ${JSON.stringify(value)}\n\n`;

// biome-ignore lint/suspicious/noExplicitAny: events of five vendors, read by tests alone.
type Event = any;

export function eventsOf(stream: string): Event[] {
  return [...stream.matchAll(/^data: (\{.*\})$/gm)].map(([, json]) => JSON.parse(json ?? ''));
}

function joined(stream: string, of: (event: Event) => unknown): string {
  return eventsOf(stream)
    .map(of)
    .filter((text) => typeof text === 'string')
    .join('');
}

const chat = (delta: object, finish: string | null = null) =>
  data({ model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] });

const openAiChat: ExampleStream = {
  format: 'openai-chat',
  endpoint: 'chatComplete',
  tell: (pieces) => [
    chat({ role: 'assistant', content: '' }),
    ...pieces.map((content) => chat({ content })),
    chat({}, 'stop'),
    'data: [DONE]\n\n',
  ],
  call: (pieces) => [
    chat({ tool_calls: [{ index: 0, id: 'c', function: { name: 'send', arguments: '' } }] }),
    ...pieces.map((text) => chat({ tool_calls: [{ index: 0, function: { arguments: text } }] })),
    chat({}, 'tool_calls'),
    'data: [DONE]\n\n',
  ],
  read: (stream) => ({
    said: joined(stream, (event) => event.choices?.[0]?.delta.content),
    called: joined(stream, (event) => event.choices?.[0]?.delta.tool_calls?.[0].function.arguments),
  }),
};

const openAiCompletions: ExampleStream = {
  format: 'openai-completions',
  endpoint: 'complete',
  tell: (pieces) => [
    ...pieces.map((text) => data({ choices: [{ index: 0, text, finish_reason: null }] })),
    data({ choices: [{ index: 0, text: '', finish_reason: 'stop' }] }),
    'data: [DONE]\n\n',
  ],
  read: (stream) => ({
    said: joined(stream, (event) => event.choices?.[0]?.text),
    called: '',
  }),
};

const message = (type: string, more: object) => data({ type, ...more }, type);

const anthropicMessages: ExampleStream = {
  format: 'anthropic-messages',
  endpoint: 'messages',
  tell: (pieces) =>
    told(
      { type: 'text', text: '' },
      pieces.map((text) => ({ type: 'text_delta', text })),
    ),
  call: (pieces) =>
    told(
      { type: 'tool_use', id: 't', name: 'send', input: {} },
      pieces.map((text) => ({ type: 'input_json_delta', partial_json: text })),
    ),
  read: (stream) => ({
    said: joined(stream, (event) => event.delta?.text),
    called: joined(stream, (event) => event.delta?.partial_json),
  }),
};

function told(block: object, deltas: readonly object[]): string[] {
  return [
    message('message_start', {
      message: { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [], usage: {} },
    }),
    message('content_block_start', { index: 0, content_block: block }),
    message('ping', {}),
    ...deltas.map((delta) => message('content_block_delta', { index: 0, delta })),
    message('content_block_stop', { index: 0 }),
    message('message_delta', { delta: { stop_reason: 'end_turn' }, usage: {} }),
    message('message_stop', {}),
  ];
}

const openAiResponses: ExampleStream = {
  format: 'openai-responses',
  endpoint: 'createModelResponse',
  tell(pieces) {
    const text = pieces.join('');
    const part = { type: 'output_text', text, annotations: [] };
    const item = { type: 'message', id: 'i', role: 'assistant', content: [part] };
    const at = { item_id: 'i', output_index: 0, content_index: 0 };
    return numbered([
      ['response.created', { response: { id: 'r', model: 'm', output: [] } }],
      ['response.output_item.added', { output_index: 0, item: { ...item, content: [] } }],
      ['response.content_part.added', { ...at, part: { ...part, text: '' } }],
      ...pieces.map((delta) => ['response.output_text.delta', { ...at, delta }] as const),
      ['response.output_text.done', { ...at, text }],
      ['response.content_part.done', { ...at, part }],
      ['response.output_item.done', { output_index: 0, item }],
      ['response.completed', { response: { id: 'r', model: 'm', output: [item] } }],
    ]);
  },
  call(pieces) {
    const passed = pieces.join('');
    const at = { item_id: 'i', output_index: 0 };
    const item = { type: 'function_call', id: 'i', call_id: 'c', name: 'send', arguments: passed };
    return numbered([
      ['response.created', { response: { id: 'r', model: 'm', output: [] } }],
      ['response.output_item.added', { output_index: 0, item: { ...item, arguments: '' } }],
      ...pieces.map(
        (delta) => ['response.function_call_arguments.delta', { ...at, delta }] as const,
      ),
      ['response.function_call_arguments.done', { ...at, arguments: passed }],
      ['response.output_item.done', { output_index: 0, item }],
      ['response.completed', { response: { id: 'r', model: 'm', output: [item] } }],
    ]);
  },
  read: (stream) => ({
    said: joined(stream, ({ type, delta }) =>
      type === 'response.output_text.delta' ? delta : undefined,
    ),
    called: joined(stream, ({ type, delta }) =>
      type === 'response.function_call_arguments.delta' ? delta : undefined,
    ),
  }),
};

function numbered(events: readonly (readonly [string, object])[]): string[] {
  return events.map(([type, more], at) => message(type, { sequence_number: at, ...more }));
}

const gemini: ExampleStream = {
  format: 'gemini',
  endpoint: 'proxy',
  tell: (pieces) =>
    pieces.map((text, at) => {
      const isLast = at === pieces.length - 1;
      const content = { role: 'model', parts: [{ text }] };
      return data({
        candidates: [{ index: 0, content, ...(isLast ? { finishReason: 'STOP' } : {}) }],
      });
    }),
  read: (stream) => ({
    said: joined(stream, (event) => event.candidates?.[0]?.content?.parts?.[0]?.text),
    called: '',
  }),
};

export const exampleStreams: readonly ExampleStream[] = [
  openAiChat,
  openAiCompletions,
  anthropicMessages,
  openAiResponses,
  gemini,
];
