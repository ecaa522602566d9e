import { hasDotSegment, withoutTrailingSlashes } from '../http/request-target.ts';

/** A base address that a stored credential may be sent to, with all that is below it. */
export interface AllowedHost {
  origin: string;
  /** Without a slash at its end; empty = every path. */
  path: string;
}

/** What an admin wrote: addresses with their scheme, since a key must not go in the clear where it was not meant to. */
export function readAllowedHosts(entries: readonly string[]): readonly AllowedHost[] {
  return entries.flatMap((entry) => addressOf(entry) ?? []);
}

/** The address as it will be called where one of these covers it, else undefined. */
export function coveredBy(url: string, allowed: readonly AllowedHost[]): string | undefined {
  const wanted = addressOf(url);
  if (wanted === undefined) return undefined;
  const { origin, path } = wanted;
  const isCovered = allowed.some(
    (host) => host.origin === origin && (path === host.path || path.startsWith(`${host.path}/`)),
  );
  return isCovered ? `${origin}${path}` : undefined;
}

/** Whether two addresses are the same but for how they are written. */
export function isSameAddress(one: string, other: string): boolean {
  const [first, second] = [addressOf(one), addressOf(other)];
  return first !== undefined && first.origin === second?.origin && first.path === second.path;
}

/** Undefined for what is no plain address: such are never the same as another. */
function addressOf(text: string): AllowedHost | undefined {
  const trimmed = text.trim();
  // What reads differently to another parser is not compared at all.
  if (!/^https?:\/\/[^\s\\@?#]+$/i.test(trimmed) || hasDotSegment(trimmed)) return undefined;
  if (!URL.canParse(trimmed)) return undefined;
  const { origin, pathname } = new URL(trimmed);
  return { origin, path: withoutTrailingSlashes(pathname) };
}
