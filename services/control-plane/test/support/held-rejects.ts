import type { analytics } from '@sluice/proto-stubs';
import type { RpcHandlers } from '@sluice/rpc';

/** A reject of the first organisation, as the ledger of the tests has it. */
export const heldReject = {
  id: 'a'.repeat(64),
  reason: 'id is not 16 bytes',
  receivedAtMs: 1735689600000n,
  size: 5n,
  record: Buffer.from('bytes'),
};

/** What was asked to be read again. */
export const replayed: analytics.ReplayRejectsRequest[] = [];

type Handlers = RpcHandlers<typeof analytics.LedgerService>;

/** Two rejects: one of the organisation, one whose bytes tell nothing. */
export function heldRejects(
  organisationId: string,
): Pick<Handlers, 'listRejects' | 'replayRejects'> {
  return {
    listRejects: async ({ pageSize, currentPage }) => {
      const all = [
        { ...heldReject, organisationId },
        { ...heldReject, id: 'b'.repeat(64), reason: 'not an entry' },
      ];
      const first = currentPage * pageSize;
      return { rejects: all.slice(first, first + pageSize), total: 2n };
    },
    replayRejects: async (request) => {
      replayed.push(request);
      return { stored: 2n, rejected: 1n };
    },
  };
}
