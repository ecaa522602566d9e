import { describe, expect, it } from 'vitest';
import { sessionTags } from './session-tags.ts';

describe('sessionTags', () => {
  it('keeps what AWS allows, in one order', () => {
    expect(sessionTags({ b: 'x y', a: 'Größe_.:/=+-@1' })).toEqual([
      ['a', 'Größe_.:/=+-@1'],
      ['b', 'x y'],
    ]);
  });

  it('replaces what AWS forbids', () => {
    expect(sessionTags({ 'a<b>': '{"c"}' })).toEqual([['a_b_', '__c__']]);
  });

  it('leaves out reserved names, empty ones and those that differ by case only', () => {
    expect(sessionTags({ 'aws:x': '1', 'AWS:y': '2', '': '3', Team: '4', team: '5' })).toEqual([
      ['Team', '4'],
    ]);
  });

  it('cuts names at 128 characters, values at 256 and the list at 50', () => {
    const [tag] = sessionTags({ ['k'.repeat(200)]: 'v'.repeat(300) });
    expect([tag?.[0].length, tag?.[1].length]).toEqual([128, 256]);
    const many = Object.fromEntries(Array.from({ length: 80 }, (_, i) => [`k${i}`, 'v']));
    expect(sessionTags(many)).toHaveLength(50);
  });
});
