/** A process with some of the watchers of `npm run scale`. Does what it is told over its channel, and ends with it. */
import { getPriority, setPriority } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { readFilled } from './fill-database.ts';
import type { CountedWatcher, Freshness, WatchJob } from './watch-job.ts';
import { Watcher } from './watcher.ts';

const watchers: Watcher[] = [];
const pollMs = 50;
const openTimeoutMs = 120_000;

// In earnest they run on machines of their own: here they get what the control plane leaves.
setPriority(Math.min(19, getPriority() + 10));
process.on('disconnect', () => process.exit(0));
process.on('message', (job: WatchJob) => {
  void perform(job).then(
    (answer) => process.send?.({ answer }),
    (error: unknown) => process.send?.({ fault: String(error) }),
  );
});
process.send?.({ answer: 'ready' });

async function perform(job: WatchJob): Promise<unknown> {
  switch (job.kind) {
    case 'open':
      return open(job);
    case 'awaitFresh':
      return awaitFresh(job);
    case 'count':
      return watchers.map(
        (each): CountedWatcher => ({ ...each.counts, holds: each.holds(job.workspaceId) }),
      );
    case 'forgetCounts':
      for (const each of watchers) each.forgetCounts();
      return undefined;
  }
}

async function open(job: Extract<WatchJob, { kind: 'open' }>): Promise<void> {
  const keysEach = Math.max(...job.watchers.map((plan) => plan.keysEach));
  const ids = [...new Set(job.watchers.flatMap((plan) => plan.workspaceIds))];
  const { workspaces, mark } = await readFilled(job.databaseUrl, ids, keysEach);
  const byId = new Map(workspaces.map((each) => [each.id, each]));
  for (const { number, workspaceIds } of job.watchers) {
    const held = workspaceIds.flatMap((id) => byId.get(id) ?? []);
    const watcher = new Watcher({ address: job.address, token: job.token, number, held, mark });
    watchers.push(watcher);
    await watcher.start();
  }
  const deadline = Date.now() + openTimeoutMs;
  while (watchers.some((each) => each.comparedAt === 0)) {
    if (Date.now() > deadline) throw new Error('not all watchers were answered');
    await delay(pollMs);
  }
}

async function awaitFresh(job: Extract<WatchJob, { kind: 'awaitFresh' }>): Promise<Freshness> {
  const deadline = Date.now() + job.timeoutMs;
  const freshAt: (number | null)[] = watchers.map(() => null);
  while (freshAt.includes(null) && Date.now() < deadline) {
    for (const [index, watcher] of watchers.entries())
      if (freshAt[index] === null && watcher.isFresh(job.since, job.missed))
        freshAt[index] = Date.now();
    await delay(pollMs);
  }
  return { freshAt };
}
