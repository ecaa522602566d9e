import { usage } from '@sluice/proto-stubs';
import { encodeFeedback } from '@sluice/usage';
import type { GivenFeedback } from '../exchange/given-feedback.ts';
import type { Outbox } from './outbox.ts';
import { uuidV7 } from './uuid.ts';

/** Feedback travels with the records, as an entry of its own. */
export function recordFeedback(outbox: Pick<Outbox, 'add'>, given: GivenFeedback): void {
  const atMs = Date.now();
  const id = uuidV7(atMs);
  const { organisationId, workspaceId, traceId, value, weight } = given;
  const metadata = Object.fromEntries(
    Object.entries(given.metadata).map(([name, each]) => [
      name.slice(0, 128),
      (typeof each === 'string' ? each : JSON.stringify(each)).slice(0, 1024),
    ]),
  );
  const body = encodeFeedback({
    id,
    organisationId,
    workspaceId,
    traceId,
    value: Math.round(value),
    weight,
    metadata,
    atMs,
  });
  void outbox.add(usage.EntryKind.FEEDBACK, id, body).catch(() => {
    // The disk refuses: `onLoss` has told, and the request does not depend on it.
  });
}
