import { ownTime } from '@sluice/testkit/own-time';
import { describe, expect, it } from 'vitest';
import { headerParameters } from './header-parameters.ts';

describe('headerParameters', () => {
  it.each<[string, [string, string][] | undefined]>([
    ['form-data', []],
    [
      'form-data; name="a"; filename="b"',
      [
        ['name', 'a'],
        ['filename', 'b'],
      ],
    ],
    ['multipart/form-data;boundary=x', [['boundary', 'x']]],
    ['a ; B = x', undefined],
    [
      'a\t; \tB=x \t; c="" ',
      [
        ['b', 'x'],
        ['c', ''],
      ],
    ],
    ['a; b=x;', [['b', 'x']]],
    ['a; b=x; ', [['b', 'x']]],
    ['a; b=x;;', undefined],
    ['a; b', undefined],
    ['a; =x', undefined],
    ['a; b="x', undefined],
    ['a; b="x\\"', undefined],
    ['a; b="x" y', undefined],
    ['a; b=x"y"', undefined],
    ['a; b=x; B=y', undefined],
    ['a; b="x;\\"\\\\; c=d"', [['b', 'x;"\\; c=d']]],
    ['a; b="C:\\s.mp3"', [['b', 'C:\\s.mp3']]],
  ])('reads %s', (value, parameters) => {
    const read = headerParameters(value);
    expect(read === undefined ? undefined : [...read]).toEqual(parameters);
  });

  it('refuses what is longer than any real one', () => {
    expect(headerParameters(`a; b="${'x'.repeat(9_000)}"`)).toBeUndefined();
  });

  it.each([' ', '\t', ';', '; ', '"', '\\', '; a="', 'a=', ' ;', '=', '; b=x '])(
    'is done at once with 64 kB of %j',
    (piece) => {
      const spentMs = ownTime();
      for (const length of [8_000, 60_000])
        for (const end of ['', 'x'])
          headerParameters(`form-data; a=b${piece.repeat(length / piece.length)}${end}`);
      expect(spentMs()).toBeLessThan(100);
    },
  );
});
