/**
 * What of a text people do not see and models read. Marks that belong to visible ones are left alone: selectors and joiners of
 * emoji, joiners between letters of scripts that need them.
 * @returns the code points that are found first, as `U+200B`; empty = none
 */
export function hiddenCharacters(text: string): string[] {
  if (!suspect.test(text)) return [];
  const found = new Set<string>();
  const visible = text.replace(emojiSequence, '').replace(joinedLetters, '');
  for (const [character] of visible.matchAll(hidden)) {
    found.add(`U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`);
    if (found.size === shownMax) break;
  }
  return [...found];
}

const shownMax = 8;

const ranges =
  // Controls but for tab and line ends: terminals hide text by them.
  '\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f' +
  '\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f\\u202a-\\u202e' +
  '\\u2060-\\u206f\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff9-\\ufffb' +
  '\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e01ef}';
const suspect = new RegExp(`[${ranges}]`, 'u');
const hidden = new RegExp(`[${ranges}]`, 'gu');

/** An emoji with what belongs to it; a flag of a region is a black flag and at most seven tags. */
const emojiSequence =
  /(?:\u{1f3f4}[\u{e0020}-\u{e007e}]{1,7}\u{e007f}|[\p{Extended_Pictographic}\p{Emoji_Modifier}0-9#*](?:\ufe0e|\ufe0f)?(?:\u200d(?=\p{Extended_Pictographic}))?)/gu;
/** One joiner after a letter that is not Latin, Greek or Cyrillic, and before another. */
const joinedLetters =
  /(?<=(?![\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}])[\p{L}\p{M}])[\u200c\u200d](?=(?![\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}])[\p{L}\p{M}])/gu;
