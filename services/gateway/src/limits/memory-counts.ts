import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { setImmediate as turn } from 'node:timers/promises';
import { ScopedMap } from './scoped-map.ts';

/** How far one counter is. */
export interface Count {
  posted: number;
  /** Held by requests under way; of a process that ended nothing is. */
  pending: number;
  overshoot: number;
  /** 0 = never. That of a period may be moved while it lasts. */
  endsAtMs: number;
  /** Of a group of a policy: the policy's count of groups in this epoch. */
  readonly pool: Pool | undefined;
}

export interface Pool {
  readonly name: string;
  groups: number;
}

/** Counts may be settled after their epoch; then they are forgotten. */
const graceMs = 60_000;

/** The counts of a gateway by name, and their file. */
export class MemoryCounts {
  readonly #counts = new ScopedMap<Count>();
  readonly #pools = new Map<string, Pool>();
  /** Counts of groups, by organisation. */
  readonly #groupsOf = new Map<string, number>();
  #groups = 0;
  readonly #path: string | undefined;
  readonly #now: () => number;
  #timer: NodeJS.Timeout | undefined;
  #isDirty = false;
  #saving: Promise<void> | undefined;

  constructor(now: () => number, path: string | undefined) {
    this.#now = now;
    this.#path = path;
    if (path !== undefined) this.#load(path);
  }

  start(): void {
    if (this.#path === undefined) return;
    this.#timer = setInterval(() => {
      this.#saving ??= this.#saveInSlices().finally(() => {
        this.#saving = undefined;
      });
    }, 1000);
    this.#timer.unref();
  }

  get size(): number {
    return this.#counts.size;
  }

  get(scope: string, name: string): Count | undefined {
    return this.#counts.get(scope, name);
  }

  /** How many groups a policy has in an epoch. */
  groupsIn(scope: string, pool: string): number {
    return this.#pools.get(`${scope}|${pool}`)?.groups ?? 0;
  }

  /** All groups together are bounded, too: who has more than an equal part of them gets no more. */
  hasRoomFor(scope: string, groupsMax: number): boolean {
    if (this.#groups < groupsMax) return true;
    return (this.#groupsOf.get(scope) ?? 0) < groupsMax / this.#groupsOf.size;
  }

  add(scope: string, name: string, endsAtMs: number, pool: string | undefined): Count {
    if (this.#counts.size % 10_000 === 9_999) this.#sweepSoon();
    const count: Count = {
      posted: 0,
      pending: 0,
      overshoot: 0,
      endsAtMs,
      pool: pool === undefined ? undefined : this.#join(scope, `${scope}|${pool}`),
    };
    this.#counts.set(scope, name, count);
    return count;
  }

  changed(): void {
    this.#isDirty = true;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    // Or it would replace the last one.
    await this.#saving;
    if (this.#path === undefined || !this.#isDirty) return;
    const rows = Array.from(this.#counts, rowOf);
    writeFileSync(`${this.#path}.tmp`, rows.join(''), { mode: 0o600 });
    renameSync(`${this.#path}.tmp`, this.#path);
  }

  #join(scope: string, name: string): Pool {
    this.#groups++;
    this.#groupsOf.set(scope, (this.#groupsOf.get(scope) ?? 0) + 1);
    let pool = this.#pools.get(name);
    if (pool === undefined) {
      pool = { name, groups: 0 };
      this.#pools.set(name, pool);
    }
    pool.groups++;
    return pool;
  }

  #remove(scope: string, name: string, { pool }: Count): void {
    this.#counts.delete(scope, name);
    if (pool === undefined) return;
    this.#groups--;
    if (--pool.groups === 0) this.#pools.delete(pool.name);
    const left = (this.#groupsOf.get(scope) ?? 1) - 1;
    if (left === 0) this.#groupsOf.delete(scope);
    else this.#groupsOf.set(scope, left);
  }

  #isOver({ endsAtMs, pending }: Count, nowMs: number): boolean {
    return endsAtMs !== 0 && endsAtMs + (pending > 0 ? 60 * graceMs : graceMs) <= nowMs;
  }

  #isSweeping = false;
  /** A little at a time: there may be hundreds of thousands. */
  #sweepSoon(): void {
    if (this.#isSweeping) return;
    this.#isSweeping = true;
    void (async () => {
      let looked = 0;
      for (const [scope, name, count] of this.#counts) {
        if (this.#isOver(count, this.#now())) this.#remove(scope, name, count);
        if (++looked % rowsInOneGo === 0) await turn();
      }
      this.#isSweeping = false;
    })();
  }

  async #saveInSlices(): Promise<void> {
    if (this.#path === undefined || !this.#isDirty) return;
    this.#isDirty = false;
    try {
      const file = await open(`${this.#path}.new`, 'w', 0o600);
      try {
        let rows = '';
        let inRows = 0;
        for (const entry of this.#counts) {
          if (this.#isOver(entry[2], this.#now())) {
            this.#remove(...entry);
            continue;
          }
          rows += rowOf(entry);
          if (++inRows < rowsInOneGo) continue;
          await file.write(rows);
          rows = '';
          inRows = 0;
          await turn();
        }
        await file.write(rows);
      } finally {
        await file.close();
      }
      await rename(`${this.#path}.new`, this.#path);
    } catch {
      // The disk refuses: counting goes on, and the next second tries again.
      this.#isDirty = true;
    }
  }

  #load(path: string): void {
    let text: string;
    try {
      text = readFileSync(path, 'utf8');
    } catch {
      // None yet: counting begins.
      return;
    }
    const nowMs = this.#now();
    for (const line of text.split('\n')) {
      const row = readRow(line);
      if (row === undefined) continue;
      const [key, posted, endsAtMs, pool] = row;
      const [scope, name] = splitKey(key);
      if (endsAtMs !== 0 && endsAtMs <= nowMs) continue;
      this.add(scope, name, endsAtMs, pool).posted = posted;
    }
  }
}

/** So many are written down in well under a millisecond. */
const rowsInOneGo = 500;

function rowOf([scope, name, { posted, endsAtMs, pool }]: [string, string, Count]): string {
  const row = [`${scope}|${name}`, posted, endsAtMs];
  const ofPool = pool === undefined ? [] : [splitKey(pool.name)[1]];
  return `${JSON.stringify([...row, ...ofPool])}\n`;
}

/** Undefined = torn by a crash, or not ours. */
function readRow(line: string): [string, number, number, string | undefined] | undefined {
  try {
    const [key, posted, endsAtMs, pool] = JSON.parse(line) as unknown[];
    return typeof key === 'string' &&
      Number.isSafeInteger(posted) &&
      Number.isSafeInteger(endsAtMs) &&
      (pool === undefined || typeof pool === 'string')
      ? [key, posted as number, endsAtMs as number, pool]
      : undefined;
  } catch {
    return undefined;
  }
}

function splitKey(key: string): [scope: string, name: string] {
  const at = key.indexOf('|');
  return [key.slice(0, at), key.slice(at + 1)];
}
