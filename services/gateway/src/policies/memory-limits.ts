import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { type Counter, windowEndMs } from '@sluice/engine';
import type { CounterState, LimitStore, Reservation } from './limit-store.ts';

const windowsMax = 200_000;

interface Window {
  used: number;
  endsAtMs: number;
}

/**
 * Limits of a single gateway, in memory. Exact, because the event loop runs
 * one check at a time. The counts are written to disk every second and on
 * close, so that a restart does not open a window anew.
 */
export class MemoryLimits implements LimitStore {
  private readonly windows = new Map<string, Window>();
  private readonly now: () => number;
  private readonly path: string | undefined;
  private readonly timer: NodeJS.Timeout | undefined;
  private dirty = false;
  private savedAt = 0;
  private saveTookMs = 0;

  constructor(options: { now?: () => number; path?: string } = {}) {
    this.now = options.now ?? Date.now;
    this.path = options.path;
    if (this.path !== undefined) {
      this.load(this.path);
      this.timer = setInterval(() => this.saveNowAndThen(), 1000);
      this.timer.unref();
    }
  }

  /** Windows held. */
  get size(): number {
    return this.windows.size;
  }

  reserve(scope: string, counters: readonly Counter[]): Reservation {
    const nowMs = this.now();
    const states: CounterState[] = [];
    const windows: Window[] = [];
    for (const counter of counters) {
      const window = this.window(scope, counter, nowMs);
      const state = { counter, remaining: counter.limit - window.used, resetAtMs: window.endsAtMs };
      if (state.remaining < 1) return { admitted: false, refusedBy: { ...state, remaining: 0 } };
      states.push(state);
      windows.push(window);
    }
    for (const [index, window] of windows.entries()) {
      const state = states[index];
      if (state?.counter.type !== 'requests') continue;
      window.used++;
      state.remaining--;
    }
    this.dirty = true;
    return { admitted: true, states };
  }

  peek(scope: string, counters: readonly Counter[]): CounterState[] {
    const nowMs = this.now();
    return counters.map((counter) => {
      const held = this.windows.get(`${scope}|${counter.key}`);
      const used = held === undefined || held.endsAtMs <= nowMs ? 0 : held.used;
      return {
        counter,
        remaining: Math.max(0, counter.limit - used),
        resetAtMs: windowEndMs(counter.unit, nowMs),
      };
    });
  }

  settle(scope: string, counters: readonly Counter[], tokens: number): void {
    const nowMs = this.now();
    for (const counter of counters)
      if (counter.type === 'tokens') this.window(scope, counter, nowMs).used += tokens;
    this.dirty = true;
  }

  async close(): Promise<void> {
    clearInterval(this.timer);
    this.save();
  }

  private window(scope: string, counter: Counter, nowMs: number): Window {
    const key = `${scope}|${counter.key}`;
    const held = this.windows.get(key);
    if (held !== undefined && held.endsAtMs > nowMs) return held;
    // A new window is a moment to forget old ones, so that groups by metadata cannot fill the memory.
    if (held === undefined && this.windows.size % 10_000 === 9_999) this.makeRoom(nowMs);
    const fresh = { used: 0, endsAtMs: windowEndMs(counter.unit, nowMs) };
    this.windows.set(key, fresh);
    return fresh;
  }

  /**
   * Groups by metadata are named by callers: without a cap they would fill the
   * memory. Windows with one use go first, so that a flood of made-up groups
   * forgets itself and not the counters that hold it back.
   */
  private makeRoom(nowMs: number): void {
    this.sweep(nowMs);
    let excess = this.windows.size - windowsMax;
    for (const usedMax of [1, Number.POSITIVE_INFINITY])
      for (const [key, window] of this.windows) {
        if (excess <= 0) return;
        if (window.used <= usedMax && this.windows.delete(key)) excess--;
      }
  }

  private sweep(nowMs: number): void {
    for (const [key, window] of this.windows)
      if (window.endsAtMs <= nowMs) this.windows.delete(key);
  }

  /** The more there is, the rarer: at most a twentieth of the time goes into it. */
  private saveNowAndThen(): void {
    if (performance.now() - this.savedAt < this.saveTookMs * 20) return;
    const startedAt = performance.now();
    try {
      this.save();
    } catch {
      // The disk refuses: counting goes on, and the next second tries again.
      this.dirty = true;
    }
    this.savedAt = performance.now();
    this.saveTookMs = this.savedAt - startedAt;
  }

  private save(): void {
    if (this.path === undefined || !this.dirty) return;
    this.dirty = false;
    this.sweep(this.now());
    const rows = [...this.windows].map(([key, window]) => [key, window.used, window.endsAtMs]);
    writeFileSync(`${this.path}.tmp`, JSON.stringify(rows), { mode: 0o600 });
    renameSync(`${this.path}.tmp`, this.path);
  }

  private load(path: string): void {
    try {
      const rows = JSON.parse(readFileSync(path, 'utf8')) as [string, number, number][];
      for (const [key, used, endsAtMs] of rows)
        if (endsAtMs > this.now()) this.windows.set(key, { used, endsAtMs });
    } catch {
      // None yet, or torn by a crash: counting starts anew.
    }
  }
}
