import { describe, expect, it } from 'vitest';
import { Seam } from './seam.ts';

function joined(told: string, pieces: readonly string[], asked: boolean, unseen = 0): string {
  const seam = new Seam({ told, unseen, mayRepeat: asked });
  return told + pieces.map((piece) => seam.push(piece)).join('') + seam.end();
}

describe('the seam between what was told and what continues it', () => {
  it.each([
    ['the last word', 'The quick brown', ['bro', 'wn fox'], 'The quick brown fox'],
    ['a word that was begun', 'It is inter', ['international'], 'It is international'],
    ['the last words', 'one two three four', ['three four', ' five'], 'one two three four five'],
    ['all of it', 'Once upon a time', ['Once upon', ' a time there'], 'Once upon a time there'],
    ['nothing', 'The quick brown', [' fox', ' jumps'], 'The quick brown fox jumps'],
  ])('lets a model that was asked in words repeat %s', (_, told, pieces, whole) => {
    expect(joined(told, pieces, true)).toBe(whole);
  });

  it.each([
    ['ha ha ', ['ha', '!'], 'ha ha ha!'],
    ['| 1 |\n| 1 |\n', ['| 1 |', '\nend'], '| 1 |\n| 1 |\n| 1 |\nend'],
    ['bana', ['na'], 'banana'],
  ])('takes what was said twice, or half a word, for no repetition: %j', (told, pieces, whole) => {
    expect(joined(told, pieces, true)).toBe(whole);
  });

  it('leaves alone what follows a begun answer, but for the blanks that it was not shown', () => {
    expect(joined('the cat and the ', ['the dog'], false, 1)).toBe('the cat and the the dog');
    expect(joined('the cat \n', [' \n', 'sat'], false, 2)).toBe('the cat \nsat');
  });

  it('holds nothing that cannot be a repetition', () => {
    const seam = new Seam({ told: 'The quick brown', unseen: 0, mayRepeat: true });
    expect(seam.push(' f')).toBe(' f');
    expect(seam.push('ox')).toBe('ox');
  });
});
