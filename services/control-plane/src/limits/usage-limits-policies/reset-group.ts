import { periodAt } from '@sluice/engine';
import { GatewayError } from '@sluice/errors';
import type { Database } from '../../kernel/database/client.ts';
import { groupIdOf } from '../usage/group-id.ts';
import { budgetOf, type UsageLimitsPolicyRow } from './budget.ts';
import { countResets, emptyEntity, findReset, putReset } from './store.ts';

/** Every gateway is told of each of them, for as long as their period lasts. */
const resetsMax = 10_000;

/** Begins the count of one group anew, for the rest of the period. */
export async function resetGroup(
  db: Database,
  policy: UsageLimitsPolicyRow,
  valueKey: string,
  now: Date,
): Promise<void> {
  const { period } = budgetOf(policy);
  const periodStartMs = BigInt(periodAt(period, now.getTime()).startedAtMs);
  const groupId = groupIdOf(valueKey);
  const before = await findReset(db, policy.id, groupId);
  const goesOn = before?.periodStartMs === periodStartMs;
  if (!goesOn && (await countResets(db, policy.id, periodStartMs)) >= resetsMax)
    throw new GatewayError('admin.refused', {
      message: `Of one policy ${resetsMax} groups can be reset in a period.`,
    });
  const generation = goesOn ? before.generation + 1n : 1n;
  await putReset(db, { policyId: policy.id, groupId, valueKey, generation, periodStartMs });
  const epoch = { generation: BigInt(period.generation) + generation, periodStartMs, now };
  await emptyEntity(db, policy, { groupId, valueKey }, epoch);
}
