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
    listGaps: (request, { signal }) =>
      listGaps(questions.one(signal), request, { nowMs: nowMs(), graceMs }),
    listAdjustments: (request, { signal }) => listAdjustments(questions.one(signal), request),
    listRejects: (request, { signal }) => listRejects(questions.one(signal), request),
    replayRejects: (request, { signal }) =>
      replayRejects({ ...parts, client: questions.walk(signal) }, request),
    listModelDays: (request, { signal }) => listModelDays(questions.one(signal), request),
    listSeals: (request, { signal }) => listSeals(questions.one(signal), request),
    listSealedOrganisations: async (_, { signal }) => ({
      organisationIds: await listSealedOrganisations(questions.one(signal)),
    }),
    async keep({ organisations, others }) {
      if (others === undefined) throw new GatewayError('admin.validation', { field: 'others' });
      parts.keeper.keep({
        others,
        organisations: new Map<string, KeptDays>(Object.entries(organisations)),
      });
      return {};
    },
    async verifySeals({ organisationId, since }, { signal }) {
      const verdict = await verifyOrganisation(questions.walk(signal), { organisationId, since });
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
