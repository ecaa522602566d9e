import type { MemberEdits } from '@sluice/providers';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { editMembers } from './edit-members.ts';

const edit = (text: string, edits: MemberEdits) => editMembers(Buffer.from(text), edits).toString();

describe('members that are edited in bytes', () => {
  it.each([
    ['{"a":1, "t" : 0.50 ,"b":1.0e+2}', { t: undefined }, '{"a":1 ,"b":1.0e+2}'],
    ['{ "t":0.5,\n "b":1.0 }', { t: undefined }, '{\n "b":1.0 }'],
    ['{"b":1,"t":true}', { t: undefined }, '{"b":1}'],
    ['{"t":1}', { t: undefined }, '{}'],
    ['{"t":1,"x":{"t":1},"\\u0074":2}', { t: undefined }, '{"x":{"t":1}}'],
    ['{"x":"é","t":{"a":[1,"}"]} }', { t: { b: 1 } }, '{"x":"é","t":{"b":1} }'],
    ['{"x":1 }', { t: 2 }, '{"x":1,"t":2 }'],
    ['{}', { t: 2 }, '{"t":2}'],
    ['{"t":1}', { t: undefined, u: 2 }, '{"u":2}'],
  ])('%s with %j is %s', (text, edits, expected) => {
    expect(edit(text, edits as MemberEdits)).toBe(expected);
  });

  it('leave the others of any document as they were', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue()),
        fc.jsonValue(),
        fc.nat(4),
        (others, value, space) => {
          const text = JSON.stringify({ ...others, cut: value, put: value, last: 1 }, null, space);
          const edited = JSON.parse(edit(text, { cut: undefined, put: [1] }));
          const { cut: _, ...kept } = JSON.parse(text);
          expect(edited).toEqual({ ...kept, put: [1] });
        },
      ),
    );
  });
});
