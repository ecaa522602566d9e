import { execFile } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RequestLog } from './request-log.ts';

let dir: string;
let fd: number;
const lines = () =>
  readFileSync(join(dir, 'log'), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'request-log-'));
  fd = openSync(join(dir, 'log'), 'a');
});
afterEach(() => {
  closeSync(fd);
  rmSync(dir, { recursive: true });
});

describe('a line of the request log', () => {
  it('has the shape of the other logs, and leaves out what is not known', async () => {
    const log = new RequestLog({ service: 'gateway', fd });
    log.add({ request_id: 'a', model: 'says "no"\n', error_code: undefined, status: 200 });
    await log.flush(1000);
    expect(lines()).toEqual([
      {
        level: 'info',
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        service: 'gateway',
        request_id: 'a',
        model: 'says "no"\n',
        status: 200,
        msg: 'request',
      },
    ]);
    expect(readFileSync(join(dir, 'log'), 'utf8')).toMatch(/^\{"level":"info","time":"/);
  });

  it('may tell something else of a request, of members that are JSON already', async () => {
    const log = new RequestLog({ service: 'gateway', fd });
    log.add({ request_id: 'a' });
    log.addMembers('"request_id":"a","hook_verdicts":[{"id":"x"}]', 'the checks ran');
    await log.flush(1000);
    expect(lines()).toMatchObject([
      { msg: 'request' },
      { level: 'info', request_id: 'a', hook_verdicts: [{ id: 'x' }], msg: 'the checks ran' },
    ]);
  });

  it('is written soon, though nothing follows it', async () => {
    const log = new RequestLog({ service: 'gateway', fd, lingerMs: 10 });
    log.add({ request_id: 'a' });
    await expect.poll(() => lines().length).toBe(1);
  });

  it('keeps its place among many', async () => {
    const log = new RequestLog({ service: 'gateway', fd, lingerMs: 1 });
    for (let n = 0; n < 5000; n++) {
      log.add({ n });
      if (n % 500 === 0) await delay(1);
    }
    await log.flush(5000);
    expect(lines().map(({ n }) => n)).toEqual(Array.from({ length: 5000 }, (_, n) => n));
    expect(log.dropped).toBe(0);
  });
});

describe('a reader of the log that reads nothing', () => {
  it('costs lines and a bound of memory, and never the process or its end', async () => {
    // A process of its own, whose stderr is a pipe that nobody reads for a while.
    const script = `
      import { RequestLog } from ${JSON.stringify(new URL('./request-log.ts', import.meta.url).href)};
      const told = [];
      const log = new RequestLog({ service: 'gateway', heldMax: 1 << 20, onDropped: (lines) => told.push(lines) });
      const startedAt = performance.now();
      for (let n = 0; n < 40_000; n++) {
        log.add({ n, pad: 'x'.repeat(200) });
        if (n % 1000 === 0) await new Promise((resolve) => setImmediate(resolve));
      }
      await log.flush(200);
      console.log(JSON.stringify({ dropped: log.dropped, ms: performance.now() - startedAt }));
      process.exit();
    `;
    const child = promisify(execFile)(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', script],
      { timeout: 15_000, maxBuffer: 64 << 20 },
    );
    child.child.stderr?.pause();
    child.child.stdout?.once('data', () => child.child.stderr?.resume());
    const { stdout, stderr } = await child;
    const { dropped } = JSON.parse(stdout) as { dropped: number };
    expect(dropped).toBeGreaterThan(20_000);
    // What was written came whole, in order, from the first line on.
    const seen = stderr
      .split('\n')
      .slice(0, -1)
      .map((line) => (JSON.parse(line) as { n: number }).n);
    expect(seen.length).toBeGreaterThan(100);
    expect(seen).toEqual(seen.map((_, index) => index));
  });

  it('is told of what it missed once it reads again', async () => {
    const told: number[] = [];
    const log = new RequestLog({
      service: 'gateway',
      fd,
      heldMax: 100,
      onDropped: (dropped) => told.push(dropped),
    });
    for (let n = 0; n < 10; n++) log.add({ n });
    await log.flush(1000);
    expect(told).toEqual([log.dropped]);
    expect(lines().length + log.dropped).toBe(10);
  });
});
