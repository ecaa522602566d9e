/** How much of an unreadable body is quoted. */
const QUOTE_CHARACTERS_MAX = 2048;

/** The message of an error whose body does not tell one. */
export function unreadable(text: string, status: number): string {
  const quote = text.trim().slice(0, QUOTE_CHARACTERS_MAX);
  return quote === '' ? `The provider answered ${status} without a body.` : quote;
}
