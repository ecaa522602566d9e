import type { MessageInitShape } from '@bufbuild/protobuf';
import type { QueryOf } from '@sluice/contracts/admin';
import type { analytics } from '@sluice/proto-stubs';
import type { Caller } from '../../kernel/access/caller.ts';
import { idsAsKept } from '../../kernel/names/ids.ts';

type Filter = MessageInitShape<typeof analytics.FilterSchema>;
export type AnalyticsQuery = QueryOf<'analytics.graphs.requests'>;

/** The published query as the ledger's filter, within what the caller may see. */
export function toFilter(
  query: AnalyticsQuery,
  caller: Caller,
  /** None = all of the organisation. */
  workspaceIds: readonly string[],
): Filter {
  return {
    organisationId: caller.organisationId,
    workspaceIds: [...workspaceIds],
    // An empty name is nobody's: a person that cannot be told sees nothing, not all.
    userId: caller.seesOwnDataOnly ? (caller.userId ?? '') : undefined,
    fromMs: BigInt(query.time_of_generation_min.getTime()),
    toMs: BigInt(query.time_of_generation_max.getTime()),
    totalUnitsMin: asBigInt(query.total_units_min),
    totalUnitsMax: asBigInt(query.total_units_max),
    promptTokenMin: asBigInt(query.prompt_token_min),
    promptTokenMax: asBigInt(query.prompt_token_max),
    completionTokenMin: asBigInt(query.completion_token_min),
    completionTokenMax: asBigInt(query.completion_token_max),
    costMin: query.cost_min,
    costMax: query.cost_max,
    weightedFeedbackMin: query.weighted_feedback_min,
    weightedFeedbackMax: query.weighted_feedback_max,
    statusCodes: query.status_code ?? [],
    virtualKeys: query.virtual_keys ?? [],
    configs: idsAsKept(query.configs ?? []),
    apiKeyIds: idsAsKept(query.api_key_ids ?? []),
    traceIds: query.trace_id ?? [],
    spanIds: query.span_id ?? [],
    promptSlugs: query.prompt_slug ?? [],
    metadata: query.metadata ?? {},
    aiOrgModels: query.ai_org_model ?? [],
    endpoints: query.mode ?? [],
    capabilityNames: query.tool ?? [],
  };
}

function asBigInt(value: number | undefined): bigint | undefined {
  return value === undefined ? undefined : BigInt(value);
}
