import { type DeliveryParts, deliverAlerts } from './deliver-alerts.ts';

/** Sends alerts as they come, and now and then what is due again. */
export class AlertSender {
  readonly #parts: DeliveryParts;
  readonly #intervalMs: number;
  readonly #stopping = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | undefined;
  #isWanted = false;

  constructor(parts: DeliveryParts, intervalMs: number) {
    this.#parts = parts;
    this.#intervalMs = intervalMs;
  }

  start(): void {
    this.#timer = setInterval(() => this.wake(), this.#intervalMs);
  }

  /** There is something to send. */
  wake(): void {
    if (this.#stopping.signal.aborted) return;
    this.#isWanted = true;
    this.#sending ??= this.#send().finally(() => {
      this.#sending = undefined;
    });
  }

  /** What is being sent ends, by its own deadline; the rest stays written down. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    clearInterval(this.#timer);
    await this.#sending;
  }

  async #send(): Promise<void> {
    while (this.#isWanted && !this.#stopping.signal.aborted) {
      this.#isWanted = false;
      await deliverAlerts(this.#parts, this.#stopping.signal).catch((error: unknown) =>
        this.#parts.logger.warn({ err: error }, 'alerts were not sent, and are tried again later'),
      );
    }
  }
}
