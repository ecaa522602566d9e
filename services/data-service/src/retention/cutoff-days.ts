import type { ClickHouseClient } from '@clickhouse/client';
import { isClean, unitsThatChanged, unitsThatWereRolled } from '../queries/rolled/find-sources.ts';
import { withKept } from '../queries/rolled/kept.ts';
import { dayMs, dayOf } from '../seals/days.ts';

/** For how many days an organisation keeps what. */
export interface KeptDays {
  readonly logsDays: number;
  readonly figuresDays: number;
}

export interface Kept {
  /** Of those that are not named. */
  readonly others: KeptDays;
  readonly organisations: ReadonlyMap<string, KeptDays>;
}

export const grains = ['logs', 'figures'] as const;
export type Grain = (typeof grains)[number];

/** By organisation, with the empty one for all others: the first day that is kept. */
export type Cutoffs = Readonly<Record<Grain, ReadonlyMap<string, string>>>;

/**
 * Attempts are kept for so long whatever is asked: budgets of a month are counted from them after the counters were
 * lost, and a seal is compared with them.
 */
export const logsDaysMin = 35;

/**
 * Up to which day rows may go. Attempts stay until their day is sealed and, where there are roll-ups, every minute of it
 * is rolled up: what is late by then is waited for.
 */
export async function cutoffDays(
  client: ClickHouseClient,
  { others, organisations }: Kept,
  { nowMs, isRolledUp }: { nowMs: number; isRolledUp: boolean },
): Promise<Cutoffs> {
  const before = (days: number) => dayOf(nowMs - days * dayMs);
  const logs = new Map<string, string>();
  const figures = new Map<string, string>();
  const waiting = await listWaiting(client, isRolledUp);
  for (const [id, { logsDays, figuresDays }] of [['', others] as const, ...organisations]) {
    const keptDays = Math.max(logsDaysMin, logsDays);
    logs.set(id, before(keptDays));
    figures.set(id, before(Math.max(keptDays, figuresDays)));
  }
  for (const [id, day] of waiting) {
    const asked = logs.get(id) ?? logs.get('') ?? day;
    if (day >= asked) continue;
    logs.set(id, day);
    const [earlier = day] = [figures.get(id) ?? figures.get('') ?? day, day].sort();
    figures.set(id, earlier);
  }
  return { logs, figures };
}

/** The first day of each organisation whose attempts are not to go: it is not sealed, or not rolled up. */
async function listWaiting(
  client: ClickHouseClient,
  isRolledUp: boolean,
): Promise<[string, string][]> {
  const rolled = `
    SELECT organisation_id, toDate(intDiv(min(start), 1440)) AS day
    FROM (
      SELECT organisation_id, width, start, changed_ms, kept, live, begun
      FROM ${withKept(`(${unitsThatChanged('true', [1])})`)} AS changes
      LEFT JOIN (${unitsThatWereRolled('width = 1')}) AS rolled USING (organisation_id, width, start)
      WHERE NOT (${isClean('kept')}) AND start >= kept
    )
    GROUP BY organisation_id`;
  const result = await client.query({
    query: `
      SELECT organisation_id, toString(min(day)) AS first_day
      FROM (
        SELECT toString(organisation_id) AS organisation_id, greatest(sealed.day + 1, toDate('1970-01-02')) AS day
        FROM (SELECT DISTINCT organisation_id FROM usage_records) AS known
        LEFT JOIN (SELECT organisation_id, max(day) AS day FROM ledger_seals WHERE kind = 'day' GROUP BY organisation_id) AS sealed USING (organisation_id)
        ${isRolledUp ? `UNION ALL SELECT toString(organisation_id), day FROM (${rolled})` : ''}
      )
      GROUP BY organisation_id
      SETTINGS max_execution_time = 60, join_use_nulls = 0`,
    format: 'JSONEachRow',
  });
  const rows = await result.json<{ organisation_id: string; first_day: string }>();
  return rows.map((row) => [row.organisation_id, row.first_day]);
}
