import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import {
  baseEnvironment,
  type ProcessSpec,
  type Supervised,
  type SupervisionEvent,
  startProcess,
  supervise,
} from './index.ts';
import { runOnce } from './run-once.ts';

const fixtures = `${import.meta.dirname}/../test/fixtures`;
const ticker = (...args: string[]): ProcessSpec => ({
  name: 'ticker',
  entry: `${fixtures}/ticker.ts`,
  args,
  env: baseEnvironment(),
});

let supervised: Supervised | undefined;
afterEach(() => supervised?.stop());

const folder = mkdtempSync(join(tmpdir(), 'sluice-supervise-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Supervises and gives the events one by one. */
function watch(spec: ProcessSpec, restart: boolean) {
  const seen: SupervisionEvent[] = [];
  let wake = () => {};
  supervised = supervise(spec, {
    restart,
    backoffMs: 20,
    backoffMaxMs: 50,
    onEvent(event) {
      seen.push(event);
      wake();
    },
  });
  const next = async (): Promise<SupervisionEvent> => {
    while (seen.length === 0)
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    return seen.shift() as SupervisionEvent;
  };
  return { part: supervised, next };
}

describe('supervise', () => {
  it('starts a crashed process again, and says so', async () => {
    const { part, next } = watch(ticker(), true);
    await part.start();
    const first = part.pid;
    expect(await next()).toMatchObject({ kind: 'ready', pid: first });
    await part.kill();
    expect(await next()).toMatchObject({
      kind: 'crashed',
      reason: 'ended with SIGKILL',
      retryInMs: 20,
    });
    expect(await next()).toMatchObject({ kind: 'ready' });
    expect(part.pid).not.toBe(first);
  });

  it('waits twice as long after each crash in a row, up to the most', async () => {
    const { part, next } = watch(ticker(), true);
    await part.start();
    const waits: number[] = [];
    for (let crash = 0; crash < 3; crash += 1) {
      expect(await next()).toMatchObject({ kind: 'ready' });
      await part.kill();
      const event = await next();
      if (event.kind === 'crashed') waits.push(event.retryInMs);
    }
    expect(waits).toEqual([20, 40, 50]);
  });

  it('starts nothing again once stopped, also during the wait for a restart', async () => {
    const { part, next } = watch(ticker('run', join(folder, 'run')), true);
    await part.start();
    await next();
    await part.kill();
    await next();
    await part.stop();
    await new Promise((resolve) => setTimeout(resolve, 80));
    expect(readFileSync(join(folder, 'run'), 'utf8').trim().split('\n')).toHaveLength(1);
    expect(part.pid).toBeUndefined();
  });

  it('leaves a killed process down when restarts are off, until started again', async () => {
    const { part, next } = watch(ticker(), false);
    await part.start();
    await next();
    await part.kill();
    expect(await next()).toMatchObject({ kind: 'stopped' });
    await part.start();
    expect(part.pid).toBeDefined();
  });
});

describe('startProcess', () => {
  it('fails with the end of stderr when the process ends before it is ready', async () => {
    await expect(startProcess(ticker('fail'))).rejects.toThrow(
      /ended before it was ready[\s\S]*told to fail/,
    );
  });

  it('fails when the process stays silent past its deadline, and ends it', async () => {
    const note = join(folder, 'silent');
    await expect(startProcess({ ...ticker('silent', note), readyTimeoutMs: 3000 })).rejects.toThrow(
      'was not ready within 3 s',
    );
    expect(isAlive(Number(readFileSync(note, 'utf8')))).toBe(false);
  });

  it('says so of one that is run to its end, and takes too long', async () => {
    const running = runOnce('A set-up', `${fixtures}/ticker.ts`, baseEnvironment(), 3000);
    await expect(running).rejects.toThrow(/^A set-up failed:\n(.*\n)?It was ended after 3 s\.$/);
  });

  it('kills a process that ignores SIGTERM', async () => {
    const stubborn = await startProcess({ ...ticker('stubborn'), stopTimeoutMs: 100 });
    expect(await stubborn.stop()).toEqual({ code: null, signal: 'SIGKILL' });
  });

  it.each([
    ['a process that listens', 'run'],
    ['a process whose main thread is stuck', 'stuck'],
  ])('leaves no orphan when the launcher is killed: %s', async (_name, behaviour) => {
    const launcher = spawn(process.execPath, [`${fixtures}/launcher.ts`, behaviour], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = (await once(launcher.stdout, 'data')) as [Buffer];
    const pid = Number(line.toString());
    expect(isAlive(pid)).toBe(true);
    launcher.kill('SIGKILL');
    const deadline = Date.now() + 15_000;
    while (isAlive(pid) && Date.now() < deadline)
      await new Promise((resolve) => setTimeout(resolve, 20));
    expect(isAlive(pid)).toBe(false);
  });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  // A process that nobody has waited for yet is dead all the same.
  return !/^State:\s+Z/m.test(statusOf(pid));
}

function statusOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8');
  } catch {
    return '';
  }
}
