/**
 * JSON whose names are sorted at every level, in UTF-16 units, without spaces: one text for all documents that say
 * the same to `JSON.parse`. Depth is bounded where documents are parsed.
 * @param cut a text that leaves a gap wherever it stands as a whole
 */
export function canonicalJson(value: unknown, cut?: string): string {
  if (typeof value !== 'object' || value === null)
    // No JSON value looks like it.
    return cut !== undefined && value === cut ? '?' : JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item, cut)).join(',')}]`;
  const object = value as Readonly<Record<string, unknown>>;
  const members: string[] = [];
  for (const key of Object.keys(object).sort()) {
    const member = object[key];
    if (member !== undefined) members.push(`${JSON.stringify(key)}:${canonicalJson(member, cut)}`);
  }
  return `{${members.join(',')}}`;
}
