import { Parameters } from '../queries/parameters.ts';
import type { Reader } from '../queries/questions.ts';
import type { Reject } from '../sinks/usage-sink.ts';
import { isWaiting, selectRejects } from './select-rejects.ts';

export interface RejectsPage {
  /** None = all. */
  ids: readonly string[];
  /** Empty = whatever the reason. */
  reason: string;
  /** Digests up to this one are left out. */
  after: string;
  limit: number;
}

/** Rejects with their bytes, by their digests. */
export async function readRejects(
  client: Reader,
  { ids, reason, after, limit }: RejectsPage,
): Promise<Reject[]> {
  const parameters = new Parameters();
  const conditions = [isWaiting, `digest > ${parameters.bind('String', after)}`];
  if (reason !== '') conditions.push(`reason = ${parameters.bind('String', reason)}`);
  if (ids.length > 0) conditions.push(`digest IN ${parameters.bindTexts(ids)}`);
  const rows = await selectRejects(client, {
    columns: 'record_base64',
    where: conditions.join(' AND '),
    order: 'digest',
    limit: `${limit}`,
    parameters,
  });
  return rows.map((row) => ({
    digest: row.digest,
    reason: row.reason,
    bytes: Buffer.from(row.record_base64, 'base64'),
    receivedAtMs: Number(row.received_at_ms),
  }));
}
