import type { QueryOf } from '@sluice/contracts/admin';
import { periodAt } from '@sluice/engine';
import type { LimitUsage, Prisma, UsageLimitsReset } from '../../generated/prisma/client.ts';
import type { Database } from '../../kernel/database/client.ts';
import { literally } from '../../kernel/database/literally.ts';
import { paged } from '../../kernel/http/shapes.ts';
import { counted } from '../usage/budget.ts';
import { budgetOf, type UsageLimitsPolicyRow } from './budget.ts';

/** The counter of one group of a policy. */
export type EntityRow = LimitUsage;

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
  groupId: string,
): Promise<EntityRow | null> {
  return db.limitUsage.findUnique({ where: { limitId_groupId: { limitId: policyId, groupId } } });
}

export async function listEntities(
  db: Database,
  policy: UsageLimitsPolicyRow,
  query: QueryOf<'usage-limits-policies.entities.list'>,
  now: Date,
): Promise<{ rows: EntityRow[]; total: number }> {
  const exhausted = exhaustedIn(policy, now);
  const where: Prisma.LimitUsageWhereInput = {
    limitId: policy.id,
    ...(query.status === 'exhausted' && exhausted),
    ...(query.status === 'active' && { NOT: exhausted }),
    ...(query.search === undefined ? {} : { valueKey: { contains: literally(query.search) } }),
  };
  const [rows, total] = await Promise.all([
    db.limitUsage.findMany({
      where,
      orderBy: [{ createdAt: 'desc' }, { groupId: 'desc' }],
      ...paged(query),
    }),
    db.limitUsage.count({ where }),
  ]);
  return { rows, total };
}

function exhaustedIn(policy: UsageLimitsPolicyRow, now: Date): Prisma.LimitUsageWhereInput {
  const { type, creditLimit } = budgetOf(policy);
  return { ...currentIn(policy, now), posted: { gte: counted(type, creditLimit) } };
}

/** What was counted in the epoch of now; groups that were reset by hand are ahead. */
function currentIn(policy: UsageLimitsPolicyRow, now: Date): Prisma.LimitUsageWhereInput {
  const { generation, startedAtMs } = periodAt(budgetOf(policy).period, now.getTime());
  return { periodStartMs: BigInt(startedAtMs), generation: { gte: BigInt(generation) } };
}

/** The counters that have counted most. */
export function largestEntities(
  db: Database,
  policy: UsageLimitsPolicyRow,
  count: number,
  now: Date,
): Promise<EntityRow[]> {
  return db.limitUsage.findMany({
    where: { limitId: policy.id, ...currentIn(policy, now) },
    orderBy: [{ posted: 'desc' }, { groupId: 'asc' }],
    take: count,
  });
}

/** The counter at the beginning of another epoch; it is made where nothing was told of it yet. */
export async function emptyEntity(
  db: Database,
  { id: limitId, organisationId }: Pick<UsageLimitsPolicyRow, 'id' | 'organisationId'>,
  { groupId, valueKey }: { groupId: string; valueKey: string },
  { now, ...epoch }: { generation: bigint; periodStartMs: bigint; now: Date },
): Promise<void> {
  const begun = {
    ...epoch,
    posted: 0,
    reserved: 0,
    overshootBound: 0,
    thresholdAlertSent: false,
    exhaustedAlertSent: false,
    lastResetAt: now,
    updatedAt: now,
  };
  // What was counted before may be told afterwards: it must find that it is over.
  await db.limitUsage.upsert({
    where: { limitId_groupId: { limitId, groupId } },
    create: { ...begun, limitId, groupId, organisationId, valueKey, createdAt: now },
    update: begun,
  });
}

export function findReset(
  db: Database,
  policyId: string,
  groupId: string,
): Promise<UsageLimitsReset | null> {
  return db.usageLimitsReset.findUnique({ where: { policyId_groupId: { policyId, groupId } } });
}

export function countResets(db: Database, policyId: string, periodStartMs: bigint) {
  return db.usageLimitsReset.count({ where: { policyId, periodStartMs } });
}

export async function putReset(db: Database, reset: UsageLimitsReset): Promise<void> {
  const { policyId, groupId } = reset;
  await db.usageLimitsReset.upsert({
    where: { policyId_groupId: { policyId, groupId } },
    create: reset,
    update: reset,
  });
}
