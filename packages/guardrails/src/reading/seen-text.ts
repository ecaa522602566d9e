import { setImmediate } from 'node:timers/promises';

/** What hides words from a reader, as the score names it. */
export type Disguise = 'hidden_characters' | 'homoglyphs' | 'spelling';

/** A text as it looks to who sees it. */
export interface SeenText {
  /** Without what has no width, and letters of other faces and widths, and look-alikes within words, as what they look like. */
  readonly text: string;
  readonly disguises: ReadonlySet<Disguise>;
  /** Texts of their own that are not to be seen: in tag characters, or written from right to left. */
  readonly hidden: readonly string[];
}

export function seeText(original: string): SeenText {
  const disguises = new Set<Disguise>();
  const hidden: string[] = [];
  let text = original;
  if (strange.test(text)) {
    text = text.replace(tagged, (run) => {
      hidden.push(
        String.fromCharCode(...[...run].map((unit) => (unit.codePointAt(0) ?? 0) & 0x7f)),
      );
      return '';
    });
    text = text.replace(turned, (_all, inner: string) => {
      disguises.add('hidden_characters');
      return [...inner].reverse().join('');
    });
    text = text.replace(withoutWidthInWord, () => {
      disguises.add('hidden_characters');
      return '';
    });
    text = text.replace(withoutWidth, '').replace(phrasesInOne, ' ').normalize('NFKC');
    // What has a letter of its own with them has become that: these are lines through and under letters.
    text = text.replace(marksOnLetters, '');
    text = text.replace(words, (word) => {
      if (word.length > 40 || !isMixed(word)) return word;
      const latin = word.replace(lookAlike, (letter) => latinOf.get(letter) ?? letter);
      if (latin === word || !/^[a-z']+$/i.test(latin)) return word;
      disguises.add('homoglyphs');
      return latin;
    });
  }
  return { text, disguises, hidden };
}

/** A few thousand characters: some milliseconds, whatever the text is. */
const sliceLength = 8 * 1024;

/**
 * How a text looks, with what is hidden in it; undefined = as it is written. Others have their turn between parts of a long one,
 * which ends between two words where it has any.
 */
export async function looksOf(original: string): Promise<string | undefined> {
  if (!strange.test(original)) return undefined;
  const seen: string[] = [];
  for (let at = 0; at < original.length; ) {
    if (at > 0) await setImmediate();
    const blank = original.lastIndexOf(' ', at + sliceLength);
    const isWhole = original.length - at <= sliceLength;
    const end = isWhole ? original.length : blank > at ? blank : at + sliceLength;
    const { text, hidden } = seeText(original.slice(at, end));
    seen.push(text, ...hidden.map((each) => `\n${each}\n`));
    at = end;
  }
  const looks = seen.join('');
  return looks === original ? undefined : looks;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII is meant.
const strange = /[^\x00-\x7f]/;
/** Flags of regions are a black flag with a few of these. */
const tagged = /(?<!\u{1f3f4})(?<![\u{e0020}-\u{e007f}])[\u{e0020}-\u{e007e}]{2,}\u{e007f}?/gu;
const turned = /[\u202e\u2067]([^\u202c\u2069\n]{1,500})[\u202c\u2069]?/g;
/** Between letters of scripts that have no use for it: others join and part letters by it. */
const withoutWidthInWord =
  /(?<=[A-Za-z])(?:\u00ad|[\u200b-\u200f\u2060-\u2064\ufeff]){1,8}(?=[A-Za-z])/g;
const withoutWidth = new RegExp(
  '[\\u00ad\\u034f\\u061c\\u180b-\\u180e\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u2064\\u2066-\\u206f' +
    '\\ufe00-\\ufe0f\\ufeff\\u{e0000}-\\u{e007f}\\u{e0100}-\\u{e01ef}]',
  'gu',
);

/** Two signs of Arabic stand for whole phrases: a text of them would be eighteen times as long. */
const phrasesInOne = /[\ufdfa\ufdfb]/g;

const marksOnLetters = /(?<=[A-Za-z0-9])[\u0300-\u036f]{1,20}/g;

const words = /(?<![\p{L}\p{N}'])[\p{L}\p{N}']{2,41}/gu;

/** Whether Latin letters stand beside others that look like some. */
function isMixed(word: string): boolean {
  return /[\u0370-\u03ff\u0400-\u04ff\u0530-\u058f]/.test(word) && /[A-Za-z]/.test(word);
}

const lookAlike = /[\u0370-\u03ff\u0400-\u04ff\u0530-\u058f]/g;
const latinOf: ReadonlyMap<string, string> = new Map(
  [
    'аaбbвbеeёeзzиuкkмmнhоoрpсcтtуyхxіiїiјjѕsԁdһhԛqԝwгrпnҽeվu',
    'АAВBЕEКKМMНHОOРPСCТTУYХXІIЈJЅS',
    'αaβbεeηnιiκkνvοoρpτtυuχxγyωw',
    'ΑAΒBΕEΖZΗHΙIΚKΜMΝNΟOΡPΤTΥYΧX',
    'սuօoցgոnհhեtզqյj',
  ].flatMap((pairs) =>
    [...pairs].flatMap((letter, at, all) =>
      at % 2 === 0 ? [[letter, all[at + 1] ?? letter] as const] : [],
    ),
  ),
);
