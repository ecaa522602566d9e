import type { JsonValue } from '@sluice/contracts';
import { isObject } from '../envelope/read-message.ts';
import { type Sealer, sealedBodyLengthMax } from '../sealing/sealer.ts';

/**
 * Ids of members as callers of a merged server see them: cursors, tasks and ids of events name the member, sealed
 * together with the server, so that none of another server opens.
 */
export type MemberIdKind = 'cursor' | 'task' | 'event';

export interface MemberId {
  /** Id of the member. */
  readonly member: string;
  /** As the member gave it. */
  readonly id: string;
}

export function sealMemberId(
  sealer: Sealer,
  kind: MemberIdKind,
  server: string,
  { member, id }: MemberId,
): string {
  return sealer.seal(`member ${kind}`, [server, member, id], sealedBodyLengthMax);
}

/** Undefined where it is none of this server's. */
export function openMemberId(
  sealer: Sealer,
  kind: MemberIdKind,
  server: string,
  text: string,
): MemberId | undefined {
  const payload = sealer.open(`member ${kind}`, text);
  if (!Array.isArray(payload) || payload[0] !== server) return undefined;
  const [, member, id] = payload;
  return typeof member === 'string' && typeof id === 'string' ? { member, id } : undefined;
}

/** Where a walk through the pages of all members stands: the member that is read, and its cursor. */
export interface PageCursor {
  readonly member: string;
  /** Undefined = its first page. */
  readonly cursor: string | undefined;
}

/** The cursor of the next page of a merged list. @param owner the same text for the same caller at every gateway */
export function sealPageCursor(
  sealer: Sealer,
  server: string,
  method: string,
  owner: string,
  { member, cursor }: PageCursor,
): string {
  return sealer.seal(
    'pages',
    { s: server, m: method, o: owner, b: member, c: cursor ?? null },
    sealedBodyLengthMax,
  );
}

/** Undefined where the text is no cursor of this list for this caller: −32602 (L12). */
export function openPageCursor(
  sealer: Sealer,
  server: string,
  method: string,
  owner: string,
  text: string,
): PageCursor | undefined {
  const payload: JsonValue | undefined = sealer.open('pages', text);
  if (!isObject(payload) || payload.s !== server || payload.m !== method || payload.o !== owner)
    return undefined;
  const { b: member, c: cursor } = payload;
  if (typeof member !== 'string' || (cursor !== null && typeof cursor !== 'string'))
    return undefined;
  return { member, cursor: cursor ?? undefined };
}

const scheme = 'mcp-member';

/**
 * A member's URI as callers of a merged server see it: readable, and of its own scheme where two members could have the
 * same. Templates keep their expressions.
 */
export function mergedUri(member: string, uri: string): string {
  return `${scheme}://${encodeURIComponent(member)}/${uri}`;
}

/** Undefined where it names no member. */
export function memberUri(
  merged: string,
): { readonly member: string; readonly uri: string } | undefined {
  const prefix = `${scheme}://`;
  if (!merged.startsWith(prefix)) return undefined;
  const slash = merged.indexOf('/', prefix.length);
  if (slash === -1) return undefined;
  const member = decoded(merged.slice(prefix.length, slash));
  // One spelling of a member, or two URIs would be one resource.
  if (member === undefined || mergedUri(member, merged.slice(slash + 1)) !== merged)
    return undefined;
  return { member, uri: merged.slice(slash + 1) };
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
