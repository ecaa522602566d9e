import type { Database } from '../../kernel/database/client.ts';

/** What the webhook of an organisation did not take, and is sent again; undefined = nothing. */
export async function findUndelivered(
  db: Database,
  organisationId: string,
): Promise<{ count: number; since: Date; reason: string } | undefined> {
  const where = { organisationId, channel: 'webhook', fault: { not: null } };
  const [{ _count: count, _min: oldest }, last] = await Promise.all([
    db.alertDelivery.aggregate({ where, _count: true, _min: { createdAt: true } }),
    db.alertDelivery.findFirst({ where, orderBy: { nextAt: 'desc' }, select: { fault: true } }),
  ]);
  const reason = last?.fault ?? undefined;
  const since = oldest.createdAt ?? undefined;
  return reason === undefined || since === undefined ? undefined : { count, since, reason };
}
