/** What is shown, by its published name: a number made of partials, 0 where there was nothing. */
export type Figures = Readonly<Record<string, string>>;

const ratio = (of: string, to: string) => `if(${to} = 0, 0, ${of} / ${to})`;

/** The value that so large a part of the latencies does not exceed. Milliseconds. */
function percentile(part: number): string {
  const [values, counts] = ['mapKeys(latencies)', 'mapValues(latencies)'];
  // Keys of a merged map are in order.
  return `if(answered = 0, 0, ${values}[arrayFirstIndex(sum -> sum >= ${part} * answered, arrayCumSum(${counts}))] / 1e3)`;
}

const averageLatency = `${ratio('latency', 'answered')} / 1e3`;
const tokens = '(input_tokens + output_tokens)';

/** Graphs: each figure of the whole time, and of each bucket. */
export const graphFigures = {
  requests: { total: 'requests' },
  // US cents. The average is over entries whose cost is known: an unpriced model would hide what others cost.
  cost: { total: 'cost / 1e7', avg: `${ratio('cost', 'priced')} / 1e7` },
  // The average is over entries with usage: refusals would only lower it.
  tokens: { total: tokens, avg: ratio(tokens, 'with_tokens') },
  latency: {
    avg: averageLatency,
    p50: percentile(0.5),
    p90: percentile(0.9),
    p99: percentile(0.99),
  },
} as const satisfies Record<string, Figures>;
