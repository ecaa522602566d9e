import { create, toBinary } from '@bufbuild/protobuf';
import { usage } from '@sluice/proto-stubs';
import type { Visit } from '../exchange/exchange.ts';
import type { Outbox } from './outbox.ts';
import type { RecordFollower } from './stored-record.ts';
import { withVerdicts } from './usage-recorder.ts';
import { uuidV7 } from './uuid.ts';

/** What a hook came to after the record of its attempt travels as an entry of its own. */
export function recordLateHook(
  outbox: Pick<Outbox, 'add' | 'isFull'>,
  { exchange, planned, recordedAs }: Pick<Visit, 'exchange' | 'planned' | 'recordedAs'>,
  verdictJson: string,
  follow?: RecordFollower,
): void {
  // What room is left belongs to attempts, which cost money.
  if (outbox.isFull) return;
  const now = Date.now();
  const id = uuidV7(now);
  const entry = create(usage.LateHookSchema, {
    id,
    organisationId: exchange.bundle?.source.organisationId ?? '',
    workspaceId: exchange.bundle?.source.workspaceId ?? '',
    requestId: exchange.arrival.requestId,
    optionPath: planned.path,
    verdictJson,
    createdAtMs: BigInt(now),
  });
  const body = toBinary(usage.LateHookSchema, entry);
  void outbox.add(usage.EntryKind.LATE_HOOK, id, body).catch(() => {
    // The disk refuses: `onLoss` has told, and nobody waits for this.
  });
  if (follow === undefined || recordedAs === undefined) return;
  const { attempt, outcome, organisationId, traceId, spanId } = recordedAs;
  const told = create(usage.UsageRecordSchema, {
    ...{ id: recordedAs.id, attempt, outcome, organisationId, traceId, spanId },
    // Which of the late ones of that record.
    entryId: id,
    decisionJson: withVerdicts('', [verdictJson]),
    createdAtMs: BigInt(now),
  });
  follow.addLateHook(toBinary(usage.UsageRecordSchema, told));
}
