import { analytics, type usage } from '@sluice/proto-stubs';
import type { RpcClient } from '@sluice/rpc';
import { analyticsAway } from '../ledger/analytics/ledger.ts';
import type { SimulationTask } from './task.ts';

const { listPastRequests } = analytics.LogService.method;
/** A ledger that is down is said before long. */
const firstAnswerMs = 10_000;

/** The requests of a task, as the ledger sends them. */
export async function* pastRequests(
  client: Pick<RpcClient, 'serverStream'>,
  { organisationId, workspaceId, reader, fromMs, toMs, requestsMax }: SimulationTask,
): AsyncGenerator<readonly usage.UsageRecord[]> {
  const stream = client.serverStream(listPastRequests, {
    organisationId,
    workspaceIds: [workspaceId],
    // An empty name is nobody's: a person that cannot be told sees nothing, not all.
    userId: reader.seesOwnDataOnly ? (reader.userId ?? '') : undefined,
    fromMs: BigInt(fromMs),
    toMs: BigInt(toMs),
    // One more tells that there are more.
    requestsMax: requestsMax + 1,
  });
  const patience = setTimeout(() => stream.cancel(), firstAnswerMs);
  try {
    for await (const { attempts } of stream as AsyncIterable<analytics.ListPastRequestsResponse>) {
      clearTimeout(patience);
      yield attempts;
    }
  } catch (error) {
    throw analyticsAway(error);
  } finally {
    clearTimeout(patience);
    stream.cancel();
  }
}
