/**
 * What an address says in words that are joined by something else than blanks, each
 * of its pieces as a text. Names of models and resources are few words, and none.
 */
export function addressWords(pathname: string, search: string): string[] {
  const pieces = pathname.split('/').map(decoded);
  for (const [name, value] of new URLSearchParams(search)) pieces.push(name, value);
  return pieces.flatMap((piece) => {
    const text = piece
      .replace(/(?<=\p{Ll})(?=\p{Lu})/gu, ' ')
      .replace(/[^\p{L}\p{M}\p{N}]+/gu, ' ')
      .trim();
    const words = text.match(/(?<!\S)\p{L}{2,}(?!\S)/gu) ?? [];
    return words.length >= wordsMin ? [text] : [];
  });
}

/** `claude-sonnet-latest` has as many. */
const wordsMin = 3;

function decoded(piece: string): string {
  try {
    return decodeURIComponent(piece);
  } catch {
    return piece;
  }
}
