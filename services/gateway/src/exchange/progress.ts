import type { UsageRecord } from '@sluice/usage';

/** Why a request went no further although its config would have. */
export type RoutingStop = 'attempts' | 'time' | 'cost';

/** What the record of a call says it used. */
export type RecordedUse = Pick<
  UsageRecord,
  'inputTokens' | 'outputTokens' | 'costKnown' | 'costNanoUsd' | 'unpricedUnits'
>;

/** How much was tried for one request so far, over all its targets. */
export class Progress {
  /** Calls that have begun: 0 = the request never got so far. */
  attempts = 0;
  /** Targets refused before they were called, each with a record of its own. */
  refusals = 0;
  /** Calls, refused targets and kept answers: what the bounds of a request count. */
  tries = 0;
  /** Until it was known who calls; 0 = it never was. */
  authenticationMs = 0;
  /** What reading the request took. */
  readingMs = 0;
  /** What asking its limits took, over all its targets; 0 = nothing limits it. */
  limitsMs = 0;
  /** What looking into the cache took, over all its targets. */
  cacheMs = 0;
  /** What else was done before the first call; 0 = there was none. */
  preProcessingMs = 0;
  /** Waited because providers asked to. */
  waitedMs = 0;
  /** What calls used of limits so far, in nano-USD, as far as that is known. */
  spentNanoUsd = 0;
  /** What the calls that are over used, by their records. */
  inputTokens = 0;
  outputTokens = 0;
  /** What they cost, in nano-USD; meaningless where `lacksPrice`. */
  costNanoUsd = 0;
  /** One of them used, or may have used, what nobody knows the price of. */
  lacksPrice = false;
  /** What the rest of the cost lacks, as in records: names, separated by commas. */
  unpricedUnits = '';
  /** What a call of the target asked last may cost; known where the caller says what all may cost. */
  callNanoUsd = 0;
  /** What all calls together may cost. */
  maxCostNanoUsd = Number.POSITIVE_INFINITY;
  /** Why no more was tried, although the config says more. */
  stoppedBy: RoutingStop | undefined = undefined;

  /** Adds a call that is over. */
  addUse(record: RecordedUse): void {
    this.inputTokens += record.inputTokens;
    this.outputTokens += record.outputTokens;
    if (!record.costKnown) this.lacksPrice = true;
    this.costNanoUsd += record.costNanoUsd;
    if (record.unpricedUnits !== '')
      this.unpricedUnits = unitedNames(this.unpricedUnits, record.unpricedUnits);
  }

  /** Goes on from what another says. */
  takeUse({
    inputTokens,
    outputTokens,
    spentNanoUsd,
    costNanoUsd,
    lacksPrice,
    unpricedUnits,
  }: Progress): void {
    const use = { inputTokens, outputTokens, spentNanoUsd, costNanoUsd, lacksPrice, unpricedUnits };
    Object.assign(this, use);
  }

  /** Whether so many calls more, of the target asked last, stay within what all may cost. */
  affords(calls: number): boolean {
    return this.spentNanoUsd + calls * this.callNanoUsd <= this.maxCostNanoUsd;
  }
}

/** The names of both lists, each once. */
export function unitedNames(some: string, more: string): string {
  return [...new Set([...some.split(','), ...more.split(',')].filter(Boolean))].sort().join(',');
}
