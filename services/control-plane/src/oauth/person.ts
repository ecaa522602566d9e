import {
  hashServiceKey,
  isWellFormedServiceKey,
  type KeyType,
  standingIn,
} from '@sluice/contracts';
import type { Database } from '../kernel/database/client.ts';
import { isUuid } from '../kernel/names/ids.ts';
import { effectiveSettings } from '../kernel/tenancy/settings.ts';
import { effectiveScopes } from '../people/authentication/authenticate.ts';
import { findLoginByHash, findLoginBySecret, type LoginRow, listLoginsOfUser } from './store.ts';

/** Somebody who logged in with a key of their own, and may use MCP servers of its workspace. */
export interface Person {
  /** The secret that they sent, by its id: what they stand for ends with it. */
  readonly secretId: string;
  readonly keyId: string;
  readonly organisationId: string;
  readonly workspaceId: string;
  readonly workspaceSlug: string;
  readonly workspaceName: string;
  readonly userId: string;
  readonly email: string;
  readonly name: string;
  /** Unix ms at which the key or its secret ends; undefined = never. */
  readonly endsAtMs: number | undefined;
}

/** Why a key does not log anybody in. */
export type LoginFault = 'unknown' | 'no_person' | 'not_allowed';

/** The same, for the person. */
export const faultTexts: Readonly<Record<LoginFault | 'no_key' | 'unknown_provider', string>> = {
  no_key:
    'You have no user key, with the scope mcp.invoke, of a workspace that has this MCP server: an administrator can make one.',
  unknown_provider: 'Nobody logs in there for this MCP server, or it was tried too often.',
  unknown: 'This is no key that works.',
  no_person:
    'This key is a program’s, or an organisation’s. Log in with a user key of the workspace: it stands for you.',
  not_allowed: 'You, or this key, may not use MCP servers: it needs the scope mcp.invoke.',
};

/** The scope that a key needs to use MCP servers. */
const neededScope = 'mcp.invoke';

export async function personOfKey(
  db: Database,
  key: string,
  peppers: readonly Buffer[],
  now: Date,
): Promise<Person | LoginFault> {
  if (!isWellFormedServiceKey(key)) return 'unknown';
  const row = await findLoginByHash(
    db,
    peppers.map((pepper) => hashServiceKey(key, pepper)),
  );
  return row === undefined ? 'unknown' : personOf(row, now);
}

/** The person as they are now; undefined = they may not use MCP servers any more. */
export async function personOfSecret(
  db: Database,
  secretId: string,
  now: Date,
): Promise<Person | undefined> {
  if (!isUuid(secretId)) return undefined;
  const row = await findLoginBySecret(db, secretId);
  const person = row === undefined ? 'unknown' : personOf(row, now);
  return typeof person === 'string' ? undefined : person;
}

/** A person who is known otherwise, by the oldest key of theirs in the workspace that lets them use MCP servers. */
export async function personOfUser(
  db: Database,
  user: { userId: string; workspaceId: string },
  now: Date,
): Promise<Person | undefined> {
  for (const row of await listLoginsOfUser(db, user)) {
    const person = personOf(row, now);
    if (typeof person !== 'string') return person;
  }
  return undefined;
}

function personOf(row: LoginRow, now: Date): Person | LoginFault {
  const ends = [row.keyExpiresAt, row.secretExpiresAt].flatMap((date) =>
    date === null ? [] : [date.getTime()],
  );
  const endsAtMs = ends.length === 0 ? undefined : Math.min(...ends);
  if (endsAtMs !== undefined && endsAtMs <= now.getTime()) return 'unknown';
  if (row.suspendedAt !== null || row.workspaceStatus === 'archived') return 'unknown';
  const { userId, workspaceId, workspaceSlug, workspaceName } = row;
  if (
    row.type !== 'workspace-user' ||
    userId === null ||
    workspaceId === null ||
    workspaceSlug === null ||
    workspaceName === null
  )
    return 'no_person';
  const standing = standingIn(row.userRole ?? undefined, row.memberRole ?? undefined);
  const settings = effectiveSettings(row.organisationSettings, row.workspaceSettings ?? undefined);
  const scopes = effectiveScopes(row.type as KeyType, row.scopes, standing, settings);
  // Of keys of before, scopes may be written with a colon.
  if (!scopes.some((scope) => scope.replace(':', '.') === neededScope)) return 'not_allowed';
  return {
    secretId: row.secretId,
    keyId: row.keyId,
    organisationId: row.organisationId,
    workspaceId,
    workspaceSlug,
    workspaceName,
    userId,
    email: row.email ?? '',
    name: [row.firstName, row.lastName].filter(Boolean).join(' ') || (row.email ?? ''),
    endsAtMs,
  };
}
