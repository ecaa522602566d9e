import type { AlertDelivery } from '../../generated/prisma/client.ts';
import { type AlertChannel, type DeliveryParts, deliverAlert } from './deliver-alert.ts';
import { claimDeliveries, countUndelivered } from './store.ts';

/** Deliveries under way at once, of one organisation and of all: who does not answer keeps its own waiting. */
const ofOneMax = 4;
const ofAllMax = 40;
/** What is taken is left to others when nothing was said of it for so long. */
const takenMs = 60_000;

/** Sends the alerts of one channel as they come, and now and then what is due again. */
export class AlertSender {
  readonly #parts: DeliveryParts;
  readonly #channel: AlertChannel;
  readonly #intervalMs: number;
  readonly #stopping = new AbortController();
  /** Those that are being sent. */
  readonly #sending = new Map<AlertDelivery, Promise<void>>();
  /** Alerts that were not taken, when this was looked at last. */
  undelivered = 0;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  #isWanted = false;

  constructor(parts: DeliveryParts, channel: AlertChannel, intervalMs: number) {
    this.#parts = parts;
    this.#channel = channel;
    this.#intervalMs = intervalMs;
  }

  start(): void {
    this.#timer = setInterval(() => this.wake(), this.#intervalMs);
  }

  /** There is something to send. */
  wake(): void {
    if (this.#stopping.signal.aborted) return;
    this.#isWanted = true;
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
  }

  /** What is being sent ends, by its own deadline; the rest stays written down. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    clearInterval(this.#timer);
    await this.#looking;
    await Promise.all(this.#sending.values());
  }

  async #look(): Promise<void> {
    while (this.#isWanted && !this.#stopping.signal.aborted) {
      this.#isWanted = false;
      await this.#take().catch((error: unknown) => this.#failed(error));
    }
    await countUndelivered(this.#parts.client, this.#channel.name).then(
      (count) => {
        this.undelivered = count;
      },
      (error: unknown) => this.#failed(error),
    );
  }

  async #take(): Promise<void> {
    const room = ofAllMax - this.#sending.size;
    if (room === 0) return;
    const { client, now } = this.#parts;
    const busy = Map.groupBy(this.#sending.keys(), ({ organisationId }) => organisationId);
    const due = await claimDeliveries(client, {
      now: now(),
      until: new Date(now().getTime() + takenMs),
      channel: this.#channel.name,
      count: room,
      ofOneMax,
      sending: new Map([...busy].map(([organisation, theirs]) => [organisation, theirs.length])),
    });
    for (const delivery of due) this.#send(delivery);
  }

  #send(delivery: AlertDelivery): void {
    const sent = deliverAlert(this.#parts, this.#channel, delivery)
      .catch((error: unknown) => this.#failed(error))
      .finally(() => {
        this.#sending.delete(delivery);
        // There may be more than there was room for.
        this.wake();
      });
    this.#sending.set(delivery, sent);
  }

  #failed(error: unknown): void {
    this.#parts.logger.warn({ err: error }, 'alerts were not sent, and are tried again later');
  }
}
