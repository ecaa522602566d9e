/** What one delta of a replayed stream holds at most, in UTF-16 units. */
export const replayPieceMax = 500;

/** Cuts a text for deltas; a surrogate pair is never cut. The empty text has no pieces. */
export function textPieces(text: string): string[] {
  const pieces: string[] = [];
  let start = 0;
  while (start < text.length) {
    let end = Math.min(start + replayPieceMax, text.length);
    if (end < text.length && isHighSurrogate(text, end - 1) && isLowSurrogate(text, end)) end--;
    pieces.push(text.slice(start, end));
    start = end;
  }
  return pieces;
}

function isHighSurrogate(text: string, index: number): boolean {
  return (text.charCodeAt(index) & 0xfc00) === 0xd800;
}

function isLowSurrogate(text: string, index: number): boolean {
  return (text.charCodeAt(index) & 0xfc00) === 0xdc00;
}
