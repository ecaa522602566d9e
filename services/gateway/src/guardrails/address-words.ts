/**
 * What an address says in words that are joined by something else than blanks, each
 * of its pieces as a text. Names of models and resources are few words, and none.
 */
export function addressWords(pathname: string, search: string): string[] {
  const pieces = pathname.split('/');
  for (const [name, value] of new URLSearchParams(search)) pieces.push(name, value);
  return pieces.flatMap((piece) => {
    const text = decoded(piece)
      .replace(/(?<=\p{Ll})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/gu, ' ')
      .replace(/[^\p{L}\p{M}\p{N}]+/gu, ' ')
      .trim();
    const words = text.match(/(?<!\S)\p{L}{2,}(?!\S)/gu) ?? [];
    return words.length >= wordsMin ? [text] : [];
  });
}

/** `claude-sonnet-latest` has as many. */
const wordsMin = 3;

/** Whoever answers may decode once more, and again. */
function decoded(piece: string): string {
  let text = piece;
  for (let times = 0; times < decodingsMax && text.includes('%'); times++)
    text = text.replace(/(?:%[0-9a-f]{2})+/gi, (escapes) => {
      try {
        return decodeURIComponent(escapes);
      } catch {
        return escapes;
      }
    });
  return text;
}

const decodingsMax = 5;
