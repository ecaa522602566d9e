import type { config } from '@sluice/proto-stubs';
import type { Ledger } from './ledger.ts';

/** In one question. */
const countersMax = 10_000;
/** A record carries the time at which its attempt began, its counters that of the reservation. */
const marginMs = 3_600_000;
/** Windows of rates are no longer, and their names do not say when they began. */
const windowMsMax = 7 * 86_400_000;

/** What an organisation's records say that counters came to. Read from the oldest epoch on that is asked about. */
export async function sumCounters(
  ledger: Pick<Ledger, 'sumCounters'>,
  { organisationId, counters: asked }: config.SumCountersRequest,
  now: Date,
): Promise<Record<string, bigint>> {
  const counters = [...new Set(asked)].slice(0, countersMax);
  if (counters.length === 0) return {};
  const from = Math.min(...counters.map((counter) => beginningOf(counter, now)));
  const fromMs = BigInt(Math.max(0, from - marginMs));
  const { sums } = await ledger.sumCounters({ organisationId, counters, fromMs });
  return sums;
}

/** A budget's epoch is named after its generation and its beginning. */
function beginningOf(counter: string, now: Date): number {
  const start = /@\d+\.(\d+)$/.exec(counter)?.[1];
  return start === undefined ? now.getTime() - windowMsMax : Number(start);
}
