import { plainText } from './plain-text.ts';

/** What hides words from a reader, as the score names it. */
export type Disguise = 'hidden_characters' | 'homoglyphs' | 'spelling';

/** A text as a model reads it, whatever it was written with. */
export interface ReadableText {
  /** Lower case, without accents, look-alikes and what has no width. */
  readonly text: string;
  readonly disguises: ReadonlySet<Disguise>;
  /** Texts of their own that are not to be seen: in tag characters, or written from right to left. */
  readonly hidden: readonly string[];
}

export function readText(original: string): ReadableText {
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
    text = text.replace(mixedWord, (word) => {
      const latin = word.replace(lookAlike, (letter) => latinOf.get(letter) ?? letter);
      if (latin === word || !/^[a-z']+$/i.test(latin)) return word;
      disguises.add('homoglyphs');
      return latin;
    });
  }
  text = plainText(text);
  const joined = text.replace(spacedOut, (run) => run.replace(/[^\p{L}\p{N}]/gu, ''));
  if (joined.length !== text.length) disguises.add('spelling');
  if (hidden.length > 0) disguises.add('hidden_characters');
  return { text: joined, disguises, hidden };
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

/** Words in which Latin letters stand beside others. */
const mixedWord =
  /(?<![\p{L}\p{N}])(?=[\p{L}']{0,40}[A-Za-z])(?=[\p{L}']{0,40}[\u0370-\u03ff\u0400-\u04ff\u0530-\u058f])[\p{L}']{2,40}(?![\p{L}\p{N}])/gu;
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

/** Letters with something between each of them: `i.g.n.o.r.e`. */
const spacedOut =
  /(?<![\p{L}\p{N}])[\p{L}\p{N}](?:([ ._*-])[\p{L}\p{N}])(?:\1[\p{L}\p{N}]){2,60}(?![\p{L}\p{N}])/gu;
