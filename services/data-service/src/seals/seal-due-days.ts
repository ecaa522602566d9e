import type { ClickHouseClient } from '@clickhouse/client';
import { chainStart, sealsOf } from './chain.ts';
import { lastDueDay, nextDay, sealDay } from './days.ts';
import { readParts } from './read-blocks.ts';
import { insertSeals, readHead } from './seal-rows.ts';

/**
 * Seals what is due of every organisation, day by day up to the last that is over for long enough. What is sealed follows from
 * the rows alone, so that two data services at once write the same.
 */
export async function sealDueDays(
  client: ClickHouseClient,
  nowMs: number,
  signal?: AbortSignal,
): Promise<void> {
  const to = lastDueDay(nowMs);
  for (const { organisationId, firstDay } of await listOrganisations(client)) {
    if (signal?.aborted === true) return;
    await sealOrganisation(client, { organisationId, firstDay, to });
  }
}

interface Organisation {
  organisationId: string;
  firstDay: string;
}

async function sealOrganisation(
  client: ClickHouseClient,
  { organisationId, firstDay, to }: Organisation & { to: string },
): Promise<void> {
  const last = await readHead(client, organisationId);
  const from = last === undefined ? firstDay : nextDay(last.day);
  if (from > to) return;
  const parts = await readParts(client, { organisationId, from, to });
  let head = { sequence: last?.sequence ?? 0, hash: last?.hash ?? chainStart };
  for (let day = from; day <= to; day = nextDay(day)) {
    const seals = sealsOf(
      { organisationId, day },
      parts.filter((part) => part.day === day),
      head,
    );
    await insertSeals(client, seals);
    head = seals.at(-1) ?? head;
  }
}

/** With the first day that anything of theirs belongs to. A chain goes on when its records have been deleted by their age. */
async function listOrganisations(client: ClickHouseClient): Promise<Organisation[]> {
  const result = await client.query({
    query: `SELECT organisation_id, toString(min(day)) AS first_day
      FROM (
        SELECT toString(organisation_id) AS organisation_id, ${sealDay} AS day FROM usage_records
        UNION ALL
        SELECT toString(organisation_id), day FROM ledger_seals
      )
      GROUP BY organisation_id
      SETTINGS max_execution_time = 120`,
    format: 'JSONEachRow',
  });
  const rows = await result.json<{ organisation_id: string; first_day: string }>();
  return rows.map((row) => ({ organisationId: row.organisation_id, firstDay: row.first_day }));
}
