import type { UsageRecord } from '@sluice/usage';
import type { ReplySummary } from '../exchange/visit.ts';

/** What the request's log event and metrics say of the call that gave its answer. */
export function replySummary(record: UsageRecord): ReplySummary {
  const { attemptMs, timeToFirstByteMs } = record;
  return {
    provider: record.provider,
    providerSlug: record.providerSlug,
    model: record.model,
    errorCode: record.errorCode,
    upstreamMs: attemptMs,
    lastByteMs: timeToFirstByteMs === 0 ? 0 : attemptMs - timeToFirstByteMs,
    responseParsingMs: record.responseParsingMs,
  };
}
