import { describe, expect, it } from 'vitest';
import type { ReplySink, StreamReply } from '../exchange/reply.ts';
import type { LoopFormat } from './loop-format.ts';
import { ToolStream } from './tool-stream.ts';

const format = {
  keepAlive: ': \n\n',
  beginStream() {},
  takeEvent: (name: string) => `event: ${name}\n\n`,
  endStream: () => undefined,
  errorEvent: ({ code }: { code: string }) => `event: error\ndata: ${code}\n\n`,
} as unknown as LoopFormat;

describe('the stream of a round', () => {
  it('is left where an event of it is too large to be read, and its caller is told once', async () => {
    let sink: ReplySink | undefined;
    let discarded = 0;
    const got: string[] = [];
    const first: StreamReply = {
      kind: 'stream',
      status: 200,
      headers: {},
      pipeTo: (given) => {
        sink = given;
      },
      // As streams of providers do it.
      discard() {
        discarded += 1;
        sink?.write(Buffer.from('event: late\ndata: {"type":"late"}\n\n'));
        sink?.end();
      },
      wasWhole: () => false,
    };
    const stream = new ToolStream({
      first,
      format,
      signal: new AbortController().signal,
      isOver: () => false,
      call: async () => {},
      ask: () => Promise.reject(new Error('nothing more is asked')),
    });
    const ended = new Promise<void>((resolve) =>
      stream.pipeTo({
        write: (chunk) => {
          got.push(chunk.toString());
          return true;
        },
        onDrain() {},
        end: resolve,
        cut() {},
      }),
    );
    sink?.write(Buffer.from('event: a\ndata: {"type":"a"}\n\ndata: '));
    const piece = Buffer.alloc(1024 * 1024, 'x');
    for (let sent = 0; sent < 64 * piece.length; sent += piece.length) sink?.write(piece);
    await ended;
    sink?.write(Buffer.from('\n\nevent: b\ndata: {"type":"b"}\n\n'));
    expect(discarded).toBe(1);
    expect(got).toEqual(['event: a\n\n', 'event: error\ndata: upstream.invalid_response\n\n']);
  });
});
