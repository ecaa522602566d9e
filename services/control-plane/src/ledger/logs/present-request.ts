import type { AnswerOf } from '@sluice/contracts/admin';
import { parseText } from '@sluice/json';
import { type analytics, usage } from '@sluice/proto-stubs';
import { mayHaveUsed, uuidText } from '@sluice/usage';
import { instant } from '../../kernel/http/shapes.ts';
import { presentCall } from './present-call.ts';
import { attemptMsOf, centsOf, errorOf, isSuccess, logIdOf, outcomeName } from './record-parts.ts';

type Request = AnswerOf<'requests.read'>;

interface RequestParts {
  readonly isCutOff: boolean;
  /** What hooks came to after the records. */
  readonly lateHooks: readonly usage.LateHook[];
  /** What was added to the costs of its attempts later. */
  readonly adjusted: readonly analytics.AdjustedCost[];
  readonly contents: Request['contents'];
}

/** A request and its attempts, in the order in which they began; at least one. */
export function presentRequest(
  attempts: readonly [usage.UsageRecord, ...usage.UsageRecord[]],
  { isCutOff, lateHooks, adjusted, contents }: RequestParts,
): Request {
  const [first] = attempts;
  const added = new Map(adjusted.map((each) => [uuidText(each.recordId), each]));
  const costs = attempts.map((record) => costOf(record, added.get(uuidText(record.id))));
  const last = answerOf(attempts);
  const error = errorOf(last);
  const isPriced = costs.every((cost) => cost !== undefined);
  return {
    object: 'request',
    id: uuidText(first.requestId),
    trace_id: first.traceId,
    created_at: instant(new Date(Number(first.createdAtMs))),
    organisation_id: first.organisationId,
    workspace_id: first.workspaceId,
    workspace_slug: first.workspaceSlug,
    api_key_id: first.apiKeyId,
    user_id: orNull(first.userId),
    method: first.method,
    url: first.requestUrl,
    endpoint: first.endpoint,
    stream: first.stream,
    config: orNull(first.configSlug === '' ? first.configId : first.configSlug),
    config_version_id: orNull(first.configVersionId),
    status_code: last.statusCode,
    is_success: isSuccess(last),
    ...(error !== undefined && { error }),
    response_time: rounded(
      Math.max(...attempts.map((record) => arrivedAfter(record, first) + record.latencyMs)),
    ),
    cost: isPriced ? centsOf(costs.reduce<bigint>((sum, cost = 0n) => sum + cost, 0n)) : null,
    total_units: attempts.reduce(
      (sum, { inputTokens, outputTokens }) => sum + Number(inputTokens + outputTokens),
      0,
    ),
    attempts: attempts.map((record, at) => {
      // Told once, of the last attempt at their target.
      const isLast = !attempts.slice(at + 1).some(isOfTarget(record.optionPath));
      const late = isLast ? lateHooks.filter(isOfTarget(record.optionPath)) : [];
      return presentAttempt(record, late, {
        arrivedAfterMs: arrivedAfter(record, first),
        cost: costs[at],
        adjusted: added.get(uuidText(record.id)),
      });
    }),
    contents,
    is_cut_off: isCutOff,
    decision: decisionOf(last),
    metadata: first.metadata,
    gateway: { replica: first.replicaId, version: first.gatewayVersion },
  };
}

/**
 * By how many ms later than the first what a record is about arrived: turns and calls that the gateway makes for a model, between
 * two of its answers, arrive by themselves, and are timed from there.
 */
function arrivedAfter(record: usage.UsageRecord, first: usage.UsageRecord): number {
  return Math.max(0, Number(record.createdAtMs - first.createdAtMs));
}

/** What the caller was answered with: the last that was not cancelled for another. */
function answerOf(
  attempts: readonly [usage.UsageRecord, ...usage.UsageRecord[]],
): usage.UsageRecord {
  return (
    attempts.findLast(({ errorCode }) => errorCode !== 'request.superseded') ??
    attempts[attempts.length - 1] ??
    attempts[0]
  );
}

function isOfTarget(path: string): (entry: { optionPath: string }) => boolean {
  return ({ optionPath }) => optionPath === path;
}

function presentAttempt(
  record: usage.UsageRecord,
  late: readonly usage.LateHook[],
  { arrivedAfterMs, cost, adjusted }: AttemptCost & { readonly arrivedAfterMs: number },
): Request['attempts'][number] {
  const error = errorOf(record);
  const latency = attemptMsOf(record);
  const call = presentCall(record);
  return {
    id: uuidText(record.id),
    log_id: logIdOf(record),
    outcome: outcomeName(record.outcome),
    status_code: record.statusCode,
    ...(error !== undefined && { error }),
    provider: record.provider,
    provider_slug: orNull(record.providerSlug),
    ai_model: record.model,
    ...(record.responseModel !== '' && { response_model: record.responseModel }),
    option_path: record.optionPath,
    retry_count: record.retryCount,
    ...(record.finishReason !== '' && { finish_reason: record.finishReason }),
    started_after: rounded(arrivedAfterMs + record.gatewayMs),
    latency: rounded(latency),
    first_byte_after: record.timeToFirstByteMs > 0 ? rounded(record.timeToFirstByteMs) : null,
    input_tokens: Number(record.inputTokens),
    output_tokens: Number(record.outputTokens),
    cache_read_tokens: Number(record.cacheReadTokens),
    cache_write_tokens: Number(record.cacheWriteTokens),
    reasoning_tokens: Number(record.reasoningTokens),
    usage_estimated: record.usageEstimated,
    usage_implausible: record.usageImplausible,
    cost: cost === undefined ? null : centsOf(cost),
    ...(adjusted !== undefined && { adjusted_cost: centsOf(adjusted.costNanoUsd) }),
    ...(record.priceLayer !== '' && { price_layer: record.priceLayer }),
    ...(record.priceBookVersion !== '' && { price_book_version: record.priceBookVersion }),
    ...(record.unpricedUnits !== '' && { unpriced_units: record.unpricedUnits.split(',') }),
    cache_status: record.cacheStatus,
    cache_type: orNull(record.cacheType),
    limits: {
      reserved: countsOf(record.countersReserved),
      settled: countsOf(record.countersSettled),
      would_have_refused: record.wouldHaveRefused,
      degraded: record.limitsDegraded,
    },
    hooks: [...hooksOf(record), ...late.flatMap(({ verdictJson }) => parsed(verdictJson) ?? [])],
    ...(call !== undefined && { call }),
  };
}

interface AttemptCost {
  /** With what was added later, nano-dollars; undefined = it is not known. */
  readonly cost: bigint | undefined;
  readonly adjusted: analytics.AdjustedCost | undefined;
}

function costOf(
  record: usage.UsageRecord,
  adjusted: analytics.AdjustedCost | undefined,
): AttemptCost['cost'] {
  const { costKnown, costNanoUsd } = record;
  const isKnown = costKnown || adjusted?.makesKnown === true || hasUsedNothing(record);
  return isKnown ? (costKnown ? costNanoUsd : 0n) + (adjusted?.costNanoUsd ?? 0n) : undefined;
}

/** Records of old releases do not say that the cost of a refusal, of a failure or of a kept answer is none. */
function hasUsedNothing(record: usage.UsageRecord): boolean {
  const { inputTokens, outputTokens, outcome, cacheType, attemptMs } = record;
  if (cacheType !== '') return true;
  if (inputTokens + outputTokens > 0n) return false;
  return outcome === usage.Outcome.DENIED ? attemptMs === 0 : !mayHaveUsed(record);
}

/** As `explain` shows choices. What checks came to stands with their attempt. */
function decisionOf(record: usage.UsageRecord): Record<string, unknown> | null {
  const decision = parsed(record.decisionJson);
  if (decision === undefined) return null;
  const { hooks: _, ...plan } = decision;
  return plan;
}

function hooksOf(record: usage.UsageRecord): unknown[] {
  const hooks = parsed(record.decisionJson)?.hooks;
  return Array.isArray(hooks) ? hooks : [];
}

function parsed(json: string): Record<string, unknown> | undefined {
  if (json === '') return undefined;
  try {
    return parseText(json) as Record<string, unknown>;
  } catch {
    // Written by a release that this one does not know.
    return undefined;
  }
}

function countsOf(counts: Readonly<Record<string, bigint>>): Record<string, number> {
  return Object.fromEntries(Object.entries(counts).map(([name, count]) => [name, Number(count)]));
}

function orNull(text: string): string | null {
  return text === '' ? null : text;
}

function rounded(ms: number): number {
  return Math.round(ms * 100) / 100;
}
