import type { Logger } from '@sluice/telemetry';

/** What changes within so long is told together: an outage ends the sharing of all parts, each as it finds out. */
const gatherMs = 200;

/**
 * A part that is alone again within so long of its return has not come back until it stayed for so long: a Redis that
 * answers at about the time that parts wait for it would be told twice a second.
 */
const staysMs = 15_000;

/** A part whose return is not told yet. */
interface Wavering {
  /** Since when it is, or was, alone. */
  readonly sinceMs: number;
  /** When it shared again last; it does while this timer runs. */
  backMs: number;
  timer: NodeJS.Timeout | undefined;
}

/** Changes of one kind that are not told yet. */
interface Gathered {
  readonly isAlone: boolean;
  readonly parts: Set<string>;
  readonly reasons: Set<string>;
  awayMs: number;
}

/** Tells in the log which parts go on without Redis, and which share again: a line for all that change at about the same time. */
export class SharingChanges {
  readonly #logger: Pick<Logger, 'info' | 'error'>;
  #gathered: Gathered | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** When a part came back that was told to be. */
  readonly #backMs = new Map<string, number>();
  readonly #wavering = new Map<string, Wavering>();

  constructor(logger: Pick<Logger, 'info' | 'error'>) {
    this.#logger = logger;
  }

  alone(part: string, reason: string): void {
    const wavering = this.#wavering.get(part);
    if (wavering?.timer !== undefined) {
      clearTimeout(wavering.timer);
      wavering.timer = undefined;
      return;
    }
    const now = performance.now();
    if (now - (this.#backMs.get(part) ?? Number.NEGATIVE_INFINITY) < staysMs)
      this.#wavering.set(part, { sinceMs: now, backMs: now, timer: undefined });
    const gathered = this.#gather(true);
    gathered.parts.add(part);
    gathered.reasons.add(reason);
  }

  again(part: string, awayMs: number): void {
    const wavering = this.#wavering.get(part);
    if (wavering === undefined) {
      this.#back(part, awayMs);
      return;
    }
    wavering.backMs = performance.now();
    clearTimeout(wavering.timer);
    wavering.timer = setTimeout(() => this.#stayed(part, wavering), staysMs);
    wavering.timer.unref();
  }

  #stayed(part: string, { sinceMs, backMs, timer }: Wavering): void {
    clearTimeout(timer);
    this.#wavering.delete(part);
    this.#back(part, backMs - sinceMs, backMs);
  }

  #back(part: string, awayMs: number, backMs = performance.now()): void {
    this.#backMs.set(part, backMs);
    const gathered = this.#gather(false);
    gathered.parts.add(part);
    gathered.awayMs = Math.max(gathered.awayMs, Math.round(awayMs));
  }

  /** Tells at once all that is known. */
  tell(): void {
    for (const [part, wavering] of this.#wavering)
      if (wavering.timer !== undefined) this.#stayed(part, wavering);
    this.#tellGathered();
  }

  #tellGathered(): void {
    clearTimeout(this.#timer);
    const gathered = this.#gathered;
    this.#gathered = undefined;
    if (gathered === undefined) return;
    const parts = [...gathered.parts].sort();
    if (gathered.isAlone)
      this.#logger.error(
        { reason: [...gathered.reasons].join('; '), parts },
        'redis does not answer, and parts of this gateway go on alone',
      );
    else
      this.#logger.info(
        { away_ms: gathered.awayMs, parts },
        'parts of this gateway share through redis again',
      );
  }

  #gather(isAlone: boolean): Gathered {
    // Each change is told, in the order in which they came.
    if (this.#gathered !== undefined && this.#gathered.isAlone !== isAlone) this.#tellGathered();
    if (this.#gathered === undefined) {
      this.#gathered = { isAlone, parts: new Set(), reasons: new Set(), awayMs: 0 };
      this.#timer = setTimeout(() => this.#tellGathered(), gatherMs);
      this.#timer.unref();
    }
    return this.#gathered;
  }
}
