import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@sluice/testkit';
import { describe, expect, it } from 'vitest';
import { DataDirError } from './data-dir.ts';
import { processStartTime } from './process-start-time.ts';
import { AlreadyRunningError, beginRun } from './run-file.ts';

const runFile = async () => join(await temporaryFolder('run-file'), 'run.json');
const say = () => {};

describe('beginRun', () => {
  it('refuses while another launcher runs on the data, naming its process and port', async () => {
    const path = await runFile();
    const run = await beginRun(path, 8787, say);
    await expect(beginRun(path, 9000, say)).rejects.toThrow(AlreadyRunningError);
    await expect(beginRun(path, 9000, say)).rejects.toThrow(
      `process ${process.pid}, gateway on port 8787`,
    );
    run.end();
    expect(existsSync(path)).toBe(false);
    (await beginRun(path, 9000, say)).end();
  });

  it('takes over from a launcher that was killed, also when its pid belongs to somebody else now', async () => {
    const path = await runFile();
    const launcher = { pid: process.pid, started: 'another time' };
    writeFileSync(path, JSON.stringify({ launcher, gateway_port: 8787, parts: {} }));
    const run = await beginRun(path, 8787, say);
    run.note('gateway', process.pid);
    expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({
      launcher: { pid: process.pid, started: processStartTime(process.pid) },
      parts: { gateway: { pid: process.pid } },
    });
    run.end();
  });

  it('takes over a file that a crash cut short', async () => {
    const path = await runFile();
    writeFileSync(path, '{"launch');
    (await beginRun(path, 8787, say)).end();
  });

  it('says in a sentence that a directory cannot be made, or not be written', async () => {
    const folder = await temporaryFolder('run-file');
    writeFileSync(join(folder, 'file'), '');
    for (const [dataDir, why] of [
      ['/proc/x', 'takes no folders or files (ENOENT'],
      ['/proc/x/y', 'takes no folders or files (ENOENT at /proc/x)'],
      ['/proc', 'takes no folders or files (ENOENT at /proc/run.json)'],
      [join(folder, 'file'), 'a file in its place'],
      [join(folder, 'file', 'data'), 'a file in its place'],
      [join(folder, 'x'.repeat(300)), 'its name is too long'],
    ] as const) {
      const begun = beginRun(join(dataDir, 'run.json'), 8787, say);
      await expect(begun, dataDir).rejects.toThrow(DataDirError);
      await expect(begun).rejects.toThrow(`${dataDir} cannot hold the data`);
      await expect(begun).rejects.toThrow(why);
    }
  });

  it('waits for the parts of a killed launcher to end', async () => {
    const path = await runFile();
    const orphan = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 300)'], {
      stdio: 'ignore',
    });
    await once(orphan, 'spawn');
    const part = { pid: orphan.pid, started: processStartTime(orphan.pid as number) };
    const launcher = { pid: 999_999_999, started: 'x' };
    writeFileSync(path, JSON.stringify({ launcher, gateway_port: 8787, parts: { gateway: part } }));
    (await beginRun(path, 8787, say)).end();
    expect(processStartTime(orphan.pid as number)).toBeUndefined();
  });
});
