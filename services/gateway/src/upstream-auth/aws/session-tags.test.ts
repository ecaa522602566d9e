import { describe, expect, it } from 'vitest';
import { sessionTags, tagLists } from './session-tags.ts';

describe('sessionTags', () => {
  it('keeps what AWS allows, in one order', () => {
    expect(sessionTags([{ b: 'x y', a: 'Größe_.:/=+-@1' }])).toEqual([
      ['a', 'Größe_.:/=+-@1'],
      ['b', 'x y'],
    ]);
  });

  it('replaces what AWS forbids', () => {
    expect(sessionTags([{ 'a<b>': '{"c"}' }])).toEqual([['a_b_', '__c__']]);
  });

  it('leaves out reserved names, empty ones and those that differ by case only', () => {
    expect(sessionTags([{ 'aws:x': '1', 'AWS:y': '2', '': '3', Team: '4', team: '5' }])).toEqual([
      ['Team', '4'],
    ]);
  });

  it('cuts names at 128 characters, values at 256 and the list at 50', () => {
    const [tag] = sessionTags([{ ['k'.repeat(200)]: 'v'.repeat(300) }]);
    expect([tag?.[0].length, tag?.[1].length]).toEqual([128, 256]);
    const many = Object.fromEntries(Array.from({ length: 80 }, (_, i) => [`k${i}`, 'v']));
    expect(sessionTags([many])).toHaveLength(50);
  });

  it('lets no name of a caller’s take the place of an admin’s, however it is written', () => {
    const workspace = { team: 'a', 'cost<1>': 'x' };
    const key = { Team: 'b', owner: 'k' };
    for (const name of ['Team', 'TEAM', 'team', 'tEAM', 'cost>1<', 'Owner'])
      expect(sessionTags([workspace, key, { [name]: 'evil' }])).toEqual([
        ['cost_1_', 'x'],
        ['team', 'a'],
        ['owner', 'k'],
      ]);
  });

  it('keeps the admins’ places, however many names a caller sends', () => {
    const many = Object.fromEntries(Array.from({ length: 80 }, (_, i) => [`a${i}`, 'v']));
    const tags = sessionTags([{ team: 'a' }, { zone: 'z' }, many]);
    expect([tags.length, ...tags.slice(0, 2)]).toEqual([50, ['team', 'a'], ['zone', 'z']]);
  });
});

describe('tagLists', () => {
  it('falls back to the admins’ tags before it goes without any', () => {
    const admins = [['team', 'a']];
    expect(tagLists([{ team: 'a' }, {}, { b: '1' }])).toEqual([
      [...admins, ['b', '1']],
      admins,
      [],
    ]);
    expect(tagLists([{ team: 'a' }, {}, { Team: 'x' }])).toEqual([admins, []]);
    expect(tagLists([{}, {}, { b: '1' }])).toEqual([[['b', '1']], []]);
    expect(tagLists([{}, {}, {}])).toEqual([[]]);
  });
});
