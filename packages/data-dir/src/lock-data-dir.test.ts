import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { lockDataDir } from './lock-data-dir.ts';

const folder = mkdtempSync(join(tmpdir(), 'lock-data-dir-'));
// For whoever it is that has no rights below.
chmodSync(folder, 0o755);
afterAll(() => rmSync(folder, { recursive: true }));

let made = 0;
const newDir = () => join(folder, String(++made));
const options = { name: 'DATA_DIR', waitMs: 0 };

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

/** What begins as somebody else where it is root who tests: root may do everything. */
function asNobody<T>(begin: () => T): T {
  const isRoot = process.getuid?.() === 0;
  if (isRoot) process.seteuid?.(65_534);
  try {
    return begin();
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
}

/** A process that takes the folder and holds it until it is killed. */
async function holder(dir: string): Promise<ChildProcess> {
  const module = new URL('./lock-data-dir.ts', import.meta.url).href;
  const script = `const { lockDataDir } = await import(${JSON.stringify(module)});
    await lockDataDir(${JSON.stringify(dir)}, { name: 'DATA_DIR' });
    globalThis.gc();
    console.log('held');
    setInterval(() => {}, 1000);`;
  const flags = ['--disable-warning=ExperimentalWarning', '--expose-gc', '--input-type=module'];
  const child = spawn(process.execPath, [...flags, '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  await once(child.stdout as NonNullable<typeof child.stdout>, 'data');
  return child;
}

describe('lockDataDir', () => {
  it('refuses a folder that another process has, saying who, and touches nothing', async () => {
    const dir = newDir();
    const child = await holder(dir);
    const before = readdirSync(dir);
    await expect(lockDataDir(dir, options)).rejects.toMatchObject({
      name: 'SettingsError',
      faults: [
        expect.stringMatching(
          new RegExp(
            `^DATA_DIR ${dir} is in use by process ${child.pid} on .+ since 20.+ set DATA_DIR`,
          ),
        ),
      ],
    });
    expect(readdirSync(dir)).toEqual(before);
  });

  it('is not fooled by a pid that is noted and belongs to somebody', async () => {
    const dir = newDir();
    (await lockDataDir(dir, options)).release();
    writeFileSync(join(dir, 'sluice.lock.json'), JSON.stringify({ pid: process.pid }));
    (await lockDataDir(dir, options)).release();
  });

  it('takes a folder over at once when its process was killed', async () => {
    const dir = newDir();
    const child = await holder(dir);
    child.kill('SIGKILL');
    await once(child, 'exit');
    (await lockDataDir(dir, options)).release();
  });

  it('waits for one that is about to end', async () => {
    const dir = newDir();
    const child = await holder(dir);
    const taken = lockDataDir(dir, { ...options, waitMs: 5000 });
    child.kill('SIGKILL');
    (await taken).release();
  });

  it('of two that start at once lets one in', async () => {
    const dir = newDir();
    const outcomes = await Promise.allSettled([
      lockDataDir(dir, options),
      lockDataDir(dir, options),
    ]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });

  it('says when a folder cannot be locked', async () => {
    const dir = newDir();
    (await lockDataDir(dir, options)).release();
    chmodSync(dir, 0o555);
    rmSync(join(dir, 'sluice.lock'), { force: true });
    await expect(asNobody(() => lockDataDir(dir, options))).rejects.toThrow('cannot be locked');
    chmodSync(dir, 0o700);
  });
});
