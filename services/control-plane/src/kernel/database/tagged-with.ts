/** Rows whose `tags` hold all of these. */
export function taggedWith(tags: Readonly<Record<string, string>> | undefined) {
  return Object.entries(tags ?? {}).map(([name, value]) => ({
    tags: { path: [name], equals: value },
  }));
}
