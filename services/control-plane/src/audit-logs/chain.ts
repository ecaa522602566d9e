import { createHash } from 'node:crypto';

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
  resourceType: string;
  resourceId?: string | null;
  action: string;
  clientIp: string;
  detail?: Record<string, unknown>;
  /** The resource before and after the change, JSON text with its secrets masked. */
  before?: string | null;
  after?: string | null;
}

/** What an organisation's chain begins with. */
export const chainStart: Buffer = Buffer.alloc(32);

/**
 * The content of an entry as one text: a JSON array with a fixed order of
 * fields, so that two entries with the same content are the same bytes.
 */
export function canonicalEntry(entry: NewAuditEntry, sequence: bigint): string {
  const fields: unknown[] = [
    entry.organisationId,
    sequence.toString(),
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
    entry.detail === undefined ? null : JSON.stringify(entry.detail),
  ];
  // Entries had neither once; those that have none are the bytes they were then.
  const before = entry.before ?? null;
  const after = entry.after ?? null;
  if (before !== null || after !== null) fields.push(before, after);
  return JSON.stringify(fields);
}

/** Binds an entry to everything before it. */
export function entryHash(previousHash: Buffer, canonical: string): Buffer {
  return createHash('sha256').update(previousHash).update(canonical).digest();
}
