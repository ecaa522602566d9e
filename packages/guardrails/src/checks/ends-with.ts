import type { ParametersOf } from '@sluice/contracts/checks';
import type { CheckFunction } from '../check.ts';
import { textCheck } from '../text-check.ts';

/** A full stop may follow the suffix. */
export function endsWith({
  suffix,
  not,
  subjects,
}: ParametersOf<'default.endsWith'>): CheckFunction {
  return textCheck({ not, subjects }, (text) => {
    const passes = text.endsWith(suffix) || text.endsWith(`${suffix}.`);
    return {
      passes,
      explanation: `The text ${passes ? 'ends' : 'does not end'} with "${suffix}".`,
      data: { suffix },
    };
  });
}
