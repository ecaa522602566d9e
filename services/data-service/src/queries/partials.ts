import type { EntryColumn } from './entry-columns.ts';

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
}

const sum = (name: string) => `sum(${name})`;
const sumMap = (name: string) => `sumMap(${name})`;

export const isSuccess = 'status_code BETWEEN 200 AND 299';
/** Requests that the gateway refused, and those whose end nobody saw, say nothing about how fast answers are. */
const isAnswered = "outcome NOT IN ('denied', 'lost')";

/** A latency to three digits, in microseconds: half a percent off at most, and the same wherever it is counted. */
const step = 'toUInt64(intExp10(toUInt8(greatest(0, toInt8(floor(log10(latency_us))) - 2))))';
const latencyBin = `if(latency_us < 1000, latency_us, intDiv(latency_us + intDiv(${step}, 2), ${step}) * ${step})`;

export const partials = {
  requests: { of: [], from: 'count()', merge: sum },
  cost: { of: ['cost_nano_usd'], from: 'sum(cost_nano_usd)', merge: sum },
  priced: { of: ['cost_known'], from: 'countIf(cost_known)', merge: sum },
  input_tokens: { of: ['input_tokens'], from: 'sum(input_tokens)', merge: sum },
  output_tokens: { of: ['output_tokens'], from: 'sum(output_tokens)', merge: sum },
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
} as const satisfies Record<string, Partial>;

export type PartialName = keyof typeof partials;

/** Those that an expression names. */
export function partialsIn(expressions: readonly string[]): PartialName[] {
  const words = new Set(expressions.join(' ').match(/\w+/g));
  return (Object.keys(partials) as PartialName[]).filter((name) => words.has(name));
}
