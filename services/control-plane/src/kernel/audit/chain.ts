import { createHash } from 'node:crypto';
import type { AuditAction, AuditResource } from '@sluice/contracts/admin';

/** An entry before it has its place in the chain. */
export interface NewAuditEntry {
  organisationId: string;
  timestamp: Date;
  method: string;
  uri: string;
  requestId: string;
  requestBody: string;
  queryParams: string;
  requestHeaders: string;
  userId: string | null;
  /** `system` = nobody asked for it: a rule, a clock, the command line. */
  userType: 'user' | 'api_key' | 'system';
  apiKeyId: string | null;
  workspaceId?: string | null;
  responseStatusCode: number;
  /** Empty = of an operation that declares no change; it is not recorded. */
  resourceType: AuditResource | '';
  resourceId?: string | null;
  action: AuditAction | '';
  clientIp: string;
  country?: string | null;
  detail?: Record<string, unknown>;
  /** The resource before and after the change, JSON text with its secrets masked. */
  before?: string | null;
  after?: string | null;
}

/** What an organisation's chain begins with. */
export const chainStart: Buffer = Buffer.alloc(32);

/** An entry as it is kept: at its place, the detail as JSON text. */
export interface PlacedEntry
  extends Omit<NewAuditEntry, 'detail' | 'userType' | 'resourceType' | 'action'> {
  sequence: bigint;
  userType: string;
  resourceType: string;
  action: string;
  detail: string | null;
}

/**
 * The content of an entry as one text: a JSON array with a fixed order of
 * fields, so that two entries with the same content are the same bytes.
 */
export function canonicalEntry(entry: PlacedEntry): string {
  const fields: unknown[] = [
    entry.organisationId,
    entry.sequence.toString(),
    entry.timestamp.toISOString(),
    entry.method,
    entry.uri,
    entry.requestId,
    entry.requestBody,
    entry.queryParams,
    entry.requestHeaders,
    entry.userId,
    entry.userType,
    entry.apiKeyId,
    entry.workspaceId ?? null,
    entry.responseStatusCode,
    entry.resourceType,
    entry.resourceId ?? null,
    entry.action,
    entry.clientIp,
    entry.detail,
  ];
  // Entries had none of these once; those that have none are the bytes they were then.
  const { before = null, after = null, country = null } = entry;
  if (before !== null || after !== null || country !== null) fields.push(before, after);
  if (country !== null) fields.push(country);
  return JSON.stringify(fields);
}

/** Binds an entry to everything before it. */
export function entryHash(previousHash: Uint8Array, canonical: string): Buffer {
  return createHash('sha256').update(previousHash).update(canonical).digest();
}
