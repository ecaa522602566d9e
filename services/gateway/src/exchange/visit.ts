import type { CacheStatus } from '@sluice/contracts';
import type { FailureCause } from '@sluice/errors';
import type { UsageRecord } from '@sluice/usage';

/** What its calls learn of a visit, and it of them. */
export interface VisitNotes {
  readonly cacheStatus: CacheStatus;
  /** How near the question is whose kept answer was given, or would have been; undefined = there is none, or it is the same. */
  readonly cacheSimilarity: number | undefined;
  /** What the target's checks came to, for the record: each a `HookVerdict` as JSON. */
  readonly hookVerdicts: readonly string[];
  /** The last record of it, once there is one: what its hooks come to from here on is told by itself, below it. */
  recordedAs: RecordedAs | undefined;
  /** Retries made, -1 = all were used up in vain. */
  retryCount: number;
  /** Why its last call had no answer, or not the end of one. */
  failureCause: FailureCause | undefined;
  /** Of the call that gave the answer, for the request's log event. */
  summary: ReplySummary | undefined;
  /** `performance.now()` when the target's turn came. */
  readonly startedAt: number;
  /** What looking into the cache took. */
  readonly cacheMs: number;
  /** What the first attempt's record says of the visit, which those of its retries repeat. */
  entry: VisitEntry | undefined;
  /** What the provider sent, where the caller is told something else and content is kept. */
  providerAnswer: Buffer | undefined;
}

/** By what of a record its span is known, and what belongs below that. */
export type RecordedAs = Pick<
  UsageRecord,
  'id' | 'attempt' | 'outcome' | 'organisationId' | 'traceId' | 'spanId'
>;

export interface VisitEntry {
  /** Of the first attempt's record. */
  readonly id: Buffer;
  /** Before the first call: what the gateway did, without reading the request and looking into the cache. */
  readonly preProcessingMs: number;
}

export interface HookVerdict {
  id: string;
  event: 'before' | 'after';
  /** Null = nobody knows: it was given up. */
  verdict: boolean | null;
  deny: boolean;
  /** What it took; absent = nobody knows. */
  ms?: number;
  /** Nobody waited for it. */
  async?: true;
  /** Why it was given up. */
  lost?: 'capacity' | 'deadline';
  /** The checks that could not decide, and why; absent = none. */
  errors?: readonly { readonly check: string; readonly error: string }[];
}

/** Whether a kept answer was given. */
export function isCacheHit(status: CacheStatus): boolean {
  return status === 'HIT' || status === 'SEMANTIC HIT';
}

export interface ReplySummary {
  provider: string;
  /** Of the saved provider that was asked; empty = none was. */
  providerSlug: string;
  model: string;
  /** What its record says went wrong, where the reply is the provider's own or had begun; empty = nothing. */
  errorCode: string;
  upstreamMs: number;
  /** From the first byte of the answer to its last; 0 = nothing arrived. */
  lastByteMs: number;
  /** What was done with an answer when it was there; 0 = it was not read whole. */
  responseParsingMs: number;
}
