import type { QueryOf } from '@sluice/contracts/admin';
import type {
  Prisma,
  UsageLimitsEntity,
  UsageLimitsPolicy,
} from '../../generated/prisma/client.ts';
import type { Database } from '../../kernel/database/client.ts';
import { literally } from '../../kernel/database/literally.ts';
import { paged } from '../../kernel/http/shapes.ts';

export type UsageLimitsPolicyRow = UsageLimitsPolicy;
export type UsageLimitsEntityRow = UsageLimitsEntity;

const newestFirst = [{ createdAt: 'desc' }, { id: 'desc' }] as const;

export function findPolicy(db: Database, id: string): Promise<UsageLimitsPolicyRow | null> {
  return db.usageLimitsPolicy.findUnique({ where: { id } });
}

export async function listPolicies(
  db: Database,
  scope: { organisationId: string; workspaceId: string | undefined },
  query: QueryOf<'usage-limits-policies.list'>,
): Promise<{ rows: UsageLimitsPolicyRow[]; total: number }> {
  const where: Prisma.UsageLimitsPolicyWhereInput = {
    organisationId: scope.organisationId,
    workspaceId: scope.workspaceId,
    status: query.status,
    type: query.type,
  };
  const [rows, total] = await Promise.all([
    db.usageLimitsPolicy.findMany({ where, orderBy: [...newestFirst], ...paged(query) }),
    db.usageLimitsPolicy.count({ where }),
  ]);
  return { rows, total };
}

export function insertPolicy(
  db: Database,
  data: Prisma.UsageLimitsPolicyUncheckedCreateInput,
): Promise<UsageLimitsPolicyRow> {
  return db.usageLimitsPolicy.create({ data });
}

export function updatePolicy(
  db: Database,
  id: string,
  data: Prisma.UsageLimitsPolicyUncheckedUpdateInput,
): Promise<UsageLimitsPolicyRow> {
  return db.usageLimitsPolicy.update({ where: { id }, data });
}

export function findEntity(
  db: Database,
  policyId: string,
  named: { id: string } | { valueKey: string },
): Promise<UsageLimitsEntityRow | null> {
  return db.usageLimitsEntity.findFirst({ where: { policyId, ...named } });
}

export async function listEntities(
  db: Database,
  policyId: string,
  query: QueryOf<'usage-limits-policies.entities.list'>,
): Promise<{ rows: UsageLimitsEntityRow[]; total: number }> {
  const where: Prisma.UsageLimitsEntityWhereInput = {
    policyId,
    status: query.status,
    ...(query.search === undefined ? {} : { valueKey: { contains: literally(query.search) } }),
  };
  const [rows, total] = await Promise.all([
    db.usageLimitsEntity.findMany({ where, orderBy: [...newestFirst], ...paged(query) }),
    db.usageLimitsEntity.count({ where }),
  ]);
  return { rows, total };
}

/** The counters that have counted most. */
export function largestEntities(
  db: Database,
  policyId: string,
  count: number,
): Promise<UsageLimitsEntityRow[]> {
  return db.usageLimitsEntity.findMany({
    where: { policyId },
    orderBy: [{ currentUsage: 'desc' }, { id: 'asc' }],
    take: count,
  });
}

export function updateEntity(
  db: Database,
  id: string,
  data: Prisma.UsageLimitsEntityUncheckedUpdateInput,
): Promise<UsageLimitsEntityRow> {
  return db.usageLimitsEntity.update({ where: { id }, data });
}

/** Changes every counter of the policy that is in this state. */
export async function updateEntities(
  db: Database,
  policyId: string,
  where: Prisma.UsageLimitsEntityWhereInput,
  data: Prisma.UsageLimitsEntityUncheckedUpdateManyInput,
): Promise<void> {
  await db.usageLimitsEntity.updateMany({ where: { ...where, policyId }, data });
}
