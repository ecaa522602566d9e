import type { usage } from '@sluice/proto-stubs';
import type { RpcHandlers } from '@sluice/rpc';
import { findOwners } from '../queries/find-owners.ts';
import { listCharges } from '../queries/list-charges.ts';
import { type Reader, readerFor } from '../queries/questions.ts';
import type { UsageSink } from '../sinks/usage-sink.ts';

/** What gateways ask of the ledger while a caller waits. */
export function ownerHandlers(client: Reader): RpcHandlers<typeof usage.OwnerService> {
  return {
    findOwners: async ({ objects }, caller) => ({
      objects: await findOwners(readerFor(client, caller), objects),
    }),
  };
}

/** Answers after the insert. A caller that stops waiting sends the same records again. */
export function usageHandlers(
  sink: UsageSink,
  client: Reader,
): RpcHandlers<typeof usage.UsageService> {
  return {
    listCharges: (request, caller) => listCharges(readerFor(client, caller), request),
    async writeUsage(request, { signal }) {
      await sink.write(request.records, signal);
      return {};
    },
  };
}
