import { jobs } from '@sluice/proto-stubs';
import { callFault, type RpcClient } from '@sluice/rpc';
import type { Part } from '@sluice/service';
import { addCounter, type Logger, type Metrics } from '@sluice/telemetry';
import { WorkNotes, workNoteOutcomes } from '../owners/work-notes.ts';

interface WorkNotesParts {
  readonly controlPlane: RpcClient;
  readonly metrics: Metrics;
  readonly logger: Logger;
}

const timeoutMs = 10_000;

/** Who tells the control plane of work that goes on at providers. */
export function workNotesPart({ controlPlane, metrics, logger }: WorkNotesParts): {
  workNotes: WorkNotes;
  part: Part;
} {
  const counted = addCounter(
    metrics.registry,
    'sluice_work_notes',
    'Works that go on at providers, by whether they are followed there: noted, refused because their workspace has too many, lost because the control plane was away for too long',
    { labels: { outcome: new Set(workNoteOutcomes) }, seriesMax: workNoteOutcomes.length },
  );
  for (const outcome of workNoteOutcomes) counted.child({ outcome }).add(0);
  const workNotes = new WorkNotes({
    async tell(works) {
      const request = {
        works: works.map((work) => ({ ...work, madeAtMs: BigInt(work.madeAtMs) })),
      };
      const method = jobs.FollowService.method.noteWork;
      return (await controlPlane.unary(method, request, { timeoutMs })).refused;
    },
    onOutcome(outcome, count) {
      if (count === 0) return;
      counted.child({ outcome }).add(count);
      if (outcome !== 'noted')
        logger.warn(
          { outcome, count },
          'work at providers is not followed: it is billed only if somebody polls it',
        );
    },
    onAway: (error) =>
      logger.warn(callFault(error), 'work at providers cannot be noted, and is noted later'),
    onBack: () => logger.info('work at providers is noted again'),
  });
  const part: Part = {
    name: 'work-notes',
    stop: () => workNotes.stop(),
    gauges: () => [
      {
        name: 'sluice_work_notes_waiting',
        help: 'Works that go on at providers and are not noted yet',
        read: () => workNotes.waiting,
      },
    ],
  };
  return { workNotes, part };
}
