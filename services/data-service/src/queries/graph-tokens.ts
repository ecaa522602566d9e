import type { Figures } from './graph.ts';

/** Input and output together. The average is over rows with usage: refusals would only lower it. */
export const tokensGraph: Figures = {
  total: 'sum(input_tokens + output_tokens)',
  avg: `if(countIf(input_tokens + output_tokens > 0) = 0, 0,
           sum(input_tokens + output_tokens) / countIf(input_tokens + output_tokens > 0))`,
};
