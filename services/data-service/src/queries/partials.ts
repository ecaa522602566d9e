import { type EntryColumn, isSettled } from './entry-columns.ts';

/**
 * What figures are made of. Each is told for the entries of a bucket or of a group, and those of several are merged:
 * so a figure is the same whether it is read from entries or from what was rolled up of them.
 */
interface Partial {
  readonly of: readonly EntryColumn[];
  /** Over entries. */
  readonly from: string;
  /** Over partials, from the one of the same name. */
  readonly merge: (name: string) => string;
  /** Partials of several cells as one that can be merged again; as they are merged, where it is not told. */
  readonly gather?: (name: string) => string;
}

const sum = (name: string) => `sum(${name})`;
const sumMap = (name: string) => `sumMap(${name})`;
const isHit = "cache_status IN ('HIT', 'SEMANTIC HIT')";
// Records of old releases do not say which cache answered: there was one.
const isSemanticHit = `(${isHit} AND (cache_type = 'semantic' OR cache_status = 'SEMANTIC HIT'))`;
const isSimpleHit = `(${isHit} AND NOT ${isSemanticHit})`;
const cacheColumns = ['cache_status', 'cache_type'] as const;
const savingsOf = (hit: string) => ({
  of: [...cacheColumns, 'avoided_cost_nano_usd'] as const,
  from: `sumIf(avoided_cost_nano_usd, ${hit})`,
  merge: sum,
});

const isSuccess = 'status_code BETWEEN 200 AND 299';
/** Requests that the gateway refused, and those whose end nobody saw, say nothing about how fast answers are. */
const isAnswered = "outcome NOT IN ('denied', 'lost')";

/** A latency to three digits, the last of them coarser the larger they are, in microseconds: half a percent off at most, and the same wherever it is counted. */
const power = 'toUInt64(intExp10(toUInt8(greatest(0, toInt8(floor(log10(latency_us))) - 2))))';
const step = `(${power} * multiIf(latency_us < 200 * ${power}, 1, latency_us < 500 * ${power}, 2, 5))`;
const latencyBin = `if(latency_us < 1000, latency_us, intDiv(latency_us + intDiv(${step}, 2), ${step}) * ${step})`;

export const partials = {
  requests: { of: [], from: 'count()', merge: sum },
  cost: { of: ['cost_nano_usd'], from: 'sum(cost_nano_usd)', merge: sum },
  priced: { of: ['cost_nano_usd'], from: 'countIf(cost_nano_usd != 0)', merge: sum },
  /** Of rolls of releases before it 0. */
  lacking_price: { of: ['lacks_price'], from: 'countIf(lacks_price)', merge: sum },
  input_tokens: { of: ['input_tokens'], from: 'sum(input_tokens)', merge: sum },
  output_tokens: { of: ['output_tokens'], from: 'sum(output_tokens)', merge: sum },
  /** Of those sent the ones that a provider's cache knew. */
  cached_tokens: { of: ['cache_read_tokens'], from: 'sum(cache_read_tokens)', merge: sum },
  with_tokens: {
    of: ['input_tokens', 'output_tokens'],
    from: 'countIf(input_tokens + output_tokens > 0)',
    merge: sum,
  },
  answered: { of: ['outcome'], from: `countIf(${isAnswered})`, merge: sum },
  latency: {
    of: ['outcome', 'latency_us'],
    from: `sumIf(latency_us, ${isAnswered})`,
    merge: sum,
  },
  latencies: {
    of: ['outcome', 'latency_us'],
    from: `sumMapIf(map(${latencyBin}, toUInt64(1)), ${isAnswered})`,
    merge: sumMap,
  },
  successes: { of: ['status_code'], from: `countIf(${isSuccess})`, merge: sum },
  /** What did not succeed, by status. */
  failures: {
    of: ['status_code'],
    from: `sumMapIf(map(status_code, toUInt64(1)), NOT ${isSuccess})`,
    merge: sumMap,
  },
  users: {
    of: ['end_user'],
    from: "uniqStateIf(end_user, end_user != '')",
    merge: (name) => `uniqMerge(${name})`,
    gather: (name) => `uniqMergeState(${name})`,
  },
  with_user: { of: ['end_user'], from: "countIf(end_user != '')", merge: sum },
  /** What succeeded after retries, by their number. */
  retried: {
    of: ['status_code', 'retry_count'],
    from: `sumMapIf(map(toUInt32(greatest(0, retry_count)), toUInt64(1)), ${isSuccess} AND retry_count > 0)`,
    merge: sumMap,
  },
  fallbacks: {
    of: ['status_code', 'is_fallback'],
    from: `countIf(${isSuccess} AND is_fallback)`,
    merge: sum,
  },
  simple_hits: { of: cacheColumns, from: `countIf(${isSimpleHit})`, merge: sum },
  semantic_hits: { of: cacheColumns, from: `countIf(${isSemanticHit})`, merge: sum },
  simple_savings: savingsOf(isSimpleHit),
  semantic_savings: savingsOf(isSemanticHit),
  hit_latency: {
    of: ['cache_status', 'latency_us'],
    from: `sumIf(latency_us, ${isHit})`,
    merge: sum,
  },
  missed: {
    of: ['cache_status', 'outcome'],
    from: `countIf(${isAnswered} AND NOT ${isHit})`,
    merge: sum,
  },
  missed_latency: {
    of: ['cache_status', 'outcome', 'latency_us'],
    from: `sumIf(latency_us, ${isAnswered} AND NOT ${isHit})`,
    merge: sum,
  },
  /** Each once, however many entries of its trace there are. */
  feedback: {
    of: ['feedback'],
    from: 'groupUniqArrayArray(feedback)',
    merge: (name) => `groupUniqArrayArray(${name})`,
  },
  with_feedback: { of: ['feedback'], from: 'countIf(notEmpty(feedback))', merge: sum },
  first_ms: {
    of: ['created_at'],
    from: 'min(toUnixTimestamp64Milli(created_at))',
    merge: (name) => `min(${name})`,
  },
  last_ms: {
    of: ['created_at'],
    from: 'max(toUnixTimestamp64Milli(created_at))',
    merge: (name) => `max(${name})`,
  },
} as const satisfies Record<string, Partial>;

export type PartialName = keyof typeof partials;

const partialNames = Object.keys(partials) as PartialName[];

/** Those that are rolled up; the others are read from attempts, wherever a question asks for one. */
export const rolledPartials = partialNames.filter((name) => partials[name].of.every(isSettled));

/** Of cells. */
export function gatheredPartial(name: PartialName): string {
  const { merge, gather = merge }: Partial = partials[name];
  return gather(name);
}

/** Those that an expression names. */
export function partialsIn(expressions: readonly string[]): PartialName[] {
  const words = new Set(expressions.join(' ').match(/\w+/g));
  return partialNames.filter((name) => words.has(name));
}
