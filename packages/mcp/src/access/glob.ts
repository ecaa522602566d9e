/** `*` stands for any text, `?` for one character; all else for itself, in its case. */
export type Glob = (text: string) => boolean;

export function compileGlob(pattern: string): Glob {
  const pieces = pattern.split('*');
  if (pieces.length === 1 && !pattern.includes('?')) return (text) => text === pattern;
  const first = pieces[0] as string;
  const last = pieces.at(-1) as string;
  const middle = pieces.slice(1, -1).filter((piece) => piece !== '');
  if (pieces.length === 1) return (text) => text.length === first.length && isAt(text, first, 0);
  const lengthMin = pattern.length - (pieces.length - 1);
  return (text) => {
    if (text.length < lengthMin || !isAt(text, first, 0)) return false;
    const end = text.length - last.length;
    if (!isAt(text, last, end)) return false;
    // What stands earliest leaves the most to what follows.
    let at = first.length;
    for (const piece of middle) {
      const found = find(text, piece, at, end);
      if (found === -1) return false;
      at = found + piece.length;
    }
    return at <= end;
  };
}

function find(text: string, piece: string, from: number, end: number): number {
  if (!piece.includes('?')) {
    const found = text.indexOf(piece, from);
    return found !== -1 && found + piece.length <= end ? found : -1;
  }
  for (let at = from; at + piece.length <= end; at++) if (isAt(text, piece, at)) return at;
  return -1;
}

function isAt(text: string, piece: string, start: number): boolean {
  if (!piece.includes('?')) return text.startsWith(piece, start);
  for (let at = 0; at < piece.length; at++)
    if (piece[at] !== '?' && piece[at] !== text[start + at]) return false;
  return start + piece.length <= text.length;
}
