import { GatewayError } from '@sluice/errors';
import { callFault } from '@sluice/rpc';
import { type Logger, reasonOf } from '@sluice/telemetry';
import { RecentMap } from '../chain/recent-map.ts';

/** What holds of one workspace or one response: others are kept all the same. */
const toldMax = 1000;
const toldAgainMs = 600_000;

/**
 * Says once that responses cannot be kept, and once that they are again, however many there are. That one workspace has as much as it
 * may, or one response is refused, is said of each workspace, and again each ten minutes that it goes on.
 */
export class KeepWatch {
  readonly #logger: Logger;
  readonly #now: () => number;
  #code: string | undefined;
  readonly #toldAt = new RecentMap<number>(toldMax);

  constructor(logger: Logger, now: () => number = Date.now) {
    this.#logger = logger;
    this.#now = now;
  }

  kept(): void {
    if (this.#code === undefined) return;
    this.#code = undefined;
    this.#logger.info('responses are kept again');
  }

  /** @param isBackground  what was answered has another try, and is not the caller's yet */
  lost(error: unknown, workspaceId: string, requestId: string, isBackground = false): void {
    const code = error instanceof GatewayError ? error.code : 'internal';
    if (error instanceof GatewayError && error.status < 500) {
      const about = `${workspaceId} ${code}`;
      const toldAt = this.#toldAt.use(about);
      if (toldAt !== undefined && this.#now() - toldAt < toldAgainMs) return;
      this.#toldAt.set(about, this.#now());
    } else {
      if (code === this.#code) return;
      this.#code = code;
    }
    const fault = code === 'internal' ? callFault(error) : { reason: reasonOf(error) };
    this.#logger.warn(
      { ...fault, code, workspace_id: workspaceId, request_id: requestId },
      isBackground
        ? 'responses cannot be kept: those in the background are tried again'
        : 'responses cannot be kept: they are answered with store: false',
    );
  }
}
