import type { Figures } from './graph.ts';

/** US cents. The average is over rows whose cost is known: an unpriced model would hide what others cost. */
export const costGraph: Figures = {
  total: 'sumIf(cost_nano_usd, cost_known) / 1e7',
  avg: 'if(countIf(cost_known) = 0, 0, sumIf(cost_nano_usd, cost_known) / countIf(cost_known) / 1e7)',
};
