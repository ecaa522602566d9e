import type { PriceBook } from '@sluice/pricing';
import type { DatabaseClient } from '../../kernel/database/client.ts';
import { Turns } from '../../kernel/database/turns.ts';
import { implementAll } from '../../kernel/http/implement.ts';
import { listEnvelope } from '../../kernel/http/shapes.ts';
import type { Ledger } from '../analytics/ledger.ts';
import { adjust } from './adjust.ts';
import { presentAdjustment } from './present.ts';

export function adjustmentOperations(
  ledger: Pick<Ledger, 'getLog' | 'listAdjustments' | 'writeUsage'>,
  book: Pick<PriceBook, 'lookUp'>,
  client: DatabaseClient,
) {
  const turns = new Turns(atOnce);
  return implementAll('ledger.adjustments', {
    create: (call, { body }) => adjust(call, body, { ledger, book, client, turns }),
    list: async ({ caller }, { query }) => {
      const { adjustments, total } = await ledger.listAdjustments({
        organisationId: caller.organisationId,
        recordId: query.record_id ?? '',
        fromMs: BigInt(query.created_from?.getTime() ?? 0),
        // 0 is no bound, and nothing is of before.
        toMs: BigInt(query.created_to === undefined ? 0 : Math.max(1, query.created_to.getTime())),
        pageSize: query.pageSize,
        currentPage: query.currentPage,
      });
      return listEnvelope(adjustments.map(presentAdjustment), Number(total));
    },
  });
}

/** At this replica: the ledger may take its time, and the pool of connections is everybody's. */
const atOnce = 2;
