import type { GatewayError } from '@sluice/errors';
import { describe, expect, it } from 'vitest';
import type { ReplySink, StreamReply } from '../exchange/reply.ts';
import { eventBytesMax, keptReply } from './kept-reply.ts';

/** A stream that a test gives its bytes to, and what its caller got. */
function startStream(way: 'pass' | 'cut' = 'pass') {
  let sink: ReplySink | undefined;
  const got: Buffer[] = [];
  const kept: unknown[] = [];
  const lost: GatewayError[] = [];
  const state = { ends: 0, cuts: [] as string[], isRead: true };
  const source: StreamReply = {
    kind: 'stream',
    status: 200,
    headers: { 'content-type': 'text/event-stream' },
    pipeTo: (given) => {
      sink = given;
    },
    discard() {},
    wasWhole: () => true,
  };
  const reply = keptReply(source, {
    told: { id: 'resp_svc_1' },
    keep: (response) => {
      kept.push(response);
      return Promise.resolve(true);
    },
    lose(error) {
      lost.push(error);
      return way;
    },
  }) as StreamReply;
  reply.pipeTo({
    write(chunk) {
      got.push(chunk);
      return state.isRead;
    },
    onDrain() {},
    end: () => (state.ends += 1),
    cut: (code) => state.cuts.push(code),
  });
  return { sink: sink as ReplySink, got, kept, lost, state };
}

const created =
  'data: {"type":"response.created","response":{"object":"response","id":"theirs"}}\n\n';
const completed = created.replace('created', 'completed');

describe('the stream of a response that is kept', () => {
  it('has our id, and is kept before its end is told', async () => {
    const { sink, got, kept, state } = startStream();
    sink.write(Buffer.from(created + completed));
    sink.end();
    await Promise.resolve();
    await new Promise(setImmediate);
    const text = Buffer.concat(got).toString();
    expect(text).not.toContain('theirs');
    expect(kept).toEqual([{ object: 'response', id: 'resp_svc_1' }]);
    expect(state.ends).toBe(1);
  });

  it('passes unread where an event is too large to be held, as slowly as it is read', async () => {
    const { sink, got, kept, lost, state } = startStream();
    sink.write(Buffer.from(created));
    const piece = Buffer.alloc(1024 * 1024, 'x');
    let sent = 0;
    sink.write(Buffer.from('data: '));
    while (sent <= eventBytesMax) {
      sink.write(piece);
      sent += piece.length;
    }
    state.isRead = false;
    expect(sink.write(piece)).toBe(false);
    sink.write(Buffer.from(`\n\n${completed}`));
    sink.end();
    await new Promise(setImmediate);
    const all = Buffer.concat(got);
    const passed = all.subarray(all.indexOf('data: x'));
    expect(
      passed.equals(
        Buffer.concat([
          Buffer.from('data: '),
          Buffer.alloc(sent + piece.length, 'x'),
          Buffer.from(`\n\n${completed}`),
        ]),
      ),
    ).toBe(true);
    expect(kept).toEqual([]);
    expect(lost.map(({ code }) => code)).toEqual(['response.too_large']);
    expect(state.ends).toBe(1);
  });

  it('is cut there where nobody could hold it either', () => {
    const { sink, got, lost, state } = startStream('cut');
    const piece = Buffer.alloc(8 * 1024 * 1024, 'x');
    sink.write(Buffer.from('data: '));
    for (let sent = 0; sent < 2 * eventBytesMax; sent += piece.length) sink.write(piece);
    expect(lost).toHaveLength(1);
    expect(state.cuts).toEqual(['upstream.invalid_response']);
    expect(got.every(({ length }) => length === 0)).toBe(true);
  });

  it('holds no more behind its end than an event may have', async () => {
    const { sink, got, state } = startStream();
    sink.write(Buffer.from(completed));
    const piece = Buffer.alloc(8 * 1024 * 1024, 'x');
    sink.write(Buffer.from('data: '));
    for (let sent = 0; sent < 3 * eventBytesMax; sent += piece.length) sink.write(piece);
    sink.end();
    await new Promise(setImmediate);
    expect(Buffer.concat(got).toString()).toContain('"resp_svc_1"');
    expect(Buffer.concat(got).length).toBeLessThan(1_000);
    expect(state.ends).toBe(1);
  });
});
