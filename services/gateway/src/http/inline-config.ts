/** Whether the config header holds a document rather than the name of a saved one. */
export function isInlineConfig(sent: string): boolean {
  return sent.trimStart().startsWith('{');
}
