import { create, toBinary } from '@bufbuild/protobuf';
import { usage } from '@sluice/proto-stubs';
import type { GivenFeedback } from '../exchange/given-feedback.ts';
import type { Outbox } from './outbox.ts';
import { uuidV7 } from './uuid.ts';

/** Feedback travels with the records, as an entry of its own. */
export function recordFeedback(outbox: Pick<Outbox, 'add'>, given: GivenFeedback): void {
  const id = uuidV7(Date.now());
  const now = BigInt(Date.now());
  const { value, metadata, ...said } = given;
  const feedback = create(usage.FeedbackSchema, {
    ...said,
    id,
    value: Math.round(value),
    metadata: Object.fromEntries(
      Object.entries(metadata).map(([name, each]) => [
        name.slice(0, 128),
        (typeof each === 'string' ? each : JSON.stringify(each)).slice(0, 1024),
      ]),
    ),
    createdAtMs: now,
    changedAtMs: now,
  });
  const body = toBinary(usage.FeedbackSchema, feedback);
  void outbox.add(usage.EntryKind.FEEDBACK, id, body).catch(() => {
    // The disk refuses: `onLoss` has told, and the request does not depend on it.
  });
}
