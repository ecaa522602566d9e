import { RecentMap } from '../../chain/recent-map.ts';

const measurementHalfLifeMs = 10_000;
const fadeHalfLifeMs = 30_000;
const forgottenAfterMs = 10 * fadeHalfLifeMs;
const failurePenaltyMs = 10_000;

interface Average {
  /** Sum of the measurements, each weighted by its age, and of those weights. */
  sumMs: number;
  weight: number;
  measuredAtMs: number;
  /** When the last call began or was measured: the average fades from then on. */
  usedAtMs: number;
}

/**
 * Average time to the first byte of each target, as this gateway sees it.
 *
 * - A measurement counts half after 10 s, a quarter after 20 s.
 * - A target that is not called looks faster with time: its average halves
 *   every 30 s, so that a slow one is tried again, the slower the later. After
 *   5 min without a call it counts as never measured.
 * - A failure counts as a measurement of 10 s.
 */
export class Latencies {
  readonly #averages: RecentMap<Average>;
  readonly #now: () => number;

  /** `now` may start anywhere but must not jump. */
  constructor(options: { entriesMax?: number; now?: () => number } = {}) {
    this.#averages = new RecentMap(options.entriesMax ?? 10_000);
    this.#now = options.now ?? (() => performance.now());
  }

  /** Entries held. */
  get size(): number {
    return this.#averages.size;
  }

  /**
   * A call begins. Undoes the fading, so that one request tries a faded target
   * and the others do not follow it before its answer came.
   */
  begin(configKey: string, path: string): void {
    const average = this.#averages.use(keyOf(configKey, path));
    if (average !== undefined) average.usedAtMs = this.#now();
  }

  observe(configKey: string, path: string, ms: number): void {
    const nowMs = this.#now();
    const key = keyOf(configKey, path);
    const average = this.#averages.use(key);
    if (average === undefined) {
      this.#averages.set(key, { sumMs: ms, weight: 1, measuredAtMs: nowMs, usedAtMs: nowMs });
      return;
    }
    const kept = 0.5 ** ((nowMs - average.measuredAtMs) / measurementHalfLifeMs);
    average.sumMs = average.sumMs * kept + ms;
    average.weight = average.weight * kept + 1;
    average.measuredAtMs = nowMs;
    average.usedAtMs = nowMs;
  }

  fail(configKey: string, path: string): void {
    this.observe(configKey, path, failurePenaltyMs);
  }

  /** Undefined = not measured, or so long ago that it says nothing. */
  averageMs(configKey: string, path: string): number | undefined {
    const average = this.#averages.peek(keyOf(configKey, path));
    if (average === undefined) return undefined;
    const idleMs = this.#now() - average.usedAtMs;
    if (idleMs >= forgottenAfterMs) return undefined;
    return (average.sumMs / average.weight) * 0.5 ** (idleMs / fadeHalfLifeMs);
  }
}

function keyOf(configKey: string, path: string): string {
  return `${configKey}\n${path}`;
}
