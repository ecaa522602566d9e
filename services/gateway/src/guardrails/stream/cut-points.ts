/** Where a held text may be cut: pure, and about one text. */

const sentenceEnd = /[.!?…]["'”’)\]]*(?=\s)|[。！？]["'”’）」』]*|\n/gu;

/** Behind the last sentence that is whole; 0 = none is. */
export function endOfSentences(text: string): number {
  let end = 0;
  for (const match of text.matchAll(sentenceEnd)) end = match.index + match[0].length;
  return end;
}

/** The position, moved back to the beginning of its word where that is near. */
export function wordBefore(text: string, at: number, least: number): number {
  if (at >= text.length) return text.length;
  for (let start = at; start > Math.max(least, at - wordLengthMax); start--)
    if (/\s/.test(text[start - 1] ?? '')) return start;
  // Not between the halves of a character.
  return /[\uDC00-\uDFFF]/.test(text[at] ?? '') && at > least ? at - 1 : at;
}

const wordLengthMax = 40;
