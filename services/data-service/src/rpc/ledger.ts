import { GatewayError } from '@sluice/errors';
import type { analytics } from '@sluice/proto-stubs';
import type { RpcHandlers } from '@sluice/rpc';
import { listAdjustments } from '../queries/list-adjustments.ts';
import { listGaps } from '../queries/list-gaps.ts';
import { listModelDays } from '../queries/list-model-days.ts';
import type { Questions } from '../queries/questions.ts';
import { listRejects } from '../rejects/list-rejects.ts';
import { replayRejects } from '../rejects/replay-rejects.ts';
import type { KeptDays } from '../retention/cutoff-days.ts';
import type { Keeper } from '../retention/keeper.ts';
import { listSealedOrganisations, listSeals } from '../seals/list-seals.ts';
import { verifyOrganisation } from '../seals/verify-organisation.ts';
import type { UsageSink } from '../sinks/usage-sink.ts';

export interface LedgerParts {
  questions: Questions;
  sink: UsageSink;
  keeper: Keeper;
  nowMs: () => number;
  /** How long a record may be on its way before it is called missing. */
  gapGraceMs: number;
}

export function ledgerHandlers(parts: LedgerParts): RpcHandlers<typeof analytics.LedgerService> {
  const { questions, nowMs, gapGraceMs: graceMs } = parts;
  return {
    listGaps: (request, caller) =>
      listGaps(questions.one(caller), request, { nowMs: nowMs(), graceMs }),
    listAdjustments: (request, caller) => listAdjustments(questions.one(caller), request),
    listRejects: (request, caller) => listRejects(questions.one(caller), request),
    replayRejects: (request, caller) =>
      replayRejects({ ...parts, client: questions.walk(caller) }, request),
    listModelDays: (request, caller) => listModelDays(questions.one(caller), request),
    listSeals: (request, caller) => listSeals(questions.one(caller), request),
    listSealedOrganisations: async (_, caller) => ({
      organisationIds: await listSealedOrganisations(questions.one(caller)),
    }),
    async keep({ organisations, others }) {
      if (others === undefined) throw new GatewayError('admin.validation', { field: 'others' });
      parts.keeper.keep({
        others,
        organisations: new Map<string, KeptDays>(Object.entries(organisations)),
      });
      return {};
    },
    async verifySeals({ organisationId, since }, caller) {
      const verdict = await verifyOrganisation(questions.walk(caller), { organisationId, since });
      return {
        ...verdict,
        entries: BigInt(verdict.entries),
        headSequence: BigInt(verdict.headSequence),
        faults: verdict.faults.map(({ sequence = 0, ...fault }) => ({
          ...fault,
          sequence: BigInt(sequence),
        })),
        late: verdict.late.map((rows) => ({
          ...rows,
          records: BigInt(rows.records),
          adjustments: BigInt(rows.adjustments),
        })),
      };
    },
  };
}
