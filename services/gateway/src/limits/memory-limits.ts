import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { setImmediate as turn } from 'node:timers/promises';
import { type Counter, windowEndMs } from '@sluice/engine';
import type { CounterState } from '../exchange/reservation.ts';
import { HeldReservation, type ReservationKeeper } from './held-reservation.ts';
import { type LimitStore, oneRequest, type ReserveOutcome } from './limit-store.ts';

const windowsMax = 200_000;
/** Groups of one policy that have counters of their own in a window. */
export const limitGroupsMaxDefault = 10_000;
/** What all further groups of a policy share. */
export const overflowGroup = '*';

interface Window {
  used: number;
  endsAtMs: number;
}

/** How many groups of one policy are counted in the present window. */
interface Pool {
  groups: number;
  endsAtMs: number;
}

/**
 * Limits of a single gateway, in memory. Exact, because the event loop runs
 * one check at a time. The counts are written to disk every second and on
 * close, so that a restart does not open a window anew.
 */
export class MemoryLimits implements LimitStore, ReservationKeeper {
  readonly #windows = new Map<string, Window>();
  readonly #pools = new Map<string, Pool>();
  readonly #groupsMax: number;
  readonly #now: () => number;
  readonly #path: string | undefined;
  #timer: NodeJS.Timeout | undefined;
  #dirty = false;
  #saving: Promise<void> | undefined;
  #savedAt = 0;
  #saveTookMs = 0;

  constructor(options: { now?: () => number; path?: string; groupsMax?: number } = {}) {
    this.#groupsMax = options.groupsMax ?? limitGroupsMaxDefault;
    this.#now = options.now ?? Date.now;
    this.#path = options.path;
    if (this.#path !== undefined) this.#load(this.#path);
  }

  /** Begins to save, where there is a file. */
  start(): void {
    if (this.#path === undefined) return;
    this.#timer = setInterval(() => {
      this.#saving ??= this.#saveNowAndThen().finally(() => {
        this.#saving = undefined;
      });
    }, 1000);
    this.#timer.unref();
  }

  /** Windows held. */
  get size(): number {
    return this.#windows.size;
  }

  /** @param keeper of the reservation, where another store stands before this one */
  reserve(
    scope: string,
    counters: readonly Counter[],
    estimate = oneRequest,
    keeper: ReservationKeeper = this,
  ): ReserveOutcome {
    const nowMs = this.#now();
    const states: CounterState[] = [];
    const windows: Window[] = [];
    for (const counter of counters) {
      const window = this.#window(scope, counter, nowMs);
      const state = { counter, remaining: counter.limit - window.used, resetAtMs: window.endsAtMs };
      if (state.remaining < Math.max(1, estimate[counter.type]))
        return {
          admitted: false,
          refusedBy: { ...state, remaining: Math.max(0, state.remaining) },
        };
      states.push(state);
      windows.push(window);
    }
    for (const [index, window] of windows.entries()) {
      const state = states[index]!;
      const amount = estimate[state.counter.type];
      window.used += amount;
      state.remaining -= amount;
    }
    this.#dirty = true;
    return new HeldReservation(keeper, scope, counters, states, estimate);
  }

  peek(scope: string, counters: readonly Counter[]): CounterState[] {
    const nowMs = this.#now();
    return counters.map((counter) => {
      const used = this.#live(this.#nameOf(scope, counter, nowMs), nowMs)?.used ?? 0;
      return {
        counter,
        remaining: Math.max(0, counter.limit - used),
        resetAtMs: windowEndMs(counter.unit, nowMs),
      };
    });
  }

  count(scope: string, counters: readonly Counter[], tokens: number): void {
    const nowMs = this.#now();
    for (const counter of counters)
      if (counter.type === 'tokens') this.#window(scope, counter, nowMs).used += tokens;
    this.#dirty = true;
  }

  giveBack(scope: string, states: readonly CounterState[], amounts: readonly number[]): void {
    const nowMs = this.#now();
    for (const [index, { counter, resetAtMs }] of states.entries()) {
      const window = this.#live(this.#nameOf(scope, counter, nowMs), nowMs);
      if (window?.endsAtMs !== resetAtMs) continue;
      window.used -= Math.min(window.used, amounts[index] ?? 0);
    }
    this.#dirty = true;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    // Or it would replace the last one.
    await this.#saving;
    this.#save();
  }

  #window(scope: string, counter: Counter, nowMs: number): Window {
    const name = this.#nameOf(scope, counter, nowMs);
    const held = this.#live(name, nowMs);
    if (held !== undefined) return held;
    // A new window is a moment to forget old ones.
    if (this.#windows.size % 10_000 === 9_999) this.#makeRoom(nowMs);
    const fresh = { used: 0, endsAtMs: windowEndMs(counter.unit, nowMs) };
    this.#windows.set(name, fresh);
    if (counter.pool !== undefined) this.#joinPool(`${scope}|${counter.pool}`, fresh.endsAtMs);
    return fresh;
  }

  #live(name: string, nowMs: number): Window | undefined {
    const held = this.#windows.get(name);
    return held !== undefined && held.endsAtMs > nowMs ? held : undefined;
  }

  /** Of a new group for which its policy has no room, the one that all such share. */
  #nameOf(scope: string, counter: Counter, nowMs: number): string {
    const name = `${scope}|${counter.key}`;
    if (counter.pool === undefined || this.#live(name, nowMs) !== undefined) return name;
    const poolName = `${scope}|${counter.pool}`;
    const pool = this.#pools.get(poolName);
    return pool !== undefined && pool.endsAtMs > nowMs && pool.groups >= this.#groupsMax
      ? `${poolName}:${overflowGroup}`
      : name;
  }

  #joinPool(name: string, endsAtMs: number): void {
    const pool = this.#pools.get(name);
    if (pool === undefined || pool.endsAtMs !== endsAtMs)
      this.#pools.set(name, { groups: 1, endsAtMs });
    else pool.groups++;
  }

  /**
   * The bound on all policies of all organisations. Only those that hold more
   * than an equal part make room, and windows with one use go first, so that a
   * flood of made-up groups forgets itself and not the counters of others.
   */
  #makeRoom(nowMs: number): void {
    this.#sweep(nowMs);
    let excess = this.#windows.size - windowsMax;
    if (excess <= 0) return;
    const held = new Map<string, number>();
    for (const name of this.#windows.keys())
      held.set(scopeIn(name), (held.get(scopeIn(name)) ?? 0) + 1);
    const share = windowsMax / held.size;
    for (const usedMax of [1, Number.POSITIVE_INFINITY])
      for (const [name, window] of this.#windows) {
        if (excess <= 0) return;
        const scope = scopeIn(name);
        const count = held.get(scope) ?? 0;
        if (window.used > usedMax || count <= share) continue;
        this.#windows.delete(name);
        held.set(scope, count - 1);
        excess--;
      }
  }

  #sweep(nowMs: number): void {
    for (const [key, window] of this.#windows)
      if (window.endsAtMs <= nowMs) this.#windows.delete(key);
    for (const [name, pool] of this.#pools) if (pool.endsAtMs <= nowMs) this.#pools.delete(name);
  }

  /** The more there is, the rarer: at most a twentieth of the time goes into it, and little in one go. */
  async #saveNowAndThen(): Promise<void> {
    if (this.#path === undefined || !this.#dirty) return;
    if (performance.now() - this.#savedAt < this.#saveTookMs * 20) return;
    const startedAt = performance.now();
    this.#dirty = false;
    try {
      this.#sweep(this.#now());
      const pieces: string[] = [];
      let rows: string[] = [];
      for (const entry of this.#windows) {
        if (rows.push(rowOf(entry)) < rowsInOneGo) continue;
        pieces.push(rows.join());
        rows = [];
        await turn();
      }
      if (rows.length > 0) pieces.push(rows.join());
      await writeFile(`${this.#path}.new`, `[${pieces.join()}]`, { mode: 0o600 });
      await rename(`${this.#path}.new`, this.#path);
    } catch {
      // The disk refuses: counting goes on, and the next second tries again.
      this.#dirty = true;
    }
    this.#savedAt = performance.now();
    this.#saveTookMs = this.#savedAt - startedAt;
  }

  #save(): void {
    if (this.#path === undefined) return;
    this.#sweep(this.#now());
    const rows = Array.from(this.#windows, rowOf);
    writeFileSync(`${this.#path}.tmp`, `[${rows.join()}]`, { mode: 0o600 });
    renameSync(`${this.#path}.tmp`, this.#path);
  }

  #load(path: string): void {
    try {
      const rows = JSON.parse(readFileSync(path, 'utf8')) as [string, number, number][];
      for (const [key, used, endsAtMs] of rows)
        if (endsAtMs > this.#now()) {
          this.#windows.set(key, { used, endsAtMs });
          const pool = /^[^|]*\|p:[^:]*:[^:]*(?=:.)/.exec(key)?.[0];
          if (pool !== undefined) this.#joinPool(pool, endsAtMs);
        }
    } catch {
      // None yet, or torn by a crash: counting starts anew.
    }
  }
}

/** So many are written down in well under a millisecond. */
const rowsInOneGo = 1000;

function rowOf([name, window]: [string, Window]): string {
  return JSON.stringify([name, window.used, window.endsAtMs]);
}

/** The organisation of a window. */
function scopeIn(name: string): string {
  return name.slice(0, name.indexOf('|'));
}
