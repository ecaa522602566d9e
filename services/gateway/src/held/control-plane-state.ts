import type { Logger } from '@sluice/telemetry';

export interface ControlPlaneStateOptions {
  /** Where it is asked, for the log. */
  address: string;
  /** Names of the peppers that keys are hashed with here. */
  pepperNames: readonly string[];
  /** Why it does not answer now; undefined = it does. */
  why: () => Promise<string | undefined>;
  logger: Logger;
}

/**
 * Whether the control plane is followed, and one line of the log for each
 * change of that: the same cause again is not said again.
 */
export class ControlPlaneState {
  readonly #options: ControlPlaneStateOptions;
  /** Whether the watch stream is live, and since when it is not (Unix ms). */
  connected = false;
  disconnectedSinceMs = Date.now();
  /** The control plane knows keys by none of the peppers here: every key would be refused. */
  pepperDiffers = false;
  /** What the log said last of why it is away. */
  #told: string | undefined;
  #isAsking = false;

  constructor(options: ControlPlaneStateOptions) {
    this.#options = options;
  }

  /** @param pepperNames of the control plane; none where it does not say */
  ready(pepperNames: readonly string[], facts: object): void {
    const { address, logger } = this.#options;
    const away = this.#told === undefined ? {} : { away_ms: Date.now() - this.disconnectedSinceMs };
    this.connected = true;
    this.#told = undefined;
    logger.info({ address, ...away, ...facts }, 'watching the control plane');
    const differs =
      pepperNames.length > 0 &&
      !this.#options.pepperNames.some((name) => pepperNames.includes(name));
    if (differs && !this.pepperDiffers)
      logger.error(
        { address, here: this.#options.pepperNames, there: pepperNames },
        'KEY_PEPPER is not that of the control plane: no key would be known, so this gateway is not ready',
      );
    if (!differs && this.pepperDiffers)
      logger.info({ address }, 'KEY_PEPPER is that of the control plane again');
    this.pepperDiffers = differs;
  }

  /** The stream has ended. */
  lost(): void {
    if (!this.connected) return;
    this.connected = false;
    this.disconnectedSinceMs = Date.now();
  }

  /** Finds out why it is away, where it is, and says so when that is something else than before. Never rejects. */
  async look(holdsAnything: boolean): Promise<void> {
    if (this.connected || this.#isAsking) return;
    this.#isAsking = true;
    const reason = await this.#options.why().catch(String);
    this.#isAsking = false;
    if (this.connected || reason === undefined || reason === this.#told) return;
    this.#told = reason;
    const { address, logger } = this.#options;
    logger.warn(
      { address, reason },
      holdsAnything
        ? 'the control plane is away; the last state stays in force'
        : 'the control plane is away, and nothing is held: no key can be known until it is there',
    );
  }
}
