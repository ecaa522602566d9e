import type { MessageInitShape } from '@bufbuild/protobuf';
import type { ExportFilters } from '@sluice/contracts/admin';
import type { LogReach } from '@sluice/log-content';
import type { analytics } from '@sluice/proto-stubs';
import { idsAsKept } from '../../kernel/names/ids.ts';

type Filter = MessageInitShape<typeof analytics.FilterSchema>;

/** The filters of an export as the ledger's, within what may be seen, and nothing later than its start. */
export function toLedgerFilter(
  filters: ExportFilters,
  { organisationId, workspaceIds, userId, apiKeyId }: LogReach,
  startedAt: Date,
): Filter {
  const { time_of_generation_min: min, time_of_generation_max: max } = filters;
  const until = max === undefined ? startedAt.getTime() : Date.parse(max);
  return {
    organisationId,
    workspaceIds,
    userId,
    apiKeyIds: apiKeyId === undefined ? idsAsKept(listOf(filters.api_key_ids)) : [apiKeyId],
    fromMs: BigInt(min === undefined ? 0 : Date.parse(min)),
    toMs: BigInt(Math.min(until, startedAt.getTime())),
    totalUnitsMin: asBigInt(filters.total_units_min),
    totalUnitsMax: asBigInt(filters.total_units_max),
    promptTokenMin: asBigInt(filters.prompt_token_min),
    promptTokenMax: asBigInt(filters.prompt_token_max),
    completionTokenMin: asBigInt(filters.completion_token_min),
    completionTokenMax: asBigInt(filters.completion_token_max),
    costMin: filters.cost_min,
    costMax: filters.cost_max,
    weightedFeedbackMin: filters.weighted_feedback_min,
    weightedFeedbackMax: filters.weighted_feedback_max,
    statusCodes: listOf(filters.status_code).map(Number),
    virtualKeys: listOf(filters.virtual_keys),
    configs: idsAsKept(listOf(filters.configs)),
    traceIds: listOf(filters.trace_id),
    spanIds: listOf(filters.span_id),
    promptSlugs: listOf(filters.prompt_slug),
    endpoints: listOf(filters.mode),
    capabilityNames: listOf(filters.tool),
    aiOrgModels: listOf(filters.ai_org_model),
    aiModels: listOf(filters.ai_model),
    errorCodes: listOf(filters.error_code),
    cacheStatuses: listOf(filters.cache_status),
    isSuccess: filters.is_success,
    search: filters.search ?? '',
    metadata: Object.fromEntries(
      Object.entries(filters.metadata ?? {}).map(([name, value]) => [
        name,
        typeof value === 'string' ? value : JSON.stringify(value),
      ]),
    ),
  };
}

function listOf(text: string | undefined): string[] {
  return (text ?? '')
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');
}

function asBigInt(value: number | undefined): bigint | undefined {
  return value === undefined ? undefined : BigInt(value);
}
