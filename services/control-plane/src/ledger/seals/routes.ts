import type { AnswerOf } from '@sluice/contracts/admin';
import type { analytics } from '@sluice/proto-stubs';
import { implementAll } from '../../kernel/http/implement.ts';
import { listEnvelope } from '../../kernel/http/shapes.ts';
import type { Ledger } from '../analytics/ledger.ts';
import { centsOf } from '../logs/record-parts.ts';

const dayMs = 86_400_000;
/** Whose rows are compared where no day is named. */
const comparedDays = 35;

export function sealOperations(ledger: Pick<Ledger, 'listSeals' | 'verifySeals'>) {
  return implementAll('ledger.seals', {
    list: async ({ caller }, { query }) => {
      const { organisationId } = caller;
      const { seals, total } = await ledger.listSeals({ organisationId, ...query });
      return listEnvelope(seals.map(presentSeal), Number(total));
    },
    verify: async ({ caller, now }, { query }) => {
      const { organisationId } = caller;
      const sinceMs = now.getTime() - comparedDays * dayMs;
      const since = query.since ?? new Date(sinceMs).toISOString().slice(0, 10);
      return presentVerification(
        organisationId,
        await ledger.verifySeals({ organisationId, since }),
      );
    },
  });
}

function presentSeal(seal: analytics.Seal): AnswerOf<'ledger.seals.list'>['data'][number] {
  const isDay = seal.kind === 'day';
  return {
    sequence: Number(seal.sequence),
    kind: isDay ? 'day' : 'part',
    day: seal.day,
    workspace_id: isDay ? null : seal.workspaceId,
    records_day: seal.recordsDay,
    records: Number(seal.records),
    input_tokens: Number(seal.inputTokens),
    output_tokens: Number(seal.outputTokens),
    cost: centsOf(seal.costNanoUsd),
    adjustments: Number(seal.adjustments),
    adjusted_cost: centsOf(seal.adjustedNanoUsd),
    hash: seal.hash,
    object: 'ledger-seal',
  };
}

type Fault = AnswerOf<'ledger.seals.verify'>['faults'][number];

function presentVerification(
  organisationId: string,
  verdict: analytics.VerifySealsResponse,
): AnswerOf<'ledger.seals.verify'> {
  return {
    object: 'ledger-verification',
    organisation_id: organisationId,
    valid: verdict.faults.length === 0,
    entries: Number(verdict.entries),
    sealed_to: verdict.sealedTo === '' ? null : verdict.sealedTo,
    last_sequence: verdict.headSequence === 0n ? null : Number(verdict.headSequence),
    head_hash: verdict.headHash,
    kept_from: verdict.keptFrom === '' ? null : verdict.keptFrom,
    faults: verdict.faults.map((fault) => ({
      reason: fault.reason as Fault['reason'],
      day: fault.day,
      workspace_id: fault.workspaceId,
      ...(fault.table === ''
        ? { sequence: Number(fault.sequence) }
        : {
            table: fault.table as Fault['table'],
            records_day: fault.recordsDay,
            hour: fault.hour,
            rows: fault.rows,
          }),
      ...(fault.recordId !== '' && { record_id: fault.recordId }),
    })),
    late: verdict.late.map((rows) => ({
      workspace_id: rows.workspaceId,
      records_day: rows.recordsDay,
      records: Number(rows.records),
      adjustments: Number(rows.adjustments),
    })),
  };
}
