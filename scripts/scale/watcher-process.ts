import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { CountedWatcher, Freshness, WatchJob } from './watch-job.ts';

interface Answers {
  open: undefined;
  awaitFresh: Freshness;
  count: CountedWatcher[];
  forgetCounts: undefined;
}

export interface WatcherProcess {
  readonly pid: number;
  perform<Kind extends WatchJob['kind']>(
    job: Extract<WatchJob, { kind: Kind }>,
  ): Promise<Answers[Kind]>;
  stop(): Promise<void>;
}

/** One job at a time. */
export async function startWatcherProcess(): Promise<WatcherProcess> {
  const child = fork(`${import.meta.dirname}/watchers.ts`, [], {
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });
  const answered = async () => {
    const ended = once(child, 'exit').then(() => {
      throw new Error('a process of watchers ended');
    });
    const [message] = await Promise.race([once(child, 'message'), ended]);
    const { answer, fault } = message as { answer?: unknown; fault?: string };
    if (fault !== undefined) throw new Error(fault);
    return answer;
  };
  await answered();
  return {
    pid: child.pid ?? 0,
    async perform(job) {
      const answer = answered();
      child.send(job);
      return (await answer) as Answers[typeof job.kind];
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL'); // It holds nothing worth saving.
      await once(child, 'exit');
    },
  };
}
