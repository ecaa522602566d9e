import { idleByResource, type PolicyCondition, type PolicyTarget } from '@sluice/contracts/admin';
import { idleLines } from '../kernel/http/idle-warnings.ts';
import type { AdminRequest } from '../kernel/http/operation.ts';
import {
  type CatalogueIds,
  idOfNamed,
  namedConditions,
  type PolicyScope,
} from '../limits/named-conditions.ts';

/**
 * Limits that are to be tried, as policies that are to be saved: what their conditions name is there, and spelled as the
 * ledger has it, which knows keys by their ids alone. Conditions that no request meets are told.
 * @param field  where they were sent: `rate_limits`, `usage_limits`
 * @throws 400 with the path of every value that names nothing, and the nearest name
 */
export async function namedLimits<Limit extends { readonly conditions: PolicyCondition[] }>(
  call: AdminRequest,
  limits: readonly Limit[],
  {
    field,
    ...naming
  }: { field: string; target: PolicyTarget; scope: PolicyScope; ids: CatalogueIds },
): Promise<Limit[]> {
  const named: Limit[] = [];
  for (const [index, limit] of limits.entries()) {
    const path = `body.${field}[${index}]`;
    const at = { ...naming, path: `${path}.conditions`, allowMissing: false };
    const conditions = await namedConditions(call, call.db, limit.conditions, at);
    call.notes.warnings.push(...idleLines(idleOf({ ...limit, conditions }), path));
    named.push({ ...limit, conditions: await keysById(call, naming.scope, conditions) });
  }
  return named;
}

function idleOf(limit: { readonly conditions: readonly PolicyCondition[] }) {
  const ofTools = limit.conditions.flatMap(({ key }, index) =>
    key.startsWith('mcp_')
      ? [{ path: `conditions[${index}]`, why: 'calls of servers and agents are not replayed' }]
      : [],
  );
  return [...ofTools, ...(idleByResource.policies?.(limit) ?? [])];
}

async function keysById(
  { db }: AdminRequest,
  scope: PolicyScope,
  conditions: readonly PolicyCondition[],
): Promise<PolicyCondition[]> {
  const idOf = async (name: string) => (await idOfNamed(db, scope, 'api_key', name.trim())) ?? name;
  const idsOf = (names: string | string[]) =>
    typeof names === 'string' ? idOf(names) : Promise.all(names.map(idOf));
  return Promise.all(
    conditions.map(async (condition) => {
      const { key, value, excludes } = condition;
      if (key !== 'api_key') return condition;
      return {
        ...condition,
        value: await idsOf(value),
        ...(excludes !== undefined && { excludes: await idsOf(excludes) }),
      };
    }),
  );
}
