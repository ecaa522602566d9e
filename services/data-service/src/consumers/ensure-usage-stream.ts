import { connect } from '@nats-io/transport-node';
import { parseNatsAddresses } from '@sluice/contracts';
import { openUsageStream, usageStreamExists } from './open-usage-stream.ts';

/** Whether stream and consumer were there; makes them when they were not, or only looks. */
export async function ensureUsageStream(addresses: string, onlyLook: boolean): Promise<boolean> {
  const nats = await connect({ ...parseNatsAddresses(addresses), name: 'sluice-migrate' });
  try {
    const existed = await usageStreamExists(nats);
    if (!existed && !onlyLook) await openUsageStream(nats);
    return existed;
  } finally {
    await nats.close();
  }
}
