/** Conditions that several stores ask for. */

/** `contains` becomes a LIKE, in which these characters would be a pattern. */
export function literally(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&');
}

/** Rows whose `tags` hold all of these. */
export function taggedWith(tags: Readonly<Record<string, string>> | undefined) {
  return Object.entries(tags ?? {}).map(([name, value]) => ({
    tags: { path: [name], equals: value },
  }));
}
