import type { Logger } from '@sluice/telemetry';

/** Which of how many gateways this is. */
export interface Replicas {
  readonly index: number;
  readonly count: number;
}

/** Fewer gateways are believed when there have been no more for so long: a control plane that restarts sees them come one by one. */
const believedAfterMs = 15_000;

/** The gateways there are, as the control plane tells: limits that cannot be counted together are shared out among them. */
export class LiveReplicas {
  readonly #now: () => number;
  #known: Replicas = { index: 0, count: 1 };
  #fewerSinceMs: number | undefined;
  /** Called when it is another. */
  onChange: (replicas: Replicas) => void = () => {};

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  get now(): Replicas {
    return this.#known;
  }

  /** @param count 0 = it is not known */
  note(index: number, count: number): void {
    if (count === 0) return;
    if (count < this.#known.count) {
      this.#fewerSinceMs ??= this.#now();
      if (this.#now() - this.#fewerSinceMs < believedAfterMs) return;
    }
    this.#fewerSinceMs = undefined;
    if (index === this.#known.index && count === this.#known.count) return;
    this.#known = { index, count };
    this.onChange(this.#known);
  }
}

/** Its part of something; those of all gateways are the whole. */
export function shareOf(total: number, { index, count }: Replicas): number {
  if (count <= 1) return total;
  const upTo = (replicas: number) => Number((BigInt(total) * BigInt(replicas)) / BigInt(count));
  return upTo(index + 1) - upTo(index);
}

export function sayShares(logger: Logger): (replicas: Replicas) => void {
  return ({ count }) => {
    if (count > 1)
      logger.warn(
        { gateways: count },
        'several gateways without redis: each counts its share of every limit',
      );
  };
}
