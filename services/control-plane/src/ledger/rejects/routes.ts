import type { analytics } from '@sluice/proto-stubs';
import type { Caller } from '../../kernel/access/caller.ts';
import { implementAll } from '../../kernel/http/implement.ts';
import { instant, listEnvelope } from '../../kernel/http/shapes.ts';
import type { Ledger } from '../analytics/ledger.ts';

export function rejectOperations(ledger: Pick<Ledger, 'listRejects' | 'replayRejects'>) {
  return implementAll('ledger.rejects', {
    list: async ({ caller }, { query }) => {
      const { rejects, total } = await ledger.listRejects(query);
      return listEnvelope(
        rejects.map((reject) => presentReject(reject, caller)),
        Number(total),
      );
    },
    replay: async (call, { body }) => {
      const { ids, reason, cursor } = body;
      // Takes seconds, and no other change waits for it.
      const answer = await ledger.replayRejects({ ids, reason, cursor });
      const [stored, rejected] = [Number(answer.stored), Number(answer.rejected)];
      return call.change(async ({ describe }) => {
        describe({ detail: { stored, rejected } });
        return {
          object: 'ledger-reject-replay',
          stored,
          rejected,
          next_cursor: answer.nextCursor === '' ? null : answer.nextCursor,
        };
      });
    },
  });
}

/** Rejects belong to the installation; what is in them, to whose they are. */
function presentReject(reject: analytics.Reject, { organisationId, scopes }: Caller) {
  const mayRead =
    reject.organisationId === organisationId &&
    ['logs.view', 'logs.list', 'logs.read'].some((scope) => scopes.has(scope));
  return {
    id: reject.id,
    reason: reject.reason,
    received_at: instant(new Date(Number(reject.receivedAtMs))),
    size: Number(reject.size),
    record:
      mayRead && reject.record !== undefined ? Buffer.from(reject.record).toString('base64') : null,
    object: 'ledger-reject' as const,
  };
}
