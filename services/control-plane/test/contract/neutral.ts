import type { Context } from './example.ts';

/** When everything of a recorded call happens. */
const recordedAt = Date.parse('2026-01-15T09:30:00Z');
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

const uuids = /[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/g;
const mailboxes = new RegExp(`${uuids.source}@example\\.org`, 'g');
/** Of a clock: what is written in a test has no milliseconds. */
const instants = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g;
/** What secrets, links and states are made of. */
const tokens = /[\w-]{32,}/g;
const digests = /\b[0-9a-f]{32,}\b/g;
/** Ids, and what our slugs and those of tests end with. */
const idsAndParts = new RegExp(
  `(${uuids.source})|(?<=-)(?:[0-9a-f]{12}|[0-9a-f]{6})(?![\\w-])`,
  'g',
);
const maskedEnds = /(?<=\*{3})\w{2}(?=\\?"|$)/g;
const expiries = /(?<=[?&]expires=)\d+/g;
const firstPart = 0x1a2b3d;
const ports = /(?<=127\.0\.0\.1:)\d+/g;

/**
 * Takes what is different in each run out of values of one call: ids, instants, secrets. The same id is the
 * same in all values that go through the same function, and ids are numbered as they come.
 */
export function createNeutral(context: Context, now = Date.now()): (value: unknown) => unknown {
  const numbered = new Map<string, string>();
  const numberOf = (id: string) => {
    const known =
      numbered.get(id) ?? `5f1d0c3a-7b2e-4c6d-9a10-${`${numbered.size + 1}`.padStart(12, '0')}`;
    numbered.set(id, known);
    return known;
  };
  for (const id of [context.organisationId, context.workspaceId, context.ownerId]) numberOf(id);
  const parts = new Map<string, string>();
  const partOf = (part: string) => {
    const known = parts.get(part) ?? (firstPart + parts.size).toString(16);
    parts.set(part, known);
    return known;
  };
  const neutralText = (text: string) =>
    text
      .replaceAll(context.workspaceSlug, 'ws-main')
      .replace(mailboxes, 'ann@example.org')
      .replace(digests, (digest) => 'a1b2c3d4e5f60718'.repeat(8).slice(0, digest.length))
      .replace(tokens, (token) => (isSecret(token) ? secretLike(token) : token))
      .replace(idsAndParts, (found, id?: string) =>
        id === undefined ? partOf(found) : numberOf(id),
      )
      .replace(maskedEnds, 'Ab')
      .replace(expiries, `${recordedAt / 1000}`)
      .replace(ports, '8787')
      .replace(instants, (instant) => {
        const since = Math.round((Date.parse(instant) - now) / minuteMs) * minuteMs;
        return Math.abs(since) > 400 * 24 * hourMs
          ? instant
          : new Date(recordedAt + since).toISOString();
      });
  const neutral = (value: unknown): unknown => {
    if (typeof value === 'string') return neutralText(value);
    if (typeof value === 'number') return Math.abs(value - now) < 24 * hourMs ? recordedAt : value;
    if (Array.isArray(value)) return value.map(neutral);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [neutralText(name), neutral(inner)]),
    );
  };
  return neutral;
}

/** Random bytes as text: letters of both kinds and digits, which no name of ours mixes. */
function isSecret(token: string): boolean {
  return /[a-z]/.test(token) && /[A-Z]/.test(token) && /\d/.test(token) && !token.match(uuids);
}

/** The prefix tells what kind of secret it is. */
function secretLike(token: string): string {
  const [prefix = ''] = token.match(/^[a-z]{2,5}[_-]/) ?? [];
  return `${prefix}EXAMPLE-0000-NOT-A-SECRET`;
}
