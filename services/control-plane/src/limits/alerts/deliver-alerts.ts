import type { GuardedFetch } from '@sluice/outbound';
import type { Logger } from '@sluice/telemetry';
import type { AlertDelivery } from '../../generated/prisma/client.ts';
import type { CredentialVault } from '../../kernel/credentials/envelope.ts';
import type { DatabaseClient } from '../../kernel/database/client.ts';
import { findAlertSettings, openWebhook } from '../alert-settings/settings.ts';
import { signWebhook } from './sign-webhook.ts';
import { claimDeliveries, endDelivery, postponeDelivery } from './store.ts';

export interface DeliveryParts {
  client: DatabaseClient;
  vault: CredentialVault;
  fetch: GuardedFetch;
  /** Undefined = there is no NATS. */
  publish: ((body: string) => Promise<void>) | undefined;
  now: () => Date;
  logger: Logger;
}

const atOnce = 20;
const timeoutMs = 10_000;
/** What is taken is left to others when nothing was said of it for so long. */
const takenMs = 60_000;
const firstPauseMs = 5_000;
const pauseMsMax = 3_600_000;
const triedForMs = 86_400_000;

/** Sends what is due, until nothing is, or `signal` fires. */
export async function deliverAlerts(parts: DeliveryParts, signal: AbortSignal): Promise<void> {
  const channels = parts.publish === undefined ? ['webhook'] : ['webhook', 'nats'];
  while (!signal.aborted) {
    const now = parts.now();
    const until = new Date(now.getTime() + takenMs);
    const due = await claimDeliveries(parts.client, { now, until, count: atOnce, channels });
    if (due.length === 0) return;
    await Promise.all(due.map((delivery) => deliver(parts, delivery, now)));
  }
}

async function deliver(parts: DeliveryParts, delivery: AlertDelivery, now: Date): Promise<void> {
  const { client, logger } = parts;
  const fault = await send(parts, delivery).catch((error: Error) => error);
  if (fault === undefined) return endDelivery(client, delivery);
  const { id, channel, attempts, organisationId } = delivery;
  const facts = { err: fault, alert: id, channel, attempts, organisation: organisationId };
  if (now.getTime() - delivery.createdAt.getTime() >= triedForMs) {
    logger.error(facts, 'an alert could not be delivered for a day, and is given up');
    return endDelivery(client, delivery);
  }
  logger.warn(facts, 'an alert could not be delivered, and is tried again later');
  await postponeDelivery(client, delivery, new Date(now.getTime() + pauseAfter(attempts)));
}

/** Twice as long each time. */
export function pauseAfter(attempts: number): number {
  return Math.min(pauseMsMax, firstPauseMs * 2 ** (attempts - 1));
}

/** What went wrong; undefined = nothing, or nobody wants it any more. */
async function send(parts: DeliveryParts, delivery: AlertDelivery): Promise<Error | undefined> {
  const { id, body, channel, organisationId } = delivery;
  if (channel === 'nats') {
    await parts.publish?.(body);
    return undefined;
  }
  const settings = await findAlertSettings(parts.client, organisationId);
  const webhook = settings === null ? undefined : openWebhook(parts.vault, settings);
  if (webhook === undefined) return undefined;
  const { status, close } = await parts.fetch.stream(webhook.url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...signWebhook({ id, body }, webhook.secret, parts.now()),
    },
    body,
    signal: AbortSignal.timeout(timeoutMs),
    bytesMax: 0,
  });
  // It has heard of it, whatever it goes on to say.
  close();
  return status >= 200 && status < 300 ? undefined : new Error(`the webhook answered ${status}`);
}
