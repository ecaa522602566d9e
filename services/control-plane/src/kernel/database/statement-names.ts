/** Longer texts are lists of values written out; such a statement hardly comes again. */
const TextMax = 8_192;

/** Texts noted as seen once, per name there may be. */
const SeenPerName = 4;

/**
 * Names for statements that come again: Postgres parses and plans a named one once for each
 * connection. It keeps it as long as the connection lasts, so there are at most `max` names, and a
 * text gets its own when it comes for the second time. All others are '', which is no name.
 */
export function createStatementNames(max: number): (query: { sql: string }) => string {
  const names = new Map<string, string>();
  const seen = new Set<string>();

  return ({ sql }) => {
    const name = names.get(sql);
    if (name !== undefined) return name;
    if (names.size >= max || sql.length > TextMax) return '';
    if (!seen.delete(sql)) {
      if (seen.size >= max * SeenPerName) seen.clear();
      seen.add(sql);
      return '';
    }
    const given = `s${names.size + 1}`;
    names.set(sql, given);
    if (names.size === max) seen.clear();
    return given;
  };
}
