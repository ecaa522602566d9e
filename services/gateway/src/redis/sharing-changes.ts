import type { Logger } from '@sluice/telemetry';

/** What changes within so long is told together: an outage ends the sharing of all parts, each as it finds out. */
const gatherMs = 200;

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

  constructor(logger: Pick<Logger, 'info' | 'error'>) {
    this.#logger = logger;
  }

  alone(part: string, reason: string): void {
    const gathered = this.#gather(true);
    gathered.parts.add(part);
    gathered.reasons.add(reason);
  }

  again(part: string, awayMs: number): void {
    const gathered = this.#gather(false);
    gathered.parts.add(part);
    gathered.awayMs = Math.max(gathered.awayMs, Math.round(awayMs));
  }

  /** Tells at once what was gathered. */
  tell(): void {
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
    if (this.#gathered !== undefined && this.#gathered.isAlone !== isAlone) this.tell();
    if (this.#gathered === undefined) {
      this.#gathered = { isAlone, parts: new Set(), reasons: new Set(), awayMs: 0 };
      this.#timer = setTimeout(() => this.tell(), gatherMs);
      this.#timer.unref();
    }
    return this.#gathered;
  }
}
