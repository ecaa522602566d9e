import type { MessageInitShape } from '@bufbuild/protobuf';
import type { QueryOf } from '@sluice/contracts/admin';
import { invalidField } from '@sluice/errors';
import type { analytics } from '@sluice/proto-stubs';
import type { Caller } from '../../kernel/access/caller.ts';

type Filter = MessageInitShape<typeof analytics.FilterSchema>;

/** The published query as the ledger's filter, within what the caller may see. */
export function toFilter(
  query: QueryOf<'analytics.graphs.requests'>,
  caller: Caller,
  workspaceId: string,
): Filter {
  refuseFeedbackFilter(query);
  return {
    organisationId: caller.organisationId,
    workspaceIds: [workspaceId],
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
    statusCodes: query.status_code ?? [],
    virtualKeys: query.virtual_keys ?? [],
    configs: query.configs ?? [],
    apiKeyIds: query.api_key_ids ?? [],
    traceIds: query.trace_id ?? [],
    spanIds: query.span_id ?? [],
    promptSlugs: query.prompt_slug ?? [],
    metadata: query.metadata ?? {},
    aiOrgModels: query.ai_org_model ?? [],
  };
}

/** There is no feedback in the ledger yet: a filter that leaves something out would be a wrong answer. */
function refuseFeedbackFilter(query: QueryOf<'analytics.graphs.requests'>): void {
  if ((query.weighted_feedback_min ?? -10) > -10)
    throw invalidField('query.weighted_feedback_min', 'cannot be filtered by yet');
  if ((query.weighted_feedback_max ?? 10) < 10)
    throw invalidField('query.weighted_feedback_max', 'cannot be filtered by yet');
}

function asBigInt(value: number | undefined): bigint | undefined {
  return value === undefined ? undefined : BigInt(value);
}
