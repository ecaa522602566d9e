import { connect, type NatsConnection } from '@nats-io/transport-node';
import { parseNatsAddresses } from '@sluice/contracts';
import { type Logger, Outage } from '@sluice/telemetry';
import type { AlertChannel } from './deliver-alert.ts';

/** Where alerts are published, each a JSON text. */
const subject = 'sluice.alerts.v1';

export interface AlertPublisher {
  /** Resolves when NATS has it. @throws Error also when NATS has said nothing for so long */
  publish(body: string): Promise<void>;
  close(): Promise<void>;
}

/** Connects when there is something to publish, and stays. @param addresses as NATS_URL holds them */
export function createAlertPublisher(addresses: string, timeoutMs = 5_000): AlertPublisher {
  const servers = parseNatsAddresses(addresses);
  let connecting: Promise<NatsConnection> | undefined;
  const connected = (): Promise<NatsConnection> => {
    connecting ??= connect({
      ...servers,
      name: 'sluice-control-plane',
      maxReconnectAttempts: -1,
      reconnectTimeWait: 500,
      ignoreAuthErrorAbort: true,
      timeout: timeoutMs,
    }).catch((error: unknown) => {
      connecting = undefined;
      throw error;
    });
    return connecting;
  };
  return {
    async publish(body) {
      const nats = await connected();
      nats.publish(subject, body);
      const { promise: isLate, reject } = Promise.withResolvers<never>();
      const timer = setTimeout(
        () => reject(new Error(`NATS said nothing for ${timeoutMs} ms`)),
        timeoutMs,
      );
      // A server that hangs is found to be gone after minutes.
      await Promise.race([nats.flush(), isLate]).finally(() => clearTimeout(timer));
    },
    async close() {
      const nats = await connecting?.catch(() => undefined);
      await nats?.close();
    },
  };
}

/** To whoever listens there. */
export function natsChannel({ publish }: AlertPublisher, logger: Logger): AlertChannel {
  const outage = new Outage({
    logger,
    away: 'NATS takes no alerts',
    back: 'NATS takes alerts again',
  });
  return { name: 'nats', send: ({ body }) => publish(body), outageOf: () => outage };
}
