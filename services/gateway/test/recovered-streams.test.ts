import { json, type RecordedRequest, sse, type UpstreamReply } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Lab, type NamedUpstream, startLab, type Trial } from './lab.ts';

/** Streams of 60 events that are cut or stall, and what callers get of them. */
let lab: Lab;
let trial: Trial;
let one: NamedUpstream;
let two: NamedUpstream;
let broken: { cutAfter?: number; stallAfter?: number } = {};
beforeAll(async () => {
  lab = await startLab();
  trial = lab.trial();
  one = await trial.upstreamThat('one', (request) => streamOf(request, words, broken));
  two = await trial.upstreamThat('two', continued);
});
afterAll(async () => {
  await trial.close();
  await lab.stop();
});

const words = Array.from({ length: 56 }, (_, at) => `${at === 0 ? '' : ' '}word${at * 7}`);
const whole = words.join('');

/** What the vendor at this path would stream. */
function streamOf(
  { path }: RecordedRequest,
  texts: readonly string[],
  options: object = {},
): UpstreamReply {
  if (path.includes('/messages')) return sse(messageEvents(texts), options);
  if (path.includes('/responses')) return sse(responseEvents(texts), options);
  if (path.includes('streamGenerateContent')) return sse(geminiEvents(texts), options);
  return sse(chatEvents(texts), options);
}

/** Goes on from what it is shown, and refuses a begun answer where it is told to. */
function continued(request: RecordedRequest): UpstreamReply {
  const body = request.json() as { messages?: Turn[]; input?: Turn[] };
  const turns = body.messages ?? body.input ?? [];
  const last = turns.at(-1);
  if (last?.role === 'assistant' && refusesPrefill)
    return json(400, { error: { message: 'This model does not support prefill.' } });
  const told = textIn(turns.findLast(({ role }) => role === 'assistant'));
  expect(whole.startsWith(told)).toBe(true);
  const rest = whole.slice(told.length);
  if (last?.role === 'assistant') return streamOf(request, rest.match(/.{1,7}/g) ?? []);
  const asked = textIn(last);
  const repeated: string = JSON.parse(asked.slice(asked.lastIndexOf(': "') + 2));
  return streamOf(request, (repeated + rest).match(/.{1,7}/g) ?? []);
}
let refusesPrefill = false;

interface Turn {
  role: string;
  content: string | { text: string }[];
}

function textIn(turn: Turn | undefined): string {
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

const callers = {
  chat: {
    path: '/v1/chat/completions',
    body: { model: 'gpt-4o-mini', stream: true, messages: [{ role: 'user', content: 'Go' }] },
  },
  messages: {
    path: '/v1/messages',
    body: {
      model: 'claude-sonnet-4-5',
      stream: true,
      max_tokens: 999,
      messages: [{ role: 'user', content: 'Go' }],
    },
  },
  responses: { path: '/v1/responses', body: { model: 'gpt-4o-mini', stream: true, input: 'Go' } },
};
type Caller = keyof typeof callers;

const vendors = {
  openai: { provider: 'openai', override_params: { model: 'gpt-4o-mini' } },
  anthropic: { provider: 'anthropic', override_params: { model: 'claude-sonnet-4-5' } },
  google: { provider: 'google', override_params: { model: 'gemini-2.5-flash' } },
};
type Vendor = keyof typeof vendors;

/** All text that a caller of any format would put together, and the types of its events. */
function read(text: string): { text: string; ends: number; errors: number } {
  const events = text
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => line.slice(6));
  const bodies = events.filter((data) => data !== '[DONE]').map((data) => JSON.parse(data));
  const pieces = bodies.map(
    (body) =>
      body.choices?.[0]?.delta?.content ??
      body.delta?.text ??
      (body.type === 'response.output_text.delta' ? body.delta : ''),
  );
  const isEnd = (type: string) => type === 'message_stop' || type === 'response.completed';
  return {
    text: pieces.join(''),
    ends: events.filter((data) => data === '[DONE]' || isEnd(JSON.parse(data).type)).length,
    errors: bodies.filter((body) => body.error !== undefined && body.error !== null).length,
  };
}

function ask(caller: Caller, first: Vendor, second: Vendor, more: object = {}, records?: number) {
  // Short only where something stalls: a busy machine is slow to send, too.
  const idle_timeout = broken.stallAfter === undefined ? 20_000 : 300;
  return trial.ask({
    ...callers[caller],
    records,
    config: {
      strategy: { mode: 'fallback' },
      stream_recovery: 'continue',
      targets: [one.target({ ...vendors[first], idle_timeout }), two.target(vendors[second])],
      ...more,
    },
  });
}

const pairs = (Object.keys(callers) as Caller[]).flatMap((caller) =>
  (Object.keys(vendors) as Vendor[]).map((vendor) => [caller, vendor] as const),
);

describe('a stream that is to be continued', () => {
  it.each(pairs)(
    'reaches a caller of %s whole from %s, wherever it is cut',
    async (caller, first) => {
      for (let at = 4; at < 60; at++) {
        broken = { cutAfter: at };
        const second = at % 2 === 0 ? 'openai' : 'anthropic';
        const { answer } = await ask(caller, first, second);
        expect([at, answer.status, read(answer.text)]).toEqual([
          at,
          200,
          { text: whole, ends: 1, errors: 0 },
        ]);
      }
    },
    240_000,
  );

  it('or stalls, with one record of both parts', async () => {
    broken = { stallAfter: 20 };
    const { answer, records, rawRecords } = await ask('messages', 'anthropic', 'anthropic', {}, 1);
    expect(read(answer.text)).toEqual({ text: whole, ends: 1, errors: 0 });
    expect(records).toMatchObject([
      { path: 'config.targets[0]', outcome: 'SUCCESS', status: 200, code: '', tokens: [20, 21] },
    ]);
    expect(JSON.parse(rawRecords[0]?.decisionJson ?? '').parts).toMatchObject([
      { path: 'config.targets[0]', outcome: 'partial', error: 'upstream.stream_stalled' },
      { path: 'config.targets[1]', outcome: 'success', input_tokens: 10, output_tokens: 20 },
    ]);
  });

  it('is asked for in words where a begun answer is refused', async () => {
    broken = { cutAfter: 20 };
    refusesPrefill = true;
    const { answer, calls } = await ask('chat', 'openai', 'anthropic');
    refusesPrefill = false;
    expect(read(answer.text)).toEqual({ text: whole, ends: 1, errors: 0 });
    expect(calls).toEqual(['one', 'two', 'two']);
  });

  it.each([
    ['without the option', { stream_recovery: 'off' }],
    ['without a further target', { targets: [] }],
  ])('ends in its error event %s', async (_, more) => {
    broken = { cutAfter: 20 };
    const targets = 'targets' in more ? { targets: [one.target(vendors.openai)] } : {};
    const { answer, records } = await ask('chat', 'openai', 'openai', { ...more, ...targets }, 1);
    expect(read(answer.text)).toMatchObject({ ends: 0, errors: 1 });
    expect(records).toMatchObject([{ outcome: 'PARTIAL', code: 'upstream.stream_cut' }]);
  });
});
