import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonPiece } from './json-strings.ts';

const json = fc.json({ maxDepth: 3 });

describe('jsonPiece', () => {
  it('has the strings and numbers of a document, without their escapes', () => {
    const raw = JSON.stringify({ to: 'a"b\n', list: [1.5e3, -2, 'é\\'], no: null });
    expect(jsonPiece(raw, false).values).toEqual([
      'to',
      'a"b\n',
      'list',
      '1500',
      '-2',
      'é\\',
      'no',
    ]);
  });

  it('cut anywhere that it names, its halves are what the whole is', () => {
    fc.assert(
      fc.property(json, fc.nat(), (raw, position) => {
        const whole = jsonPiece(raw, false);
        const at = whole.cutBefore(position % (raw.length + 1));
        const first = jsonPiece(raw.slice(0, at), false);
        const second = jsonPiece(raw.slice(at), whole.endsInString(at));
        const up = (values: readonly string[]) => values.map((value) => `${value}"\n`);
        const joined = first.withValues(up(first.values)) + second.withValues(up(second.values));
        expect(() => JSON.parse(joined)).not.toThrow();
        expect(first.withValues(first.values) + second.withValues(second.values)).toBe(raw);
        if (at === 0 || at === raw.length) expect(joined).toBe(whole.withValues(up(whole.values)));
      }),
    );
  });

  it('makes a text of a number that is replaced', () => {
    const piece = jsonPiece('{"phone":2025550123,"n":1}', false);
    const values = piece.values.map((value) => (value.length > 5 ? '{{PHONE_NUMBER_1}}' : value));
    expect(piece.withValues(values)).toBe('{"phone":"{{PHONE_NUMBER_1}}","n":1}');
  });

  it('has what is no JSON as it stands, and puts others there', () => {
    const piece = jsonPiece('card 4111 1111 {"a":true,"b":4} see, 12 below', false);
    expect(piece.values).toEqual(['card 4111 1111 ', 'a', 'b', '4', 'see', '12 below']);
    expect(piece.withValues(['X', 'a', 'b', '4', 'see', 'Y'])).toBe('X{"a":true,"b":4} see, Y');
  });

  it('never throws on what is no JSON, and changes nothing of it', () => {
    fc.assert(
      fc.property(fc.string(), fc.boolean(), (raw, inString) => {
        const piece = jsonPiece(raw, inString);
        expect(piece.withValues(piece.values)).toBe(raw);
      }),
    );
  });
});
