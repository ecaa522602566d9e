import type { MessageInitShape } from '@bufbuild/protobuf';
import type { analytics } from '@sluice/proto-stubs';
import type { Reader } from '../queries/questions.ts';
import type { UsageSink } from '../sinks/usage-sink.ts';
import { readRejects } from './read-rejects.ts';

/** Rejects in memory at once: one may take what a call may bring, 20 MB. */
const pageSize = 20;
/** Whoever asks waits for ten seconds. */
const callMs = 6000;

/**
 * Rejects go through the intake again, in the order of their ids. What is fit becomes rows, which a second time changes
 * nothing; what is not stays, with the reason of now.
 */
export async function replayRejects(
  { client, sink, nowMs }: { client: Reader; sink: UsageSink; nowMs: () => number },
  { ids, reason, cursor }: analytics.ReplayRejectsRequest,
): Promise<MessageInitShape<typeof analytics.ReplayRejectsResponseSchema>> {
  const endsAtMs = nowMs() + callMs;
  let [stored, rejected] = [0, 0];
  for (let after = cursor; ; ) {
    const rejects = await readRejects(client, { ids, reason, after, limit: pageSize });
    const taken = await sink.takeAgain(rejects);
    stored += taken.size;
    rejected += rejects.length - taken.size;
    after = rejects.at(-1)?.digest ?? '';
    const isLast = rejects.length < pageSize;
    if (isLast || nowMs() >= endsAtMs)
      return {
        stored: BigInt(stored),
        rejected: BigInt(rejected),
        nextCursor: isLast ? '' : after,
      };
  }
}
