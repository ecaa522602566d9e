import type { QueryOf } from '@sluice/contracts/admin';
import { type AuditEntry, Prisma } from '../../generated/prisma/client.ts';
import type { Database } from '../../kernel/database/client.ts';
import { paged } from '../../kernel/http/shapes.ts';
import type { ChainHead } from './verify.ts';

export type AuditRow = AuditEntry;

/** Whose entries. */
export interface AuditScope {
  readonly organisationId: string;
  /** Undefined = of all workspaces, and of none. */
  readonly workspaceId: string | undefined;
}

type AuditFilters = Omit<QueryOf<'audit-logs.export'>, 'cursor' | 'limit'>;

function entriesWhere(scope: AuditScope, query: AuditFilters): Prisma.AuditEntryWhereInput {
  return {
    organisationId: scope.organisationId,
    timestamp: { gte: query.start_time, lte: query.end_time },
    method: query.method,
    uri: query.uri,
    requestId: query.request_id,
    userId: query.user_id?.toLowerCase(),
    userType: query.user_type === 'api_key' ? { not: 'user' } : query.user_type,
    workspaceId: scope.workspaceId,
    responseStatusCode: query.response_status_code,
    resourceType: query.resource_type,
    action: query.action,
    clientIp: query.client_ip,
    country: query.country,
  };
}

/** Newest first. */
export async function listAuditEntries(
  db: Database,
  scope: AuditScope,
  query: QueryOf<'audit-logs.list'>,
): Promise<{ rows: AuditRow[]; total: number }> {
  const where = entriesWhere(scope, query);
  const [rows, total] = await Promise.all([
    db.auditEntry.findMany({ where, orderBy: { sequence: 'desc' }, ...paged(query) }),
    db.auditEntry.count({ where }),
  ]);
  return { rows, total };
}

/** Oldest first, page by page, from behind the cursor; ends with whoever waited. */
export async function* exportedEntries(
  db: Database,
  scope: AuditScope,
  { cursor = 0, limit = exportedByDefault, ...filters }: QueryOf<'audit-logs.export'>,
  signal: AbortSignal,
): AsyncGenerator<AuditRow[]> {
  const where = entriesWhere(scope, filters);
  // As the export tells who did it; a list has but the two published kinds.
  if (filters.user_type === 'api_key') where.userType = 'api_key';
  for (let left = limit, last = BigInt(cursor); left > 0 && !signal.aborted; ) {
    const take = Math.min(left, entriesPerPage);
    const page = await db.auditEntry.findMany({
      where: { ...where, sequence: { gt: last } },
      orderBy: { sequence: 'asc' },
      take,
    });
    yield page;
    if (page.length < take) return;
    left -= page.length;
    last = page.at(-1)?.sequence ?? last;
  }
}

const exportedByDefault = 10_000;

/** Where the chain of an organisation ends, by its own record. */
export async function readChainHead(db: Database, organisationId: string): Promise<ChainHead> {
  const { auditSequence, auditHash } = await db.organisation.findUniqueOrThrow({
    where: { id: organisationId },
    select: { auditSequence: true, auditHash: true },
  });
  return { sequence: auditSequence, hash: auditHash };
}

/** Entries hold bodies: so many of the largest are a few tens of megabytes. */
const entriesPerPage = 500;

/** The chain from its first entry up to this sequence, page by page. */
export async function* readChain(
  db: Database,
  organisationId: string,
  upTo: bigint,
): AsyncGenerator<AuditRow[]> {
  for (let last = -1n; ; ) {
    const page = await db.auditEntry.findMany({
      where: { organisationId, sequence: { gt: last, lte: upTo } },
      orderBy: { sequence: 'asc' },
      take: entriesPerPage,
    });
    yield page;
    if (page.length < entriesPerPage) return;
    last = page.at(-1)?.sequence ?? last;
  }
}

/** The first entry behind the recorded end. One statement: head and entries are of one moment. */
export async function findEntryBeyondHead(
  db: Database,
  organisationId: string,
): Promise<{ sequence: bigint; id: string } | undefined> {
  const [entry] = await db.$queryRaw<{ sequence: bigint; id: string }[]>(
    Prisma.sql`SELECT e.sequence, e.id::text FROM audit_entries e
      JOIN organisations o ON o.id = e.organisation_id
      WHERE e.organisation_id = ${organisationId}::uuid AND e.sequence > o.audit_sequence
      ORDER BY e.sequence LIMIT 1`,
  );
  return entry;
}

/** Oldest first. */
export async function listOrganisationIds(db: Database): Promise<string[]> {
  const rows = await db.organisation.findMany({
    select: { id: true },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  });
  return rows.map((row) => row.id);
}
