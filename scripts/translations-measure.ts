/**
 * What translations cost by themselves, in one process without a gateway: CPU time
 * of a request, an answer and a stream of 100 events, the best of five rounds.
 * `npm run translations:measure`, and `-- 20000` for other numbers of each.
 */
import type { Endpoint } from '@sluice/contracts';
import {
  type CallContext,
  findProvider,
  findTranslation,
  type JsonObject,
} from '@sluice/providers';

const rounds = Number(process.argv[2] ?? 5000);
const turns = 10;
const schema = {
  type: 'object',
  properties: { path: { type: 'string', description: 'Where it is' }, lines: { type: 'number' } },
  required: ['path'],
};
const description = 'Does one thing, and says what came of it. '.repeat(4);
const toolNames = Array.from({ length: 10 }, (_, index) => `tool_${index}`);
const system = 'You know the weather, and say so briefly. '.repeat(25);
const question = 'How is it there today? '.repeat(10);
const found = 'Cold and bright, with some wind from the north. '.repeat(10);
const answer = 'It is cold. '.repeat(15);
const call = '{"path":"places/north/oslo","lines":3}';

/** A conversation with an agent, some 16 kB of it, in the words of each format. */
function conversation(model: string, of: (turn: string) => object[]): object[] {
  return Array.from({ length: turns }, (_, index) => of(`${model.slice(0, 3)}_${index}`)).flat();
}

const chat = {
  model: 'claude-opus-4-5',
  max_tokens: 1000,
  tools: toolNames.map((name) => ({
    type: 'function',
    function: { name, description, parameters: schema },
  })),
  messages: [
    { role: 'system', content: system },
    ...conversation('chat', (id) => [
      { role: 'user', content: question },
      {
        role: 'assistant',
        content: 'I look.',
        tool_calls: [{ id, type: 'function', function: { name: 'tool_0', arguments: call } }],
      },
      { role: 'tool', tool_call_id: id, content: found },
      { role: 'assistant', content: answer },
    ]),
    { role: 'user', content: question },
  ],
};

const messages = {
  model: 'gpt-4.1',
  max_tokens: 1000,
  system,
  tools: toolNames.map((name) => ({ name, description, input_schema: schema })),
  messages: [
    ...conversation('messages', (id) => [
      { role: 'user', content: question },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'I look.' },
          { type: 'tool_use', id, name: 'tool_0', input: JSON.parse(call) },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: found }] },
      { role: 'assistant', content: answer },
    ]),
    { role: 'user', content: question },
  ],
};

const responses = {
  model: 'claude-opus-4-5',
  instructions: system,
  tools: toolNames.map((name) => ({ type: 'function', name, description, parameters: schema })),
  input: [
    ...conversation('responses', (id) => [
      { role: 'user', content: [{ type: 'input_text', text: question }] },
      { type: 'function_call', call_id: id, name: 'tool_0', arguments: call },
      { type: 'function_call_output', call_id: id, output: found },
      { role: 'assistant', content: [{ type: 'output_text', text: answer, annotations: [] }] },
    ]),
    { role: 'user', content: question },
  ],
};

const event = (name: string | undefined, data: object | string): Buffer => {
  const line = typeof data === 'string' ? data : JSON.stringify(data);
  return Buffer.from(`${name === undefined ? '' : `event: ${name}\n`}data: ${line}\n\n`);
};
const words = Array.from({ length: 100 }, (_, index) => `word ${index} `);

const ofAnthropic = {
  reply: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-opus-4-5',
    content: [
      { type: 'text', text: answer.repeat(5) },
      { type: 'tool_use', id: 'toolu_1', name: 'tool_0', input: JSON.parse(call) },
    ],
    stop_reason: 'tool_use',
    usage: { input_tokens: 4000, output_tokens: 100 },
  },
  stream: [
    event('message_start', {
      type: 'message_start',
      message: { id: 'msg_1', role: 'assistant', model: 'claude', content: [], usage: {} },
    }),
    event('content_block_start', {
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'text', text: '' },
    }),
    ...words.map((text) =>
      event('content_block_delta', {
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'text_delta', text },
      }),
    ),
    event('content_block_stop', { type: 'content_block_stop', index: 0 }),
    event('message_delta', {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn' },
      usage: { output_tokens: 100 },
    }),
    event('message_stop', { type: 'message_stop' }),
  ],
};

const chunk = (delta: object, finish_reason: string | null = null) =>
  event(undefined, {
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model: 'gpt-4.1-2025-04-14',
    choices: [{ index: 0, delta, logprobs: null, finish_reason }],
    usage: null,
  });
const ofOpenAi = {
  reply: {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'gpt-4.1-2025-04-14',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: answer.repeat(5),
          tool_calls: [
            { id: 'call_1', type: 'function', function: { name: 'tool_0', arguments: call } },
          ],
        },
        finish_reason: 'tool_calls',
      },
    ],
    usage: { prompt_tokens: 4000, completion_tokens: 100, total_tokens: 4100 },
  },
  stream: [
    chunk({ role: 'assistant', content: '' }),
    ...words.map((content) => chunk({ content })),
    chunk({}, 'stop'),
    event(undefined, '[DONE]'),
  ],
};

const pairs: readonly [string, Endpoint, string, object, typeof ofAnthropic | typeof ofOpenAi][] = [
  ['chat → anthropic', 'chatComplete', 'anthropic', chat, ofAnthropic],
  ['messages → openai', 'messages', 'openai', messages, ofOpenAi],
  ['responses → anthropic', 'createModelResponse', 'anthropic', responses, ofAnthropic],
];

/** µs of CPU time. */
function cost(work: () => void): string {
  for (let count = 0; count < rounds / 4; count++) work();
  const rests = Array.from({ length: 5 }, () => {
    const before = process.cpuUsage();
    for (let count = 0; count < rounds / 5; count++) work();
    const { user, system: kernel } = process.cpuUsage(before);
    return (user + kernel) / (rounds / 5);
  });
  return Math.min(...rests)
    .toFixed(1)
    .padStart(8);
}

console.log('µs of CPU            request   answer   stream');
for (const [name, endpoint, at, asked, told] of pairs) {
  const provider = findProvider(at);
  if (provider === undefined) throw new Error(`${at} is not in the catalogue`);
  const request = asked as JsonObject;
  const context: CallContext = {
    provider,
    strictOpenAiCompliance: true,
    nowMs: 1_763_000_000_000,
    model: String(request.model),
    stream: false,
    setting: () => undefined,
    request,
  };
  const translation = findTranslation(provider, endpoint, context);
  const reply = Buffer.from(JSON.stringify(told.reply));
  const costs = [
    cost(() => translation.encode(request, context)),
    cost(() => translation.decode(reply, context, { status: 200, headers: {} })),
    cost(() => {
      const reader = translation.openStream(context, request);
      for (const piece of told.stream) reader.push(piece);
      reader.end();
    }),
  ];
  console.log(`${name.padEnd(21)}${costs.join(' ')}`);
}
