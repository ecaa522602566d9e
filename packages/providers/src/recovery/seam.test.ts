import { describe, expect, it } from 'vitest';
import { lastWords } from './continued-request.ts';
import { Seam } from './seam.ts';

/** What a caller reads of a continuation in pieces; undefined = nobody knows where both meet. */
function joined(
  told: string,
  pieces: readonly string[],
  { isAsked = true, unseen = 0 } = {},
): string | undefined {
  const asked = isAsked ? lastWords(told) : undefined;
  const seam = new Seam({ told, asked, unseen });
  const fresh = pieces.map((piece) => seam.push(piece)).join('') + seam.end();
  return seam.isTorn ? undefined : told + fresh;
}

const begun = { isAsked: false };
const long = Array.from({ length: 40 }, (_, at) => `word${at * 7}`).join(' ');

describe('the seam between what was told and what continues it', () => {
  it.each([
    ['the last word', 'The quick brown', ['bro', 'wn fox'], 'The quick brown fox'],
    ['a word that was begun', 'It is inter', ['international'], 'It is international'],
    ['the last words', 'one two three four', ['three four', ' five'], 'one two three four five'],
    ['all of it', 'Once upon a time', ['Once upon', ' a time there'], 'Once upon a time there'],
    ['all of much', long, [`${long} on`], `${long} on`],
    ['more than it was asked to', long, [`${long.slice(50)} on`], `${long} on`],
    ['a part of what it was asked to', `${long} `, [`${long.slice(-30)} on`], `${long} on`],
  ])('lets a model that was asked in words repeat %s', (_, told, pieces, whole) => {
    expect(joined(told, pieces)).toBe(whole);
  });

  it.each([
    ['a refrain', 'ha ha '.repeat(40), 'ha ha!'],
    ['rows that are the same', '| 1 | 1 |\n'.repeat(20), '| 1 | 1 |\nend'],
    ['a refrain longer than what is asked for', `${long.slice(0, 110)}\n`.repeat(3), long],
    ['a word', 'it is very very ', 'very good'],
  ])('takes what was asked for as repeated once, where %s goes on', (_, told, rest) => {
    const asked = lastWords(told);
    expect(told.endsWith(asked)).toBe(true);
    expect(joined(told, [asked, rest])).toBe(told + rest);
    expect(joined(told, [...(asked + rest)])).toBe(told + rest);
  });

  it.each([
    ['begins without any of it', 'The quick brown', 'fox jumps'],
    ['goes on within a word', 'It is inter', 'national'],
    ['answers anew in other words', 'The quick brown fox ', 'Sure! The quick'],
    ['repeats a word that may be said twice', 'it is very ', 'very good'],
    ['stops while it repeats', 'one two three four', 'one two thr'],
    ['repeats half a word', 'bana', 'na'],
  ])('is torn where a model that was asked in words %s', (_, told, rest) => {
    expect(joined(told, [...rest])).toBeUndefined();
    expect(joined(told, [rest])).toBeUndefined();
  });

  it('is whole where the model says nothing more', () => {
    expect(joined('The end.', [])).toBe('The end.');
    expect(joined('The end.', ['The ', 'end.'])).toBe('The end.');
  });

  it('leaves alone what follows a begun answer, but for the blanks that it was not shown', () => {
    expect(joined('the cat and the ', ['the dog'], { ...begun, unseen: 1 })).toBe(
      'the cat and the the dog',
    );
    expect(joined('the cat \n', [' \n', 'sat'], { ...begun, unseen: 2 })).toBe('the cat \nsat');
    expect(joined('| 1 |\n| 1 |\n', ['| 1 |', '\nend'], { ...begun, unseen: 1 })).toBe(
      '| 1 |\n| 1 |\n| 1 |\nend',
    );
    expect(joined('It is inter', ['national'], begun)).toBe('It is international');
  });

  it('leaves out what a begun answer is begun with again, where that is no chance', () => {
    expect(joined(long, [`${long} on`], begun)).toBe(`${long} on`);
  });

  it('holds nothing that cannot be a repetition', () => {
    const seam = new Seam({ told: 'The quick brown', asked: 'The quick brown', unseen: 0 });
    expect(seam.push('The quick brown')).toBe('');
    expect(seam.push(' f')).toBe(' f');
    const after = new Seam({ told: 'The quick brown', asked: undefined, unseen: 0 });
    expect(after.push(' f')).toBe(' f');
  });
});
