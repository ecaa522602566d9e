import { implementAll } from '../../kernel/http/implement.ts';
import { listEnvelope } from '../../kernel/http/shapes.ts';
import { namedWorkspace, targetWorkspace } from '../../kernel/tenancy/target-workspace.ts';
import type { CatalogueIds } from '../named-conditions.ts';
import { changePolicy } from './change-policy.ts';
import { archivePolicy, createPolicy, reachPolicy, resetEntity } from './operations.ts';
import { object, presentEntity, presentUsage, presentUsageLimitsPolicy } from './present.ts';
import { largestEntities, listEntities, listPolicies } from './store.ts';

/** A policy that counts by user may have very many counters; `entities` pages through all of them. */
const usageMapMax = 1000;

export const usageLimitsPolicyOperations = (ids: CatalogueIds) => ({
  ...implementAll('usage-limits-policies', {
    create: async (call, input) => ({
      id: await createPolicy(call, input, ids),
      object,
    }),
    list: async (call, { query }) => {
      const { caller, db } = call;
      const workspace = await targetWorkspace(db, caller, namedWorkspace(undefined, call.query));
      const scope = { organisationId: caller.organisationId, workspaceId: workspace?.id };
      const { rows, total } = await listPolicies(db, scope, query);
      return listEnvelope(
        rows.map((row) => presentUsageLimitsPolicy(row, call.now)),
        total,
      );
    },
    read: async (call, { query }) => {
      const policy = await reachPolicy(call, call.db, query.status);
      const shown = presentUsageLimitsPolicy(policy, call.now);
      if (!query.include_usage) return shown;
      const entities = await largestEntities(call.db, policy, usageMapMax, call.now);
      const map = entities.map(
        (entity) => [entity.valueKey, presentUsage(policy, entity, call.now)] as const,
      );
      return { ...shown, value_key_usage_map: Object.fromEntries(map) };
    },
    update: (call, input) => changePolicy(call, input, ids),
    delete: (call) => archivePolicy(call),
  }),
  ...implementAll('usage-limits-policies.entities', {
    list: async (call, { query }) => {
      const policy = await reachPolicy(call, call.db, 'active');
      const { rows, total } = await listEntities(call.db, policy, query, call.now);
      return listEnvelope(
        rows.map((row) => presentEntity(policy, row, call.now)),
        total,
      );
    },
    reset: (call) => resetEntity(call),
  }),
});
