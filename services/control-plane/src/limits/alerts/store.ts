import { type AlertDelivery, Prisma } from '../../generated/prisma/client.ts';
import type { Database } from '../../kernel/database/client.ts';
import type { CountedUsage } from '../usage/counted-usage.ts';
import type { Alert, AlertType } from './alert.ts';

/** Marks the alert as sent in this epoch; false when somebody has, or the epoch or the amount is another by now. */
export async function markSent(
  db: Database,
  type: AlertType,
  { limitId, groupId, generation, periodStartMs }: CountedUsage,
  from: bigint,
): Promise<boolean> {
  const mark = type === 'limit.exhausted' ? 'exhaustedAlertSent' : 'thresholdAlertSent';
  const { count } = await db.limitUsage.updateMany({
    where: { limitId, groupId, generation, periodStartMs, posted: { gte: from }, [mark]: false },
    data: { [mark]: true },
  });
  return count === 1;
}

/** Where alerts go: to NATS, if there is one, and to the webhook, if their organisation has one. */
export async function insertDeliveries(
  db: Database,
  organisationId: string,
  alerts: readonly Alert[],
  { hasNats, now }: { hasNats: boolean; now: Date },
): Promise<void> {
  const { alertSettings } = await db.organisation.findUniqueOrThrow({
    where: { id: organisationId },
    select: { alertSettings: true },
  });
  const channels = [...(alertSettings === null ? [] : ['webhook']), ...(hasNats ? ['nats'] : [])];
  const data = alerts.flatMap((alert) =>
    channels.map((channel) => ({
      id: alert.id,
      organisationId,
      channel,
      body: JSON.stringify(alert),
      nextAt: now,
      createdAt: now,
    })),
  );
  await db.alertDelivery.createMany({ data });
}

/** What a replica takes of those that are due. */
export interface Claim {
  readonly now: Date;
  /** Others find what it has said nothing of by then. */
  readonly until: Date;
  readonly channel: string;
  readonly count: number;
  /** Of one organisation, with those that this replica is sending. */
  readonly ofOneMax: number;
  readonly sending: ReadonlyMap<string, number>;
}

/**
 * Takes deliveries that are due, for this replica alone. Organisations take turns:
 * one whose webhook is slow, and has very many, keeps nobody else's waiting.
 */
export function claimDeliveries(
  db: Database,
  { now, until, channel, count, ofOneMax, sending }: Claim,
): Promise<AlertDelivery[]> {
  const counts = Prisma.sql`unnest(${[...sending.keys()]}::uuid[], ${[...sending.values()]}::int[])`;
  return db.$queryRaw<AlertDelivery[]>(
    Prisma.sql`WITH turns AS (
        SELECT id, coalesce(sending.count, 0) + row_number() OVER (PARTITION BY organisation_id ORDER BY next_at) AS turn
        FROM alert_deliveries LEFT JOIN ${counts} AS sending (organisation_id, count) USING (organisation_id)
        WHERE next_at <= ${now} AND channel = ${channel})
      UPDATE alert_deliveries AS taken SET next_at = ${until}, attempts = taken.attempts + 1
      FROM (
        SELECT delivery.id FROM alert_deliveries AS delivery JOIN turns USING (id)
        WHERE channel = ${channel} AND next_at <= ${now} AND turn <= ${ofOneMax}
        ORDER BY turn, next_at LIMIT ${count} FOR UPDATE OF delivery SKIP LOCKED
      ) AS due
      WHERE taken.id = due.id AND taken.channel = ${channel}
      RETURNING taken.id::text, taken.organisation_id::text AS "organisationId", taken.channel, taken.body,
        taken.attempts, taken.fault, taken.next_at AS "nextAt", taken.created_at AS "createdAt"`,
  );
}

export async function endDelivery(
  db: Database,
  { id, channel }: Pick<AlertDelivery, 'id' | 'channel'>,
): Promise<void> {
  await db.alertDelivery.deleteMany({ where: { id, channel } });
}

export async function postponeDelivery(
  db: Database,
  { id, channel }: Pick<AlertDelivery, 'id' | 'channel'>,
  { nextAt, fault }: { nextAt: Date; fault: string },
): Promise<void> {
  await db.alertDelivery.updateMany({ where: { id, channel }, data: { nextAt, fault } });
}

/** Those that were not taken, of a channel and all organisations. */
export function countUndelivered(db: Database, channel: string): Promise<number> {
  return db.alertDelivery.count({ where: { channel, fault: { not: null } } });
}
