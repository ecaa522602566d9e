import { config } from '@sluice/proto-stubs';
import { waitMs } from '@sluice/testkit';
import type { Harness } from './harness.ts';

const { reportCounters } = config.ConfigService.method;

/** What a gateway may say of a counter. */
export interface Told {
  limitId: string;
  workspaceId?: string;
  group?: string;
  epoch?: string;
  posted: bigint;
  reserved?: bigint;
  overshootBound?: bigint;
  countedAtUs?: bigint;
}

/** Says it as a gateway does; of the shared counter, unless it names itself. */
export async function report(
  h: Pick<Harness, 'rpc' | 'first'>,
  counters: readonly Told[],
  from: { replicaId?: string; shared?: boolean } = {},
): Promise<void> {
  await h.rpc.unary(
    reportCounters,
    {
      replicaId: 'gateway-1.0a1b2c3d',
      shared: true,
      ...from,
      counters: counters.map((told) => ({
        organisationId: h.first.organisation_id,
        workspaceId: h.first.workspace_id,
        epoch: '0.0',
        ...told,
      })),
    },
    { timeoutMs: waitMs },
  );
}

export const dollars = (amount: number): bigint => BigInt(Math.round(amount * 1e9));
