/** How much of an unreadable body is quoted. */
const quoteCharactersMax = 2048;

/** The message of an error whose body does not tell one. */
export function unreadable(text: string, status: number): string {
  const quote = text.trim().slice(0, quoteCharactersMax);
  return quote === '' ? `The provider answered ${status} without a body.` : quote;
}
