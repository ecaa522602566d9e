import { fromUnknown } from '@sluice/errors';
import type { Logger } from '@sluice/telemetry';

/**
 * Says once that what is kept cannot be reached, and once that it can be again, however many ask meanwhile: of the control
 * plane, or of the data service. A fault of ours is told each time, with its stack.
 */
export class ReachWatch {
  readonly #logger: Pick<Logger, 'info' | 'warn' | 'error'>;
  #code: string | undefined;
  #sinceMs = 0;

  constructor(logger: Pick<Logger, 'info' | 'warn' | 'error'>) {
    this.#logger = logger;
  }

  reached(): void {
    if (this.#code === undefined) return;
    this.#code = undefined;
    const awayMs = Math.round(performance.now() - this.#sinceMs);
    this.#logger.info({ away_ms: awayMs }, 'what is kept is reached again');
  }

  lost(caught: unknown, requestId: string): void {
    const { code, message, cause } = fromUnknown(caught);
    if (code === 'internal') {
      this.#logger.error({ err: caught, request_id: requestId }, 'what is kept was not answered');
      return;
    }
    if (code === this.#code) return;
    if (this.#code === undefined) this.#sinceMs = performance.now();
    this.#code = code;
    const reason = cause instanceof Error ? cause.message : message;
    this.#logger.warn({ code, reason, request_id: requestId }, 'what is kept cannot be reached');
  }
}
