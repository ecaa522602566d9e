import { expect, it } from 'vitest';
import { presentUsageLimits } from './present.ts';

it('leaves out a threshold that is not set, and shows no reset as null', () => {
  const shown = presentUsageLimits({ credit_limit: 10, type: 'cost', alert_threshold: null });
  expect(JSON.parse(JSON.stringify(shown))).toStrictEqual({
    credit_limit: 10,
    type: 'cost',
    periodic_reset: null,
    periodic_reset_days: null,
    next_usage_reset_at: null,
  });
});
