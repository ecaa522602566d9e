import type { QueryOf } from '@sluice/contracts/admin';
import type { Prisma, RateLimitsPolicy } from '../../generated/prisma/client.ts';
import type { Database } from '../../kernel/database/client.ts';
import { paged } from '../../kernel/http/shapes.ts';

export type RateLimitsPolicyRow = RateLimitsPolicy;

export function findPolicy(db: Database, id: string): Promise<RateLimitsPolicyRow | null> {
  return db.rateLimitsPolicy.findUnique({ where: { id } });
}

export async function listPolicies(
  db: Database,
  scope: { organisationId: string; workspaceId: string | undefined },
  query: QueryOf<'rate-limits-policies.list'>,
): Promise<{ rows: RateLimitsPolicyRow[]; total: number }> {
  const where: Prisma.RateLimitsPolicyWhereInput = {
    organisationId: scope.organisationId,
    workspaceId: scope.workspaceId,
    status: query.status,
    type: query.type,
    unit: query.unit,
  };
  const [rows, total] = await Promise.all([
    db.rateLimitsPolicy.findMany({
      where,
      orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
      ...paged(query),
    }),
    db.rateLimitsPolicy.count({ where }),
  ]);
  return { rows, total };
}

export function insertPolicy(
  db: Database,
  data: Prisma.RateLimitsPolicyUncheckedCreateInput,
): Promise<RateLimitsPolicyRow> {
  return db.rateLimitsPolicy.create({ data });
}

export function updatePolicy(
  db: Database,
  id: string,
  data: Prisma.RateLimitsPolicyUncheckedUpdateInput,
): Promise<RateLimitsPolicyRow> {
  return db.rateLimitsPolicy.update({ where: { id }, data });
}
