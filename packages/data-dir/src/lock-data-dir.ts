import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { SettingsError } from '@sluice/env';

export interface DataDirLock {
  release(): void;
}

export interface LockOptions {
  /** How the folder is called in messages: the variable that names it. */
  name: string;
  /** How long to wait for one that is on its way out. */
  waitMs?: number;
}

const sqliteBusy = 5;
/** Held here, because a lock that is collected is given up. */
const held = new Set<DatabaseSync>();

/**
 * Takes a folder for this process, and creates it when it is not there. The
 * lock is the kernel's, taken through SQLite, the only way to one without native
 * code of ours: it ends with the process however that ends, it does not care for
 * pids, and containers that share a volume see it. Nothing is ever written to
 * the locked file; who holds it is noted beside it, for the message.
 * @throws SettingsError when another process has the folder, or it cannot be locked.
 */
export async function lockDataDir(dir: string, options: LockOptions): Promise<DataDirLock> {
  const { name, waitMs = 5000 } = options;
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const deadline = Date.now() + waitMs;
  for (;;) {
    const database = tryLock(dir, name);
    if (database !== undefined) {
      held.add(database);
      noteHolder(dir);
      return {
        release() {
          if (held.delete(database)) database.close();
        },
      };
    }
    if (Date.now() >= deadline)
      throw new SettingsError([
        `${name} ${dir} is in use by ${holderOf(dir)}. Each process needs a folder of its own: stop the other one, or set ${name}.`,
      ]);
    await delay(100);
  }
}

/** Undefined while another process has it. */
function tryLock(dir: string, name: string): DatabaseSync | undefined {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(join(dir, 'sluice.lock'));
    database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
    return database;
  } catch (cause) {
    database?.close();
    if ((cause as { errcode?: number }).errcode === sqliteBusy) return undefined;
    throw new SettingsError([
      `${name} ${dir} cannot be locked (${(cause as Error).message}). It must be writable, on a file system with locks.`,
    ]);
  }
}

function holderPath(dir: string): string {
  return join(dir, 'sluice.lock.json');
}

function noteHolder(dir: string): void {
  const holder = { pid: process.pid, host: hostname(), since: new Date().toISOString() };
  writeFileSync(holderPath(dir), `${JSON.stringify(holder)}\n`, { mode: 0o600 });
}

function holderOf(dir: string): string {
  try {
    const { pid, host, since } = JSON.parse(readFileSync(holderPath(dir), 'utf8'));
    return `process ${pid} on ${host} since ${since}`;
  } catch {
    // Its first moment, before it has noted itself.
    return 'another process';
  }
}
