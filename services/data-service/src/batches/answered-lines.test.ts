import { expect, it } from 'vitest';
import { AnsweredLines, decodeLines, encodeLines } from './answered-lines.ts';

it('line numbers are read as they were written', () => {
  const lines = [1, 2, 127, 128, 129, 16_384, 600_000, 599_999, 5_000, 300];
  const sorted = [...lines].sort((one, other) => one - other);
  expect(decodeLines(encodeLines(lines))).toEqual(sorted);
  expect(decodeLines(encodeLines([]))).toEqual([]);
  const answered = new AnsweredLines();
  for (const line of [...lines, ...lines]) answered.add(line);
  expect(answered.count).toBe(lines.length);
  expect(lines.every((line) => answered.has(line))).toBe(true);
  expect([3, 130, 600_001, 5_000_000].some((line) => answered.has(line))).toBe(false);
});
