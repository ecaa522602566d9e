import { connect, type NatsConnection } from '@nats-io/transport-node';
import type { NatsAddresses } from '@sluice/contracts';
import { type Logger, Outage } from '@sluice/telemetry';

export interface NatsOptions {
  servers: NatsAddresses;
  logger: Logger;
  onConnected: (connected: boolean) => void;
}

/**
 * Connects, however long it takes, and stays: the connection reconnects for
 * ever. Rejects only when `stopping` fires or the settings are not valid.
 */
export async function connectNats(
  options: NatsOptions,
  stopping: AbortSignal,
): Promise<NatsConnection> {
  const connecting = connect({
    ...options.servers,
    name: 'sluice-data-service',
    maxReconnectAttempts: -1,
    reconnectTimeWait: 500,
    waitOnFirstConnect: true,
    // Rotated credentials fail for a while; giving up would need a restart.
    ignoreAuthErrorAbort: true,
    pingInterval: 10_000,
    maxPingOut: 2,
  });
  const stopped = new Promise<undefined>((resolve) =>
    stopping.addEventListener('abort', () => resolve(undefined), { once: true }),
  );
  const nats = await Promise.race([connecting, stopped]);
  if (nats === undefined) {
    // The attempt cannot be cancelled; should it still succeed, nobody wants it.
    connecting.then((late) => late.close()).catch(() => {});
    throw stopping.reason;
  }
  options.onConnected(true);
  options.logger.info({ server: nats.getServer() }, 'connected to NATS');
  followStatus(nats, options).catch((error: unknown) =>
    options.logger.warn({ err: error }, 'the state of the NATS connection is no longer followed'),
  );
  return nats;
}

async function followStatus(nats: NatsConnection, options: NatsOptions): Promise<void> {
  const outage = new Outage({
    logger: options.logger,
    away: 'disconnected from NATS',
    back: 'reconnected to NATS',
    facts: { servers: options.servers.servers },
  });
  for await (const status of nats.status()) {
    if (status.type === 'disconnect') {
      options.onConnected(false);
      outage.begins('the connection broke');
    } else if (status.type === 'reconnect') {
      options.onConnected(true);
      outage.ends();
    }
  }
  options.onConnected(false);
}
