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

/**
 * Its part of what a counter may come to; those of all gateways are the whole. Who
 * has one more where that does not come out even is another with each counter, and
 * so with each epoch: of a limit of one no gateway is always without.
 */
export function shareOf(total: number, { index, count }: Replicas, counter: string): number {
  const over = total % count;
  const share = (total - over) / count;
  if (over === 0) return share;
  return (index + placeOf(counter)) % count < over ? share + 1 : share;
}

/** Of a name, the same in every gateway: FNV-1a. */
function placeOf(name: string): number {
  let place = 0x811c9dc5;
  for (let at = 0; at < name.length; at += 1)
    place = Math.imul(place ^ name.charCodeAt(at), 0x01000193);
  return place >>> 0;
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
