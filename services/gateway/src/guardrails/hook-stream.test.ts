import { createLogger } from '@sluice/telemetry';
import { describe, expect, it } from 'vitest';
import type { ReplySink, StreamReply } from '../exchange/reply.ts';
import { type HookItemOptions, withHookItems } from './hook-stream.ts';

const logger = createLogger({ service: 'test', level: 'silent' });

const chat = [
  'data: {"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}\n\n',
  ': ping\n\n',
  'data: {"model":"m","choices":[{"index":0,"delta":{"content":"Grüße "}}]}\n\n',
  'data: {"model":"m","choices":[{"index":1,"delta":{"content":"other choice"}}]}\n\n',
  'data: {"model":"m","choices":[{"index":0,"delta":{"content":"🙂"}}]}\n\n',
  'data: {"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n',
  'data: {"model":"m","choices":[],"usage":{"total_tokens":3}}\n\n',
  'data: [DONE]\n\n',
].join('');

const messages = [
  'event: message_start\ndata: {"type":"message_start","message":{"model":"m","content":[]}}\n\n',
  'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\n',
  'event: ping\ndata: {"type":"ping"}\n\n',
  'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Grüße "}}\n\n',
  'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"🙂"}}\n\n',
  'event: message_stop\ndata: {"type":"message_stop"}\n\n',
].join('');

const responses = [
  'event: response.created\ndata: {"type":"response.created","response":{"model":"m","output":[]}}\n\n',
  'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","delta":"Grüße "}\n\n',
  'event: response.reasoning_summary_text.delta\ndata: {"type":"response.reasoning_summary_text.delta","delta":"hm"}\n\n',
  'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","delta":"🙂"}\n\n',
  'event: response.completed\ndata: {"type":"response.completed","response":{"model":"m","output":[]}}\n\n',
].join('');

const completion =
  'data: {"choices":[{"index":0,"text":"Grüße "}]}\n\ndata: {"choices":[{"text":"🙂"}]}\n\ndata: [DONE]\n\n';

/** A stream that sends what it is told, and the caller's side with all that reached it. */
function start(options: Partial<HookItemOptions>, headers = {}) {
  let upstream: ReplySink | undefined;
  const reply: StreamReply = {
    kind: 'stream',
    status: 200,
    headers,
    pipeTo: (sink) => {
      upstream = sink;
    },
    discard: () => {},
    wasWhole: () => true,
  };
  const wrapped = withHookItems(reply, {
    endpoint: 'chatComplete',
    logger,
    collectBytesMax: 10_000,
    ...options,
  });
  const written: Buffer[] = [];
  let drained = () => {};
  let ended: () => void = () => {};
  const caller = {
    written,
    takesMore: true,
    isEnded: false,
    wasCut: '',
    drain: () => drained(),
    text: () => Buffer.concat(written).toString(),
    whenEnded: new Promise<void>((resolve) => (ended = resolve)),
    write(chunk: Buffer) {
      written.push(chunk);
      return this.takesMore;
    },
    onDrain: (listener: () => void) => (drained = listener),
    end() {
      this.isEnded = true;
      ended();
    },
    cut(code: string) {
      this.wasCut = code;
    },
  };
  wrapped.pipeTo(caller);
  if (upstream === undefined) throw new Error('the stream was not piped');
  return { upstream: upstream as ReplySink, caller, wrapped, reply };
}

const item = Buffer.from('data: {"hook_results":{}}\n\n');

describe('withHookItems', () => {
  it('leaves a reply alone that nothing is added to', () => {
    const { wrapped, reply } = start({});
    expect(wrapped).toBe(reply);
  });

  it('puts the first item before the upstream’s bytes, and drops a length that is wrong now', () => {
    const { upstream, caller, wrapped } = start(
      { first: item },
      { 'content-length': '3', 'x-kept': '1' },
    );
    upstream.write(Buffer.from(chat));
    upstream.end();
    expect(caller.text()).toBe(`${item}${chat}`);
    expect(caller.isEnded).toBe(true);
    expect(wrapped.headers).toEqual({ 'x-kept': '1' });
  });

  it.each([
    ['chatComplete', chat],
    ['messages', messages],
    ['complete', completion],
    ['chatComplete', chat.replaceAll('\n', '\r\n')],
    ['messages', messages.replaceAll('\n', '\r\n')],
    ['createModelResponse', responses],
  ] as const)('hears the text of %s however the bytes are cut', async (endpoint, stream) => {
    const bytes = Buffer.from(stream);
    for (const size of [1, 2, 3, 7, 64, bytes.length]) {
      const heard: [string, boolean][] = [];
      const { upstream, caller } = start({
        endpoint,
        onEnd: async (text, wasWhole) => {
          heard.push([text, wasWhole]);
          return item;
        },
      });
      for (let at = 0; at < bytes.length; at += size) {
        const piece = bytes.subarray(at, at + size);
        upstream.write(piece);
        expect(caller.written.at(-1)).toBe(piece);
      }
      upstream.end();
      await caller.whenEnded;
      expect(heard).toEqual([['Grüße 🙂', true]]);
      expect(caller.text()).toBe(`${stream}${item}`);
    }
  });

  it('keeps the terminal event from waiting for the hooks', async () => {
    let release: (given: Buffer) => void = () => {};
    const { upstream, caller } = start({
      onEnd: () => new Promise((resolve) => (release = resolve)),
    });
    upstream.write(Buffer.from(chat));
    upstream.end();
    expect(caller.text()).toBe(chat);
    expect(caller.isEnded).toBe(false);
    release(item);
    await caller.whenEnded;
    expect(caller.text()).toBe(`${chat}${item}`);
  });

  it('ends at once when nothing is to be appended', () => {
    const { upstream, caller } = start({ onEnd: () => undefined });
    upstream.write(Buffer.from(chat));
    upstream.end();
    expect(caller.isEnded).toBe(true);
  });

  it.each([
    ['data: [DONE]', '\n\n'],
    ['data: [DONE]\n', '\n'],
    ['data: [DONE]\r\n', '\n'],
    ['data: [DONE]\r\n\r\n', ''],
  ])('separates its item from %j', async (last, separator) => {
    const { upstream, caller } = start({ onEnd: async () => item });
    upstream.write(Buffer.from(last));
    upstream.end();
    await caller.whenEnded;
    expect(caller.text()).toBe(`${last}${separator}${item}`);
  });

  it('appends nothing to a stream without its end, but lets the hooks hear it', async () => {
    const heard: [string, boolean][] = [];
    const { upstream, caller } = start({
      onEnd: async (text, wasWhole) => {
        heard.push([text, wasWhole]);
        return item;
      },
    });
    const part = `${chat.slice(0, chat.indexOf('data: [DONE]'))}data: {"error":{"message":"x"}}\n\n`;
    upstream.write(Buffer.from(part));
    upstream.end();
    await caller.whenEnded;
    expect(caller.text()).toBe(part);
    expect(heard).toEqual([['Grüße 🙂', false]]);
  });

  it('passes a cut on, and lets the hooks hear what there was', () => {
    const heard: [string, boolean][] = [];
    const { upstream, caller } = start({
      onEnd: async (text, wasWhole) => {
        heard.push([text, wasWhole]);
        return item;
      },
    });
    upstream.write(Buffer.from(chat.slice(0, chat.indexOf(': ping'))));
    upstream.cut('upstream.stream_cut');
    upstream.end();
    expect(caller.wasCut).toBe('upstream.stream_cut');
    expect(caller.isEnded).toBe(false);
    expect(heard).toEqual([['', false]]);
  });

  it.each([
    ['never answer', () => new Promise<Buffer>(() => {})],
    ['fail', () => Promise.reject(new Error('broken'))],
    [
      'throw',
      () => {
        throw new Error('broken');
      },
    ],
  ])('a stream ends all the same when its hooks %s', async (_what, onEnd) => {
    const { upstream, caller } = start({ onEnd, endDeadlineMs: 5 });
    upstream.write(Buffer.from(chat));
    upstream.end();
    await caller.whenEnded;
    expect(caller.text()).toBe(chat);
  });

  it('keeps the caller’s pace', () => {
    const { upstream, caller } = start({ first: item, onEnd: async () => item });
    let resumed = 0;
    upstream.onDrain(() => resumed++);
    expect(upstream.write(Buffer.from(chat))).toBe(true);
    caller.takesMore = false;
    expect(upstream.write(Buffer.from(chat))).toBe(false);
    caller.drain();
    expect(resumed).toBe(1);
  });

  it('keeps no more text than its cap, and says so', async () => {
    const heard: [string, boolean][] = [];
    const { upstream, caller } = start({
      collectBytesMax: 8,
      onEnd: async (text, wasWhole) => {
        heard.push([text, wasWhole]);
        return item;
      },
    });
    for (let round = 0; round < 100; round++) upstream.write(Buffer.from(chat.slice(0, -14)));
    upstream.write(Buffer.from('data: [DONE]\n\n'));
    upstream.end();
    await caller.whenEnded;
    expect(heard).toEqual([['Grüße 🙂', false]]);
    expect(caller.text().endsWith(`data: [DONE]\n\n${item}`)).toBe(true);
  });

  it('lets an endless line by without keeping it', async () => {
    const heard: [string, boolean][] = [];
    const { upstream, caller } = start({
      onEnd: async (text, wasWhole) => {
        heard.push([text, wasWhole]);
        return item;
      },
    });
    upstream.write(Buffer.from('data: {"choices":[{"index":0,"delta":{"content":"'));
    for (let round = 0; round < 40; round++) upstream.write(Buffer.alloc(64 * 1024, 'x'));
    upstream.write(Buffer.from(`"}}]}\n\n${chat}`));
    upstream.end();
    await caller.whenEnded;
    expect(heard).toEqual([['Grüße 🙂', false]]);
  });

  it.each([
    [
      'chatComplete',
      'data: {"model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"f","arguments":""}}]}}]}\n\n' +
        'data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}}]}\n\ndata: [DONE]\n\n',
      {
        object: 'chat.completion',
        model: 'm',
        choices: [
          {
            index: 0,
            message: {
              role: 'assistant',
              content: null,
              tool_calls: [{ id: 'c', type: 'function', function: { name: 'f' } }],
            },
          },
        ],
      },
    ],
    [
      'chatComplete',
      'data: {"model":"m","choices":[{"index":0,"delta":{"function_call":{"name":"f","arguments":""}}}]}\n\n' +
        'data: {"choices":[{"index":0,"delta":{"function_call":{"arguments":"{}"}}}]}\n\ndata: [DONE]\n\n',
      {
        object: 'chat.completion',
        model: 'm',
        choices: [
          {
            index: 0,
            message: { role: 'assistant', content: null, function_call: { name: 'f' } },
          },
        ],
      },
    ],
    [
      'messages',
      'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"c","name":"f","input":{}}}\n\n' +
        'event: message_stop\ndata: {"type":"message_stop"}\n\n',
      {
        type: 'message',
        role: 'assistant',
        model: '',
        content: [{ type: 'tool_use', id: 'c', name: 'f' }],
      },
    ],
    [
      'createModelResponse',
      'data: {"type":"response.output_item.added","item":{"type":"function_call","call_id":"c","name":"f"}}\n\n' +
        responses,
      {
        object: 'response',
        model: 'm',
        output: [
          { type: 'message', content: [{ type: 'output_text', text: 'Grüße 🙂' }] },
          { type: 'function_call', call_id: 'c', name: 'f' },
        ],
      },
    ],
    [
      'complete',
      completion,
      { object: 'text_completion', model: '', choices: [{ index: 0, text: 'Grüße 🙂' }] },
    ],
  ] as const)('gives the hooks of %s a body that says the same', (endpoint, stream, expected) => {
    const heard: unknown[] = [];
    const { upstream } = start({
      endpoint,
      onEnd: (_text, _wasWhole, response) => {
        heard.push(response);
        return undefined;
      },
    });
    upstream.write(Buffer.from(stream));
    upstream.end();
    expect(heard).toEqual([expected]);
  });

  it('takes no harm from data that is no JSON', () => {
    const heard: string[] = [];
    const { upstream } = start({
      onEnd: (text) => {
        heard.push(text);
        return undefined;
      },
    });
    upstream.write(
      Buffer.from(`data: {broken\n\ndata: 1\n\ndata: {"choices":[null,{"delta":3}]}\n\n${chat}`),
    );
    upstream.end();
    expect(heard).toEqual(['Grüße 🙂']);
  });
});
