import { GatewayError } from '@sluice/errors';
import { type Logger, type Outage, reasonOf } from '@sluice/telemetry';
import type { AlertDelivery } from '../../generated/prisma/client.ts';
import type { DatabaseClient } from '../../kernel/database/client.ts';
import { endDelivery, postponeDelivery } from './store.ts';

/** A way by which alerts leave. */
export interface AlertChannel {
  readonly name: 'webhook' | 'nats';
  /**
   * Ends within ten seconds. Resolves also when nobody wants it any more.
   * @throws NotTaken when whoever refused it said until when; any other error for all else
   */
  send(delivery: AlertDelivery): Promise<void>;
  /** Of whoever gets the alerts of this organisation. */
  outageOf(organisationId: string): Outage;
}

/** A receiver that answered, and wants to be left alone for so long. */
export class NotTaken extends Error {
  readonly waitMs: number;

  constructor(message: string, waitMs: number) {
    super(message);
    this.waitMs = waitMs;
  }
}

export interface DeliveryParts {
  client: DatabaseClient;
  now: () => Date;
  logger: Logger;
}

const firstPauseMs = 5_000;
const pauseMsMax = 3_600_000;
const triedForMs = 86_400_000;

/** Sends one that was claimed, and writes down what became of it. */
export async function deliverAlert(
  { client, now, logger }: DeliveryParts,
  channel: AlertChannel,
  delivery: AlertDelivery,
): Promise<void> {
  const { id, attempts, organisationId } = delivery;
  const fault = await channel.send(delivery).then(
    () => undefined,
    (error: Error) => error,
  );
  const outage = channel.outageOf(organisationId);
  if (fault === undefined) {
    outage.ends();
    return endDelivery(client, delivery);
  }
  const isTold = outage.explains(fault);
  const whose = { alert: id, channel: channel.name, attempts, organisation: organisationId };
  const failedAt = now().getTime();
  if (failedAt - delivery.createdAt.getTime() >= triedForMs) {
    const facts = { ...whose, reason: reasonOf(fault) };
    logger.error(facts, 'an alert could not be delivered for a day, and is given up');
    return endDelivery(client, delivery);
  }
  const tried = 'an alert could not be delivered, and is tried again later';
  if (isTold) logger.debug({ ...whose, reason: reasonOf(fault) }, tried);
  else logger.warn({ ...whose, err: fault }, tried);
  const wantedMs = fault instanceof NotTaken ? fault.waitMs : 0;
  const pauseMs = Math.max(pauseAfter(attempts), Math.min(wantedMs, pauseMsMax));
  const nextAt = new Date(failedAt + pauseMs);
  await postponeDelivery(client, delivery, { nextAt, fault: faultOf(fault) });
}

/** For who set the webhook: the causes of a connection that fails may name addresses of ours. */
function faultOf(error: Error): string {
  if (error instanceof NotTaken) return error.message;
  if (error instanceof GatewayError) return error.message.replaceAll('The provider', 'The webhook');
  return 'It failed for a reason that the log of the control plane tells.';
}

/** Twice as long each time. */
function pauseAfter(attempts: number): number {
  return Math.min(pauseMsMax, firstPauseMs * 2 ** (attempts - 1));
}
