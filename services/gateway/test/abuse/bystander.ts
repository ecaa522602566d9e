import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { isLongForm } from '@sluice/testkit';
import { asUsual } from '@sluice/testkit/own-time';
import { chatBody, chatReply, type Scenario } from '../scenario.ts';
import type { BystanderReport, BystanderSettings } from './bystander-worker.ts';

export type { BystanderReport };

/** A second tenant's caller, whose plain requests are timed while others attack. */
export interface Bystander {
  /** What it saw since the last report. */
  report(): Promise<BystanderReport>;
  stop(): Promise<void>;
}

/** In a workspace of its own, with a key of its own. */
export async function startBystander(scenario: Scenario): Promise<Bystander> {
  const workspace = await scenario.admin<{ id: string }>('POST', '/admin/workspaces', {
    name: 'Bystander',
  });
  const { key } = await scenario.admin<{ key: string }>('POST', '/api-keys/workspace/service', {
    name: 'bystander',
    workspace_id: workspace.id,
    scopes: ['completions.write'],
  });
  const settings: BystanderSettings = {
    gatewayUrl: scenario.stack.gatewayUrls[0] ?? '',
    pid: scenario.stack.part('gateway').pid as number,
    key,
    body: JSON.stringify(chatBody),
    reply: JSON.stringify(chatReply),
    // What lasts longer than others may wait meets one of its questions either way.
    gapMs: isLongForm ? 5 : 20,
  };
  const worker = new Worker(new URL('./bystander-worker.ts', import.meta.url), {
    workerData: settings,
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });
  await once(worker, 'message');
  // So long that the first waits, with connections to open and code to warm up, are not the usual ones.
  await delay(1500);
  return {
    async report() {
      worker.postMessage('report');
      const [report] = (await once(worker, 'message')) as [BystanderReport];
      return report;
    },
    async stop() {
      worker.postMessage('stop');
      await once(worker, 'exit');
    },
  };
}

/** How long the gateway worked at most, in ms of a machine of usual speed, while the bystander waited for a plain answer; each must be a 200. */
export async function longestBusyDuring(
  bystander: Bystander,
  work: () => Promise<unknown>,
): Promise<number> {
  await bystander.report();
  await work();
  const { longestBusyMs, faults } = await bystander.report();
  if (faults.length > 0) throw new Error(`the bystander was refused: ${faults.join('; ')}`);
  return asUsual(longestBusyMs);
}
