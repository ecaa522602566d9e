import { expect, it } from 'vitest';
import { linesOf } from './lines.ts';

async function lines(pieces: readonly Buffer[], bytesMax = 20) {
  const found: (string | number)[][] = [];
  for await (const { number, bytes } of linesOf(
    (async function* () {
      yield* pieces;
    })(),
    bytesMax,
  ))
    found.push([number, bytes?.toString() ?? 'too long']);
  return found;
}

it('lines are found wherever the pieces are cut', async () => {
  const content = Buffer.from(`\ufeff{"a":1}\r\n\n  \t\n{"ü":2}\n${'x'.repeat(30)}\nlast`);
  const expected = [
    [1, '{"a":1}'],
    [4, '{"ü":2}'],
    [5, 'too long'],
    [6, 'last'],
  ];
  expect(await lines([content])).toEqual(expected);
  expect(await lines([...content].map((byte) => Buffer.of(byte)))).toEqual(expected);
  for (let at = 1; at < content.length; at += 1)
    expect(await lines([content.subarray(0, at), content.subarray(at)])).toEqual(expected);
  expect(await lines([])).toEqual([]);
  expect(await lines([Buffer.from('\n\n')])).toEqual([]);
});

it('a line of a hundred megabytes is passed over, and those after it are found', async () => {
  const piece = Buffer.alloc(1_000_000, 'x');
  const pieces = [...Array<Buffer>(100).fill(piece), Buffer.from('\n{}\r\r\n\r\r\n \r\n'), piece];
  const before = process.memoryUsage().arrayBuffers;
  expect(await lines(pieces)).toEqual([
    [1, 'too long'],
    [2, '{}\r'],
    [5, 'too long'],
  ]);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(10_000_000);
});
