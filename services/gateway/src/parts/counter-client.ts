import { config } from '@sluice/proto-stubs';
import { isUnimplemented, type RpcClient } from '@sluice/rpc';
import type { SumCounters } from '../limits/limit-marks.ts';
import type { CounterReport } from '../limits/report-counters.ts';

const methods = config.ConfigService.method;
const reportMs = 5_000;
/** The ledger reads many records for it. */
const sumMs = 12_000;

/** What the control plane is told and asked of counters. */
export interface CounterClient {
  report(counters: readonly CounterReport[]): Promise<void>;
  readonly sum: SumCounters;
}

/**
 * @param shared  the counts are those of all gateways together
 */
export function createCounterClient(
  client: RpcClient,
  { replicaId, shared }: { replicaId: string; shared: boolean },
): CounterClient {
  return {
    async report(counters) {
      const request = { replicaId, shared, counters: [...counters] };
      await client
        .unary(methods.reportCounters, request, { timeoutMs: reportMs })
        .catch(unlessOfBefore);
    },
    async sum(organisationId, names) {
      const request = { organisationId, counters: [...names] };
      const answer = await client
        .unary(methods.sumCounters, request, { timeoutMs: sumMs })
        .catch(unlessOfBefore);
      return new Map(
        Object.entries(answer?.sums ?? {}).map(([name, sum]) => [name, Number(sum)] as const),
      );
    },
  };
}

/** A control plane of the release before knows nothing of counters: nothing is told, and nothing is known. */
function unlessOfBefore(error: unknown): undefined {
  if (!isUnimplemented(error)) throw error;
}
