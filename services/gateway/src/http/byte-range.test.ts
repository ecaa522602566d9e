import { expect, it } from 'vitest';
import { asksForPart, byteRange } from './byte-range.ts';

it.each([
  ['bytes=0-0', { offset: 0, length: 1 }],
  ['bytes=5-2000', { offset: 5, length: 5 }],
  ['bytes=5-', { offset: 5, length: 5 }],
  ['bytes=-3', { offset: 7, length: 3 }],
  ['bytes=-300', { offset: 0, length: 10 }],
  ['bytes=10-', undefined],
  ['bytes=-0', undefined],
])('%s of ten bytes', (header, range) => {
  expect(asksForPart(header)).toBe(true);
  expect(byteRange(header, 10)).toEqual(range);
});

it.each(['bytes=5-2', 'bytes=-', 'bytes=a-b', 'bytes=0-1,3-4', 'lines=1-2', undefined])(
  '%s is none that is answered with a part',
  (header) => {
    expect(asksForPart(header)).toBe(false);
  },
);
