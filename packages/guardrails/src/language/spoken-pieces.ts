/** Pieces of a text that are language: code, addresses and numbers are none. */
export interface SpokenPieces {
  readonly pieces: readonly string[];
  /** Of all pieces. */
  readonly letters: number;
}

/** Some pieces from all over the text, each long enough to tell what language it is in. */
export function spokenPieces(text: string): SpokenPieces {
  const step = Math.max(pieceLength, Math.ceil(text.length / piecesMax));
  const pieces: string[] = [];
  let letters = 0;
  for (let at = 0; at < text.length; at += step) {
    const last = text.length - (at + step);
    // What is left at the end is too short to be a piece.
    const isEnd = last > 0 && last < pieceLength / 2;
    const piece = spoken(text.slice(at, at + pieceLength + (isEnd ? last : 0)));
    const count = lettersIn(piece);
    if (count > 0) pieces.push(piece);
    letters += count;
    if (isEnd) break;
  }
  return { pieces, letters };
}

export function lettersIn(text: string): number {
  let count = 0;
  // A sign of Chinese or a syllable of Korean says as much as some letters.
  for (const [run] of text.matchAll(/\p{L}+/gu))
    count +=
      run.length * (/[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}]/u.test(run) ? 3 : 1);
  return count;
}

function spoken(text: string): string {
  return text.replace(unspoken, ' ').trim();
}

/** Fenced code, addresses, and words with digits. */
const unspoken =
  /```[^`]{0,300}(?:```|$)|https?:\/\/\S{1,300}|\b[\w.+-]{1,64}@[\w.-]{1,100}|(?<![\p{L}\p{N}])[\p{L}-]{0,20}\p{N}[\p{L}\p{N}-]{0,40}/gu;

/** A sentence or two. */
const pieceLength = 160;
const piecesMax = 48;
