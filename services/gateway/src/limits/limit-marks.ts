import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import type { Limit } from '@sluice/engine';
import { sharedKeys } from '../redis/shared-keys.ts';
import type { SharedPart } from '../redis/shared-store.ts';
import { markScript } from './limit-scripts.ts';

/** The ledger's sums by name of the counter; those without a sum are left out. */
export type SumCounters = (
  organisationId: string,
  names: readonly string[],
) => Promise<ReadonlyMap<string, number>>;

/** Whether Redis knows the counters of an organisation. */
export interface LimitMarks {
  /** As this gateway knows it; empty = it has seen none. */
  of(scope: string): string;
  /** Whether a counter of this limit may have been lost, where Redis knows none: not of one that was made a while ago, and after the loss. */
  mayHaveLost(scope: string, limit: Limit, nowMs: number): boolean;
  /**
   * Redis has another mark than is known, or none: then it was emptied, or is
   * new. False = that cannot be told at the moment.
   */
  adopt(
    scope: string,
    mark: string | undefined,
    nowMs: number,
    names: readonly string[],
  ): Promise<boolean>;
  /** Undefined = the ledger does not answer; each counter is asked for once at a time. */
  sum(scope: string, names: readonly string[]): Promise<ReadonlyMap<string, number> | undefined>;
}

/**
 * So long a request waits for sums; whoever comes later finds them. Whoever does
 * not wait counts alone beside a Redis that works, and what both admit is more
 * than the limit: so it is long, but once, and short while the ledger is slow.
 */
const waitMs = 1000;
const waitOfSlowMs = 100;
const namesInOneCall = 10_000;
/** The clock of who makes limits may be as far ahead. */
const clockSlipMs = 60_000;
/** A Redis that is full drops what was not used for longest: no counter as young as that. */
const youngMs = 3_600_000;
const againMs = 1000;
const askedMax = 10_000;

interface Asking {
  readonly sums: Promise<ReadonlyMap<string, number> | undefined>;
  readonly sinceMs: number;
  /** Until then it is not asked again. */
  untilMs: number;
}

export interface SharedMarksParts {
  part: SharedPart;
  sumCounters: SumCounters | undefined;
  path: string | undefined;
  /** The counters are others than those that were known: told before anything is heard of them. */
  onLost: (scope: string) => void;
}

/**
 * Marks of organisations in Redis: `<since>:<random>`. Counters whose epoch
 * began before `since` may have been lost and are restored from the ledger's
 * sums when they are first asked for: 0 = none were lost.
 */
export class SharedMarks implements LimitMarks {
  readonly #parts: SharedMarksParts;
  readonly #known: Map<string, string>;
  readonly #asked = new Map<string, Asking>();
  /** The ledger's last answer was an error, or nobody waited for it to the end. */
  #isSlow = false;
  #saving: Promise<void> = Promise.resolve();

  constructor(parts: SharedMarksParts) {
    this.#parts = parts;
    this.#known = readMarks(parts.path);
  }

  of(scope: string): string {
    return this.#known.get(scope) ?? '';
  }

  mayHaveLost(scope: string, limit: Limit, nowMs: number): boolean {
    const sinceMs = Number.parseInt(this.of(scope), 10);
    const madeMs = madeAtMs(limit);
    const isYoung = madeMs >= sinceMs + clockSlipMs && madeMs >= nowMs - youngMs;
    return !isYoung;
  }

  async adopt(
    scope: string,
    mark: string | undefined,
    nowMs: number,
    names: readonly string[],
  ): Promise<boolean> {
    if (mark !== undefined) {
      this.#keep(scope, mark);
      return true;
    }
    const since = (await this.#wasFilled(scope, names)) ? nowMs : 0;
    const key = sharedKeys.limitMark(scope);
    const fresh = `${since}:${randomBytes(6).toString('base64url')}`;
    try {
      const kept = await this.#parts.part.call(key, (redis) =>
        markScript.run(redis, [key], [fresh]),
      );
      this.#keep(scope, kept);
      return true;
    } catch {
      // The store has said so.
      return false;
    }
  }

  async sum(
    scope: string,
    names: readonly string[],
  ): Promise<ReadonlyMap<string, number> | undefined> {
    const { sumCounters } = this.#parts;
    if (sumCounters === undefined) return new Map();
    const all = new Map<string, number>();
    for (let from = 0; from < names.length; from += namesInOneCall) {
      const some = names.slice(from, from + namesInOneCall);
      const sums = await this.#once(`${scope}|${some.join()}`, () => sumCounters(scope, some));
      if (sums === undefined) return undefined;
      for (const [name, sum] of sums) all.set(name, sum);
    }
    return all;
  }

  /** Redis without a mark was emptied where it is known to have had one, or the ledger has sums. */
  async #wasFilled(scope: string, names: readonly string[]): Promise<boolean> {
    if (this.#known.has(scope)) return true;
    const sums = await this.sum(scope, names);
    return sums !== undefined && sums.size > 0;
  }

  /** The answer is good for a while; an error, too: nobody is asked again at once. */
  async #once(
    key: string,
    ask: () => Promise<ReadonlyMap<string, number>>,
  ): Promise<ReadonlyMap<string, number> | undefined> {
    const nowMs = performance.now();
    let asking = this.#asked.get(key);
    if (asking === undefined || asking.untilMs < nowMs) {
      if (this.#asked.size > askedMax) this.#asked.clear();
      const fresh: Asking = {
        sums: ask().catch(() => undefined),
        sinceMs: nowMs,
        untilMs: Number.POSITIVE_INFINITY,
      };
      void fresh.sums.then((sums) => {
        fresh.untilMs = performance.now() + againMs;
        this.#isSlow = sums === undefined;
      });
      this.#asked.set(key, fresh);
      asking = fresh;
    }
    const isOver = asking.untilMs !== Number.POSITIVE_INFINITY;
    const leftMs = (this.#isSlow ? waitOfSlowMs : waitMs) - (nowMs - asking.sinceMs);
    if (!isOver && leftMs <= 0) return undefined;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(
        () => {
          this.#isSlow = true;
          resolve(undefined);
        },
        Math.max(1, leftMs),
      );
    });
    return Promise.race([asking.sums, late]).finally(() => clearTimeout(timer));
  }

  #keep(scope: string, mark: string): void {
    // What the ledger said before it was emptied is not what is to be known of it now.
    const before = this.#known.get(scope);
    if (before !== mark) this.#asked.clear();
    this.#known.set(scope, mark);
    if (before !== undefined && before !== mark) this.#parts.onLost(scope);
    const { path } = this.#parts;
    if (path === undefined) return;
    this.#saving = this.#saving
      .then(async () => {
        await writeFile(`${path}.new`, JSON.stringify([...this.#known]), { mode: 0o600 });
        await rename(`${path}.new`, path);
      })
      .catch(() => {
        // The disk refuses: the ledger still tells whether there was anything.
      });
  }
}

const uuidV7 = /^([0-9a-f]{8})-([0-9a-f]{4})-7/;

/** As its id tells, which the control plane makes; 0 = nothing tells: a token's is its issuer's. */
function madeAtMs({ id, holder }: Limit): number {
  const time = holder.kind === 'token' ? null : uuidV7.exec(id);
  return time === null ? 0 : Number.parseInt(`${time[1]}${time[2]}`, 16);
}

function readMarks(path: string | undefined): Map<string, string> {
  if (path === undefined) return new Map();
  try {
    const rows = JSON.parse(readFileSync(path, 'utf8')) as [string, string][];
    return new Map(rows);
  } catch {
    // None yet, or torn by a crash.
    return new Map();
  }
}
