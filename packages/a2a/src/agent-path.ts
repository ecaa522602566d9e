/** Why the part of a path below an agent is not sent on. */
export class PathFault extends Error {
  override readonly name = 'PathFault';
}

/**
 * Refuses what one reader of a path takes for a step upwards and another does
 * not: dot segments, however encoded or followed by parameters, and separators
 * that are encoded. All else is sent on with its encoding as it came.
 * @param remainder what follows the agent's name, empty or from its slash on, without query
 * @throws PathFault
 */
export function checkRemainder(remainder: string): void {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  if (/[\u0000-\u0020\u007f-\uffff\\#]/.test(remainder))
    throw new PathFault('has a character that must be percent-encoded');
  if (/%(?![0-9a-f]{2})/i.test(remainder)) throw new PathFault('has a broken percent-encoding');
  if (/%(?:2f|5c|[01][0-9a-f]|7f)/i.test(remainder))
    throw new PathFault('has an encoded slash, backslash or control character');
  for (const segment of remainder.split('/')) {
    const plain = segment.replaceAll(/%2e/gi, '.').replaceAll(/%3b/gi, ';').split(';', 1)[0];
    if (plain === '.' || plain === '..') throw new PathFault('has a "." or ".." segment');
  }
}

/**
 * The path and query to ask at the upstream: what was registered, and below it
 * what follows. Without a remainder it is the registered address exactly.
 * @param search the caller's query with its question mark, or empty
 */
export function joinAgentPath(base: Readonly<URL>, remainder: string, search: string): string {
  const path =
    remainder === '' || remainder === '/'
      ? base.pathname
      : `${base.pathname.replace(/\/+$/, '')}${remainder}`;
  if (search === '' || search === '?') return `${path}${base.search}`;
  return base.search === '' ? `${path}${search}` : `${path}${base.search}&${search.slice(1)}`;
}

/** The segments of a path, decoded once, without empty ones: as forgiving as any server may be. */
export function segmentsOf(remainder: string): string[] {
  return remainder.split('/').flatMap((segment) => (segment === '' ? [] : [decoded(segment)]));
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    // Bytes that are no text: nobody's task is called so.
    return segment;
  }
}
