import { brotliCompressSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { Reply, ReplySink } from '../exchange/reply.ts';
import { observedReply } from './observed-reply.ts';

const document = { id: 'resp_1', object: 'response', status: 'completed' };
const plain = Buffer.from(JSON.stringify(document));

/** What was heard of a reply, and what its caller got. */
async function hear(bytes: Buffer, coding: string | undefined, kind: Reply['kind']) {
  const heard: unknown[] = [];
  const headers = {
    'content-type': 'application/json',
    ...(coding === undefined ? {} : { 'content-encoding': coding }),
  };
  const reply: Reply =
    kind === 'body'
      ? { kind, status: 200, headers, body: bytes }
      : {
          kind,
          status: 200,
          headers,
          pipeTo(sink) {
            sink.write(bytes.subarray(0, 9));
            sink.write(bytes.subarray(9));
            sink.end();
          },
          discard() {},
          wasWhole: () => true,
        };
  const onDocument = async (told: Record<string, unknown>) => {
    await Promise.resolve();
    heard.push(told);
  };
  const observed = await observedReply(reply, onDocument, (told) => told.includes('resp_'));
  const got =
    observed.kind === 'body'
      ? observed.body
      : await new Promise<Buffer>((resolve) => {
          const pieces: Buffer[] = [];
          const sink: ReplySink = {
            write: (piece) => pieces.push(piece) > 0,
            onDrain() {},
            end: () => resolve(Buffer.concat(pieces)),
            cut() {},
          };
          observed.pipeTo(sink);
        });
  return { heard, isAsItCame: got.equals(bytes) };
}

describe('observedReply', () => {
  it.each([
    ['plain', plain, undefined],
    ['that says that it is plain', plain, 'Identity'],
    ['in gzip', gzipSync(plain), 'gzip'],
    ['in br', brotliCompressSync(plain), 'br'],
  ])(
    'hears the document of a reply %s, before its end, and leaves its bytes',
    async (_what, bytes, coding) => {
      for (const kind of ['body', 'stream'] as const)
        expect(await hear(bytes, coding, kind)).toEqual({ heard: [document], isAsItCame: true });
    },
  );

  it('hears a document that is too large to be held without what is long in its texts', async () => {
    const picture = (result: string) => ({ ...document, output: [{ result }, { result }] });
    const bytes = Buffer.from(JSON.stringify(picture('A'.repeat(5_000_000))));
    expect(await hear(bytes, undefined, 'stream')).toEqual({
      heard: [picture('A'.repeat(4096))],
      isAsItCame: true,
    });
    const texts = Buffer.from(
      JSON.stringify({ ...document, all: new Array(500_000).fill('short, many') }),
    );
    expect(await hear(texts, undefined, 'stream')).toEqual({ heard: [], isAsItCame: true });
  });

  it.each([
    ['cannot be opened', Buffer.from('no gzip, and longer than nine bytes')],
    ['is far larger when it is open', gzipSync(Buffer.alloc(8 * 1024 * 1024, 0x20))],
  ])('passes one that %s', async (_what, bytes) => {
    for (const kind of ['body', 'stream'] as const)
      expect(await hear(bytes, 'gzip', kind)).toEqual({ heard: [], isAsItCame: true });
  });
});
