import type { ClickHouseClient } from '@clickhouse/client';
import { isClean, unitsThatChanged, unitsThatWereRolled } from '../queries/rolled/find-sources.ts';
import { withKept } from '../queries/rolled/kept.ts';
import { unitWidths } from '../queries/rolled/slices.ts';
import { minuteMs } from '../queries/rolled/spans.ts';

/** A minute, hour or day of an organisation that is to be rolled up, by the minute since the epoch that it begins with. */
export interface Unit {
  readonly organisationId: string;
  readonly width: number;
  readonly start: number;
}

export interface FoundUnits {
  readonly units: readonly Unit[];
  /** When the oldest of the minutes began. */
  readonly oldestMs: number | undefined;
}

export interface UnitsAsked {
  /** All changes up to then are known. */
  readonly knownMs: number;
  /** Units of before are not looked at. */
  readonly sinceMs: number;
  /** What another data service began so long ago it does not end any more. */
  readonly givenUpMs: number;
  /** How long a unit must have been left alone, by its width: what is late seldom comes alone. */
  readonly quietMs: (width: number) => number;
}

/** In one look. Those that are left are found by the next. */
const unitsMax = 20_000;

/** Units that are over and changed since they were rolled up, minutes first, the latest first; hours and days only once their minutes were. */
export async function findUnits(
  client: ClickHouseClient,
  { knownMs, sinceMs, givenUpMs, quietMs }: UnitsAsked,
): Promise<FoundUnits> {
  const widths = [1, ...unitWidths];
  const quiet = widths.map((width) => `width = ${width}, ${quietMs(width)}`).join(', ');
  const minutesIn = (width: number) =>
    `countIf(width = 1) OVER (PARTITION BY organisation_id, intDiv(start, ${width}))`;
  const result = await client.query({
    query: `
      SELECT organisation_id, width, start, minIf(start, width = 1) OVER () AS oldest
      FROM (
        SELECT organisation_id, width, start, changed_ms, live, begun,
          multiIf(width = 1, 0, ${unitWidths.map((width) => `width = ${width}, ${minutesIn(width)}`).join(', ')}, 0) AS minutes
        FROM ${withKept(`(${unitsThatChanged('minute >= {first:UInt32}', widths)})`)} AS changes
        LEFT JOIN (${unitsThatWereRolled('start >= {first:UInt32}')}) AS rolled USING (organisation_id, width, start)
        WHERE NOT (${isClean('kept')})
          -- What is left of the attempts is not what there was.
          AND NOT (width = 1 AND start < kept)
      )
      WHERE minutes = 0
        AND (toInt64(start) + width) * ${minuteMs} <= {known_ms:Int64}
        AND changed_ms + multiIf(${quiet}, 0) <= {known_ms:Int64}
        AND (begun = live OR toInt64(bitShiftRight(begun, 20)) + ${givenUpMs} <= {known_ms:Int64})
      ORDER BY width, start DESC
      LIMIT ${unitsMax}
      SETTINGS max_threads = 1, max_execution_time = 60, join_use_nulls = 0`,
    query_params: {
      first: Math.max(0, Math.floor(sinceMs / minuteMs / 1440) * 1440),
      known_ms: knownMs,
    },
    format: 'JSONEachRow',
  });
  const rows = await result.json<{
    organisation_id: string;
    width: number;
    start: number;
    oldest: number;
  }>();
  const units = rows.map(({ organisation_id, width, start }) => ({
    organisationId: organisation_id,
    width: Number(width),
    start: Number(start),
  }));
  const oldest = units.some(({ width }) => width === 1) ? rows[0]?.oldest : undefined;
  return { units, oldestMs: oldest === undefined ? undefined : Number(oldest) * minuteMs };
}
