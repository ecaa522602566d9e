import { analytics } from '@sluice/proto-stubs';
import { implementAll } from '../../kernel/http/implement.ts';
import { instant, listEnvelope } from '../../kernel/http/shapes.ts';
import type { Ledger } from '../analytics/ledger.ts';

const { LifeEnd } = analytics;
/** Where no time is named. */
const heardWithinMs = 30 * 86_400_000;

export function gapOperations(ledger: Pick<Ledger, 'listGaps'>) {
  return implementAll('ledger', {
    gaps: async (call, { query }) => {
      const { heard_since, pageSize, currentPage } = query;
      const sinceMs = heard_since?.getTime() ?? call.now.getTime() - heardWithinMs;
      const { gaps, total } = await ledger.listGaps({
        sinceMs: BigInt(sinceMs),
        pageSize,
        currentPage,
      });
      return listEnvelope(gaps.map(presentGap), Number(total));
    },
  });
}

const lives: Partial<Record<analytics.LifeEnd, 'alive' | 'ended' | 'silent'>> = {
  [LifeEnd.ALIVE]: 'alive',
  [LifeEnd.ENDED]: 'ended',
  [LifeEnd.SILENT]: 'silent',
};

function presentGap({ replicaId, fromSequence, toSequence, sinceMs, life }: analytics.Gap) {
  return {
    replica_id: replicaId,
    from_sequence: Number(fromSequence),
    to_sequence: Number(toSequence),
    missing: Number(toSequence - fromSequence) + 1,
    since: sinceMs === 0n ? null : instant(new Date(Number(sinceMs))),
    life: lives[life] ?? ('untold' as const),
    object: 'ledger-gap' as const,
  };
}
