import { connect, type NatsConnection } from '@nats-io/transport-node';
import { parseNatsAddresses } from '@sluice/contracts';

/** Where alerts are published, each a JSON text. */
const subject = 'sluice.alerts.v1';

export interface AlertPublisher {
  publish(body: string): Promise<void>;
  close(): Promise<void>;
}

/** Connects when there is something to publish, and stays. @param addresses as NATS_URL holds them */
export function createAlertPublisher(addresses: string): AlertPublisher {
  const servers = parseNatsAddresses(addresses);
  let connecting: Promise<NatsConnection> | undefined;
  const connected = (): Promise<NatsConnection> => {
    connecting ??= connect({
      ...servers,
      name: 'sluice-control-plane',
      maxReconnectAttempts: -1,
      reconnectTimeWait: 500,
      ignoreAuthErrorAbort: true,
      timeout: 5_000,
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
      await nats.flush();
    },
    async close() {
      const nats = await connecting?.catch(() => undefined);
      await nats?.close();
    },
  };
}
