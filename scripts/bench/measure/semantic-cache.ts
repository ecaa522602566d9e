import { atShare, measureLookUps } from '../../cache/measure-look-ups.ts';
import type { Figure } from '../figure.ts';
import { targets } from '../targets.ts';

/** Looking for a question in other words in memory, in this process: nobody is asked for a vector. */
export function measureSemanticCache(): Figure[] {
  const { ms, found, findable } = measureLookUps(100_000);
  return [
    {
      subject: 'gateway',
      figure: 'semantic look-up among 100,000, p95',
      unit: 'ms',
      measured: atShare(ms, 0.95),
      judged: 'measured',
      target: targets.semanticLookUpMs,
      rounds: ms,
      note: `found ${found} of ${findable}`,
    },
  ];
}
