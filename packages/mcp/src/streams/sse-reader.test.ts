import { ownTime } from '@sluice/testkit/own-time';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { McpFault } from '../fault.ts';
import { type SseBlock, SseReader, writeSseEvent } from './sse-reader.ts';

const text =
  ': hello\n\nid: 1\ndata:\nretry: 2500\n\nevent: message\nid: a/2\ndata: {"jsonrpc":"2.0","id":1,"method":"ping"}\n\n' +
  'data: one\r\ndata: two\r\nid:3\r\n\r\nevent: endpoint\rdata: /messages?x=1\r\rdata: {"id":"ß\u2028"}\nid\n\n';

const facts = ({ name, data, id, retryMs }: SseBlock) => ({ name, data, id, retryMs });

function readAll(chunks: readonly Buffer[]): { blocks: SseBlock[]; rest: Buffer | undefined } {
  const reader = new SseReader();
  const blocks = chunks.flatMap((chunk) => reader.push(chunk));
  return { blocks, rest: reader.end() };
}

const expected = [
  { name: '', data: undefined, id: undefined, retryMs: undefined },
  { name: '', data: '', id: '1', retryMs: 2500 },
  {
    name: 'message',
    data: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
    id: 'a/2',
    retryMs: undefined,
  },
  { name: '', data: 'one\ntwo', id: '3', retryMs: undefined },
  { name: 'endpoint', data: '/messages?x=1', id: undefined, retryMs: undefined },
  { name: '', data: '{"id":"ß\u2028"}', id: '', retryMs: undefined },
];

describe('SseReader', () => {
  const bytes = Buffer.from(text);

  it('reads the same and keeps every byte, wherever the stream is cut', () => {
    for (let cut = 0; cut <= bytes.length; cut++) {
      const { blocks, rest } = readAll([bytes.subarray(0, cut), bytes.subarray(cut)]);
      expect(blocks.map(facts), `cut at ${cut}`).toEqual(expected);
      expect(Buffer.concat(blocks.map((block) => block.bytes)).equals(bytes), `cut at ${cut}`).toBe(
        true,
      );
      expect(rest).toBeUndefined();
    }
    const single = readAll([...bytes].map((byte) => Buffer.from([byte])));
    expect(single.blocks.map(facts)).toEqual(expected);
  });

  it('reads what it writes, cut anywhere, whatever the line ends', () => {
    const data = fc
      .string({ unit: 'binary' })
      .filter((value) => value.isWellFormed() && !value.includes('\r'));
    const events = fc.array(
      fc.record({ data, id: fc.option(fc.stringMatching(/^[!-~]{1,20}$/), { nil: undefined }) }),
      { maxLength: 6 },
    );
    fc.assert(
      fc.property(events, fc.array(fc.nat(500)), (list, cuts) => {
        const stream = Buffer.concat(
          list.map((event) => writeSseEvent(Buffer.from(event.data), event.id)),
        );
        const edges = [0, ...cuts.map((cut) => cut % (stream.length + 1)), stream.length].sort(
          (a, b) => a - b,
        );
        const chunks = edges.slice(1).map((end, index) => stream.subarray(edges[index], end));
        const { blocks } = readAll(chunks);
        expect(blocks.map(({ data, id }) => ({ data, id }))).toEqual(
          list.map(({ data, id }) => ({ data, id })),
        );
        expect(Buffer.concat(blocks.map((block) => block.bytes)).equals(stream)).toBe(true);
      }),
    );
  });

  it('gives what was left unfinished as no event', () => {
    const reader = new SseReader();
    expect(reader.push(Buffer.from('data: {"jsonrpc"'))).toEqual([]);
    expect(reader.end()?.toString()).toBe('data: {"jsonrpc"');
  });

  it('ends at an event that is too large, in little memory', () => {
    const reader = new SseReader(100_000);
    const push = () => {
      for (let index = 0; index < 100; index++)
        reader.push(Buffer.from(`data: ${'x'.repeat(10_000)}\n`));
    };
    expect(push).toThrow(McpFault);
  });

  it('reads a megabyte of single lines and of line ends in linear time', () => {
    const streams = [
      '\n'.repeat(1_000_000),
      'id\n'.repeat(300_000),
      'id:1\r'.repeat(200_000),
      ':\r\n'.repeat(300_000),
    ];
    for (const stream of streams) {
      const reader = new SseReader();
      const spentMs = ownTime();
      for (let at = 0; at < stream.length; at += 65_536)
        reader.push(Buffer.from(stream.slice(at, at + 65_536)));
      reader.push(Buffer.from('\n\n'));
      expect(spentMs()).toBeLessThan(1500);
    }
  });
});
