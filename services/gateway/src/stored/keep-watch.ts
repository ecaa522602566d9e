import { GatewayError } from '@sluice/errors';
import type { Logger } from '@sluice/telemetry';

/** Says once that responses cannot be kept, and once that they are again, however many there are. */
export class KeepWatch {
  readonly #logger: Logger;
  #code: string | undefined;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  kept(): void {
    if (this.#code === undefined) return;
    this.#code = undefined;
    this.#logger.info('responses are kept again');
  }

  lost(error: unknown, requestId: string): void {
    const code = error instanceof GatewayError ? error.code : 'internal';
    if (code === this.#code) return;
    this.#code = code;
    this.#logger.warn(
      { err: error, code, request_id: requestId },
      'responses cannot be kept: they are answered with store: false',
    );
  }
}
