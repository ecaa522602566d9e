/** `contains` becomes a LIKE, in which these characters would be a pattern. */
export function literally(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&');
}
