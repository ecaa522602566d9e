import type { ChatStreamEvent, JsonObject, StreamableFormat } from '@sluice/contracts';
import { describe, expect, it } from 'vitest';
import { framesOf } from '../../test/aws-frames.ts';
import { contextFor } from '../../test/fixtures.ts';
import { assembleStream } from '../assemble/assemble-stream.ts';
import { findProvider } from '../catalog.ts';
import { converseEnvelope } from '../codecs/bedrock-converse/frames.ts';
import type { ChatFormat, StreamReader, Translation } from '../contract.ts';
import { parseSseEvents } from '../framing/sse.ts';
import { arrayOf, objectOf } from '../json/json-access.ts';
import { ChatTranslation } from '../translation/chat-translation.ts';
import { chatCodecs } from '../translation/find-translation.ts';
import { NativeTranslation } from '../translation/native-translation.ts';
import type { ContinuationWay } from './continued-request.ts';
import { SplicedStream } from './spliced-stream.ts';

/** Blanks at both ends of pieces, words that return, rows of a table, signs of two units. */
const pieces = [
  ...'The |quick| brown| fox| jumps| over| the| lazy| dog|,| and| the| dog| says|:|\n\n'.split('|'),
  ...'| a | b |\n§| --- | --- |\n§| 1 | 1 |\n§| 1 | 1 |\n§\n'.split('§'),
  ...'naïve§ café§ 東京§ 👩‍👩‍👧§ it is a§ very§ long§ way to§ inter§national§ waters§.§ '.split(
    '§',
  ),
  ...'One§ two§ three§ four§ five§ six§.\n'.split('§'),
  ...'ha ha§ ha§ ha§!§ Then§ he§ said§ «§no§»§ and§ left§ for§ good§.§ The§ end§ of§ it§ all§.'.split(
    '§',
  ),
];
const whole = pieces.join('');

const usage = {
  inputTokens: 10,
  outputTokens: 20,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  cacheWrite1hTokens: 0,
  reasoningTokens: 0,
  inputAudioTokens: 0,
  outputAudioTokens: 0,
};

const callers = ['openai-chat', 'anthropic-messages', 'openai-responses'] as const;
const upstreams = [...callers, 'gemini', 'bedrock-converse'] as const;
const provider = findProvider('openai')!;
const requests: Record<StreamableFormat, JsonObject> = {
  'openai-chat': { model: 'm', stream: true, messages: [{ role: 'user', content: 'Go' }] },
  'anthropic-messages': { model: 'm', stream: true, messages: [{ role: 'user', content: 'Go' }] },
  'openai-responses': { model: 'm', stream: true, input: 'Go' },
  'openai-completions': {},
};

function translationOf(caller: ChatFormat, upstream: ChatFormat): Translation {
  const envelope = upstream === 'bedrock-converse' ? { envelope: converseEnvelope } : {};
  const entry = { format: upstream, path: '', ...envelope };
  if (caller === upstream) return new NativeTranslation(entry);
  return new ChatTranslation(chatCodecs[caller]!, chatCodecs[upstream]!, entry);
}

/** A stream as an upstream sends it, event by event. */
function streamOf(format: ChatFormat, texts: readonly string[], id: string): Buffer[] {
  return framed(format, [
    { type: 'reply-start', id, model: `model-${id}` },
    ...texts
      .filter((text) => text !== '')
      .map((text): ChatStreamEvent => ({ type: 'text-delta', choice: 0, block: 0, text })),
    { type: 'usage', usage },
    { type: 'finish', choice: 0, reason: 'stop', raw: 'stop' },
    { type: 'reply-end' },
  ]);
}

function framed(format: ChatFormat, events: readonly ChatStreamEvent[]): Buffer[] {
  const options = { provider: 'p', strict: true, nowMs: 0, requestedModel: 'm', request: {} };
  const encoder = chatCodecs[format]!.openEncoder(options);
  const text = events.map((event) => encoder.encode(event)).join('');
  return text
    .split(/(?<=\n\n)/)
    .filter((event) => event !== '')
    .map((event) =>
      format === 'bedrock-converse' ? framesOf(Buffer.from(event)) : Buffer.from(event),
    );
}

function run(reader: StreamReader, events: readonly Buffer[], isCut: boolean): Buffer {
  const out = events.map((event) => reader.push(event));
  out.push(reader.end());
  expect(reader.phase).toBe(isCut ? 'content' : 'complete');
  return Buffer.concat(out);
}

type Model = (told: string, way: ContinuationWay, asked: string) => string;

/** Goes on from what it is shown, as it was asked to. */
const obedient: Model = (told, way, asked) => {
  if (way !== 'instruction') return whole.slice(told.length);
  const repeated: string = JSON.parse(asked.slice(asked.lastIndexOf(': "') + 2));
  expect(told.endsWith(repeated)).toBe(true);
  return repeated + whole.slice(told.length);
};

/** What the request shows of the answer, and what it asks. */
function shown(body: JsonObject): { told: string; asked: string } {
  const turns = arrayOf(body.messages) ?? arrayOf(body.input) ?? [];
  const answer = turns.map(objectOf).find((turn) => turn?.role === 'assistant');
  return {
    told: String(answer?.content ?? ''),
    asked: String(objectOf(turns.at(-1))?.content ?? ''),
  };
}

interface Cut {
  caller: (typeof callers)[number];
  first: (typeof upstreams)[number];
  second: (typeof upstreams)[number];
  takesPrefill: boolean;
  model?: Model;
  /** Half of one more event came. */
  halves?: boolean;
}

/** The answer as its caller gets it, of a stream that ends behind so many events. */
function spliced(
  { caller, first, second, takesPrefill, model = obedient, halves = false }: Cut,
  at: number,
) {
  const request = requests[caller];
  const context = contextFor(provider, true, { request, model: 'm', stream: true });
  const from = translationOf(caller, first);
  const splice = SplicedStream.of(from, request)!;
  const reader = splice.openFirst(from, context, request, () => true);
  const events = streamOf(first, pieces, 'one');
  const sent = events.slice(0, at);
  const next = events[at];
  if (halves && next !== undefined) sent.push(next.subarray(0, next.length / 2));
  const out = sent.map((event) => reader.push(event));
  out.push(reader.end());
  if (reader.phase === 'preamble') return undefined;
  if (reader.phase === 'complete') return Buffer.concat(out);
  const lacks = splice.lacks();
  if (lacks === 'end') return Buffer.concat([...out, splice.end()]);
  expect(lacks).toBe('more');
  const [way] = splice.waysToAsk(takesPrefill) as [ContinuationWay];
  const { told, asked } = shown(splice.continuedRequest(request, way));
  expect(way === 'anew' || whole.startsWith(told)).toBe(true);
  const rest = model(told, way, asked);
  const to = translationOf(caller, second);
  const rester = splice.openNext(to, context, way);
  const words = rest.match(/.{1,3}/gsu) ?? [];
  out.push(run(rester, streamOf(second, words, 'two'), false));
  return Buffer.concat(out);
}

/** What the caller reads, of a stream that began once and ended once. */
function answerOf(caller: StreamableFormat, stream: Buffer): { text: string; id: string } {
  if (caller === 'openai-chat') return chatAnswerOf(stream);
  const body = assembleStream(caller, stream);
  const parts =
    caller === 'anthropic-messages'
      ? (arrayOf(body?.content) ?? [])
      : (arrayOf(body?.output) ?? []).flatMap((item) => arrayOf(objectOf(item)?.content) ?? []);
  const text = parts.map((part) => String(objectOf(part)?.text ?? '')).join('');
  return { text, id: String(body?.id) };
}

/** An upstream that was cut before it told its tokens leaves a stream without them. */
function chatAnswerOf(stream: Buffer): { text: string; id: string } {
  const events = parseSseEvents(stream).map(({ data }) => data);
  // An answer that is finished is whole without it.
  if (events.at(-1) === '[DONE]') events.pop();
  const chunks = events.map((data) => JSON.parse(data));
  const choices = chunks.flatMap(({ choices }) => choices);
  expect(choices.filter(({ delta }) => delta.role !== undefined)).toHaveLength(1);
  expect(choices.filter(({ finish_reason }) => finish_reason !== null)).toHaveLength(1);
  const ids = new Set(chunks.map(({ id }) => id));
  expect(ids.size).toBe(1);
  return { text: choices.map(({ delta }) => delta.content ?? '').join(''), id: [...ids].join() };
}

const pairs = callers.flatMap((caller) => upstreams.map((first) => [caller, first] as const));

describe('a stream that was cut behind any of its events', () => {
  it.each(pairs)(
    'is whole for a caller of %s, from %s and then any other',
    (caller, first) => {
      const { length } = streamOf(first, pieces, 'one');
      expect(length).toBeGreaterThanOrEqual(60);
      let cuts = 0;
      for (const takesPrefill of [true, false])
        for (let at = 1; at < length; at++) {
          const second = upstreams[(at + (takesPrefill ? 0 : 2)) % upstreams.length]!;
          const stream = spliced({ caller, first, second, takesPrefill }, at);
          if (stream === undefined) continue;
          cuts++;
          const place = `${second}, ${takesPrefill ? 'prefilled' : 'asked'}, cut at ${at}`;
          const { text, id } = answerOf(caller, stream);
          expect([place, text]).toEqual([place, whole]);
          expect([place, id]).toEqual([place, expect.not.stringContaining('two')]);
        }
      expect(cuts).toBeGreaterThan(110);
    },
    120_000,
  );

  it.each(pairs)('or within one, for a caller of %s from %s', (caller, first) => {
    const { length } = streamOf(first, pieces, 'one');
    // What follows a finished answer passes as it came.
    const last = caller === 'openai-chat' && first === caller ? length - 1 : length;
    for (let at = 1; at < last; at++) {
      const cut = {
        caller,
        first,
        second: 'openai-chat',
        takesPrefill: false,
        halves: true,
      } as const;
      const stream = spliced(cut, at);
      if (stream === undefined) continue;
      const { text } = answerOf(caller, stream);
      expect([at, text]).toEqual([at, whole]);
    }
  });

  it.each<[string, Model]>([
    ['begins anew', () => whole],
    [
      'repeats what it was shown last and no more',
      (told) => told.slice(-30) + whole.slice(told.length),
    ],
  ])('is whole where a model that is asked in words %s', (_, model) => {
    for (const caller of callers)
      for (let at = 26; at < 60; at++) {
        const cut = {
          caller,
          first: caller,
          second: 'gemini',
          takesPrefill: false,
          model,
        } as const;
        const stream = spliced(cut, at);
        if (stream === undefined) continue;
        const { text } = answerOf(caller, stream);
        expect([caller, at, text]).toEqual([caller, at, whole]);
      }
  });
});

/** A thought, a text and a call, as each format tells them. */
const calling: ChatStreamEvent[] = [
  { type: 'reply-start', id: 'one', model: 'm' },
  { type: 'thinking-start', choice: 0, block: 0 },
  { type: 'thinking-delta', choice: 0, block: 0, text: 'Let me ' },
  { type: 'thinking-delta', choice: 0, block: 0, text: 'see.' },
  { type: 'text-start', choice: 0, block: 1 },
  { type: 'text-delta', choice: 0, block: 1, text: 'I shall ' },
  { type: 'text-delta', choice: 0, block: 1, text: 'look.' },
  { type: 'tool-call-start', choice: 0, block: 2, call: 0, id: 'call_1', name: 'look' },
  { type: 'tool-call-delta', choice: 0, block: 2, call: 0, arguments: '{"at":' },
  { type: 'tool-call-delta', choice: 0, block: 2, call: 0, arguments: '"it"}' },
  { type: 'usage', usage },
  { type: 'finish', choice: 0, reason: 'tool-calls', raw: 'tool_calls' },
  { type: 'reply-end' },
];

/** What begins is ended, once and in its place, and nothing is told of what is not open. */
function expectInOrder(caller: StreamableFormat, stream: Buffer): void {
  const bodies = parseSseEvents(stream).map(({ data }) =>
    data === '[DONE]' ? {} : JSON.parse(data),
  );
  const open = new Set<string>();
  const begun = new Set<string>();
  const begin = (place: string) => {
    expect(begun).not.toContain(place);
    begun.add(place);
    open.add(place);
  };
  const end = (place: string) => {
    expect(open).toContain(place);
    open.delete(place);
  };
  let sequence = -1;
  for (const {
    type,
    index,
    output_index,
    content_index,
    summary_index,
    sequence_number,
  } of bodies) {
    if (caller === 'anthropic-messages') {
      if (type === 'content_block_start') begin(index);
      if (type === 'content_block_delta') expect(open).toContain(index);
      if (type === 'content_block_stop') end(index);
    }
    if (caller !== 'openai-responses') continue;
    expect(sequence_number).toBe(++sequence);
    const part = `${output_index}.${content_index ?? summary_index}`;
    switch (type) {
      case 'response.output_item.added':
        begin(output_index);
        begin(`${output_index} arguments`);
        break;
      case 'response.output_item.done':
        end(output_index);
        break;
      case 'response.function_call_arguments.done':
        end(`${output_index} arguments`);
        break;
      case 'response.content_part.added':
      case 'response.reasoning_summary_part.added':
        begin(part);
        begin(`${part} text`);
        break;
      case 'response.output_text.delta':
      case 'response.reasoning_summary_text.delta':
        expect(open).toContain(`${part} text`);
        break;
      case 'response.output_text.done':
      case 'response.reasoning_summary_text.done':
        end(`${part} text`);
        break;
      case 'response.content_part.done':
      case 'response.reasoning_summary_part.done':
        end(part);
    }
  }
  expect([...open].filter((place) => !String(place).endsWith('arguments'))).toEqual([]);
}

describe('what a cut stream had begun', () => {
  it.each(callers)('is ended once, in a stream of %s', (caller) => {
    const request = requests[caller];
    const context = contextFor(provider, true, { request, model: 'm', stream: true });
    const native = translationOf(caller, caller);
    const events = framed(caller, calling);
    let beyondHelp = 0;
    for (let at = 1; at < events.length; at++) {
      const splice = SplicedStream.of(native, request)!;
      const reader = splice.openFirst(native, context, request, () => true);
      const out = events.slice(0, at).map((event) => reader.push(event));
      out.push(reader.end());
      const lacks = splice.lacks();
      if (lacks === undefined) beyondHelp++;
      if (lacks === 'end') out.push(splice.end());
      if (lacks === 'more') {
        const { text } = answerOfAny(caller, Buffer.concat(out));
        const [way] = splice.waysToAsk(false) as [ContinuationWay];
        expect(way).toBe(text === '' ? 'anew' : 'instruction');
        const rest = 'I shall look. Here.';
        const next = splice.openNext(native, context, way);
        out.push(run(next, streamOf(caller, [rest], 'two'), false));
      }
      if (lacks === undefined) continue;
      const stream = Buffer.concat(out);
      expectInOrder(caller, stream);
      const whole = lacks === 'end' ? 'I shall look.' : 'I shall look. Here.';
      expect([at, answerOfAny(caller, stream).text]).toEqual([at, whole]);
    }
    // The call, from its name to its last piece.
    expect(beyondHelp).toBeGreaterThanOrEqual(2);
    expect(beyondHelp).toBeLessThanOrEqual(3);
  });

  it.each([
    ['anthropic-messages', { type: 'server_tool_use', id: 's', name: 'web_search', input: {} }],
    ['openai-responses', { type: 'web_search_call', id: 's', status: 'in_progress' }],
  ] as const)('is beyond help where it is a tool of the provider, in %s', (caller, tool) => {
    const request = requests[caller];
    const context = contextFor(provider, true, { request, model: 'm', stream: true });
    const native = translationOf(caller, caller);
    const splice = SplicedStream.of(native, request)!;
    const reader = splice.openFirst(native, context, request, () => true);
    const told = streamOf(caller, ['I shall look.'], 'one').slice(
      0,
      caller === 'anthropic-messages' ? 4 : 8,
    );
    const begun =
      caller === 'anthropic-messages'
        ? { type: 'content_block_start', index: 1, content_block: tool }
        : { type: 'response.output_item.added', output_index: 1, item: tool };
    for (const event of told) reader.push(event);
    reader.push(Buffer.from(`event: ${begun.type}\ndata: ${JSON.stringify(begun)}\n\n`));
    expect(reader.phase).toBe('content');
    expect(splice.lacks()).toBeUndefined();
  });
});

describe('the provider’s own error event', () => {
  const overloaded = 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error"}}\n\n';
  const begun = streamOf('anthropic-messages', ['Hi'], 'one').slice(0, 3);
  const searching = {
    type: 'content_block_start',
    index: 1,
    content_block: { type: 'server_tool_use', id: 's', name: 'web_search', input: {} },
  };

  it.each([
    ['it can be continued, and nobody does', () => true, begun],
    ['it is too large to be continued', (bytes: number) => bytes < 0, begun],
    [
      'nobody can end what it had begun',
      () => true,
      [...begun, Buffer.from(`event: x\ndata: ${JSON.stringify(searching)}\n\n`)],
    ],
  ])('ends a stream once, as it came, where %s', (_, hold, events) => {
    const request = requests['anthropic-messages'];
    const context = contextFor(provider, true, { request, model: 'm', stream: true });
    const native = translationOf('anthropic-messages', 'anthropic-messages');
    const splice = SplicedStream.of(native, request)!;
    const reader = splice.openFirst(native, context, request, hold);
    const out = events.map((event) => reader.push(event));
    out.push(reader.push(Buffer.from(overloaded)));
    expect(reader.phase).toBe('failed');
    splice.lacks();
    const fault = { type: 'upstream_error', message: 'No.', status: 502, code: 'upstream.error' };
    out.push(splice.errorEvent(fault) ?? reader.errorEvent(fault));
    expect(Buffer.concat(out).toString()).toBe(Buffer.concat(events).toString() + overloaded);
  });
});

/** All text of a stream that need not be whole. */
function answerOfAny(caller: StreamableFormat, stream: Buffer): { text: string } {
  const bodies = parseSseEvents(stream).map(({ data }) =>
    data === '[DONE]' ? {} : JSON.parse(data),
  );
  const texts = bodies.map((body) => {
    if (caller === 'openai-chat') return body.choices?.[0]?.delta?.content;
    if (caller === 'anthropic-messages') return body.delta?.text;
    return body.type === 'response.output_text.delta' ? body.delta : undefined;
  });
  return { text: texts.join('') };
}
