/**
 * Callers and upstreams send names of any length; what is kept of them must
 * stay small: a record for every queue it passes, a price for the memory it takes.
 */
export function clipped(text: string): string {
  return text.length <= textLengthMax ? text : text.slice(0, textLengthMax);
}

const textLengthMax = 2048;
