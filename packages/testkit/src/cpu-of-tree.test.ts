import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { cpuOfTree } from './cpu-of-tree.ts';

it.runIf(process.platform === 'linux')(
  'counts what a process takes, and what it started, while that runs and when it has ended',
  async () => {
    const before = cpuOfTree(process.pid);
    const busy =
      'const until = Date.now() + 60_000; while (process.cpuUsage().user < 3e5 && Date.now() < until);';
    const child = spawn(process.execPath, ['-e', `${busy} process.stdin.resume();`], {
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    const started = () =>
      (cpuOfTree(process.pid)?.startedMs ?? 0) - (before?.startedMs ?? Number.NaN);
    await expect.poll(started).toBeGreaterThanOrEqual(300);
    child.stdin.end();
    await once(child, 'exit');
    expect(started()).toBeGreaterThanOrEqual(300);
    const used = process.cpuUsage();
    while (process.cpuUsage(used).user < 100_000);
    expect((cpuOfTree(process.pid)?.ownMs ?? 0) - (before?.ownMs ?? 0)).toBeGreaterThanOrEqual(90);
  },
);
