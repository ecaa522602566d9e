import type { ClickHouseClient } from '@clickhouse/client';
import { type UnitWidth, unitWidths } from '../queries/rolled/slices.ts';
import { minuteMs } from '../queries/rolled/spans.ts';
import { findUnits } from './find-units.ts';
import { knownMs } from './known-ms.ts';
import { roll } from './roll.ts';
import { writeCells, writeMinutes } from './write-units.ts';

export interface RollUpOptions {
  readonly client: ClickHouseClient;
  /** What was stored so long ago is seen by every question. */
  readonly slackMs: number;
  /** What another data service began so long ago it does not end any more. */
  readonly givenUpMs: number;
  /** Units of before are not looked at. */
  readonly sinceMs: number;
  readonly stopping: AbortSignal;
  /** Before the first batch, with the beginning of the oldest minute that is due. */
  readonly onFound?: (oldestMs: number | undefined) => void;
  /** After each batch, with what it took. */
  readonly onBatch?: (batch: { units: number; tookMs: number }) => Promise<void>;
}

/** Attempts of minutes that are rolled up at once, about. */
const batchRows = 200_000;
/** Stretches of time that are rolled up at once: a condition names each. */
const batchSpans = 50;
/** How many slacks hours and days are left alone for. */
const quietTimes: ReadonlyMap<number, number> = new Map([
  [60, 6],
  [360, 30],
  [1440, 60],
]);
const batchUnits: Readonly<Record<UnitWidth, number>> = { 60: 12, 360: 2, 1440: 1 };

/** Rolls up once what is to be rolled up, and says how many units those were: minutes, and the hours and days whose minutes were before. */
export async function rollUp(options: RollUpOptions): Promise<number> {
  const { client, slackMs, givenUpMs, sinceMs, stopping, onFound, onBatch } = options;
  const { units, oldestMs } = await findUnits(client, {
    knownMs: await knownMs(client, slackMs),
    sinceMs,
    givenUpMs,
    quietMs: (width) => slackMs * (quietTimes.get(width) ?? 0),
  });
  onFound?.(oldestMs);
  let done = 0;
  for (const [organisationId, some] of Map.groupBy(units, (unit) => unit.organisationId)) {
    const startsOf = (width: number) =>
      some.filter((unit) => unit.width === width).map(({ start }) => start);
    const run = async (starts: readonly number[], width: number) => {
      if (stopping.aborted) return;
      const began = performance.now();
      await roll({
        client,
        organisationId,
        width,
        starts,
        slackMs,
        async write(number) {
          const written = { organisationId, starts, roll: number };
          if (isUnitWidth(width)) return writeCells(client, width, written);
          await writeMinutes(client, written);
          return new Map();
        },
      });
      done += starts.length;
      await onBatch?.({ units: starts.length, tookMs: performance.now() - began });
    };
    for await (const starts of batchesOfMinutes(client, organisationId, startsOf(1)))
      await run(starts, 1);
    for (const width of unitWidths)
      for (const starts of inBatches(startsOf(width), batchUnits[width])) await run(starts, width);
  }
  return done;
}

function isUnitWidth(width: number): width is UnitWidth {
  return unitWidths.some((each) => each === width);
}

function inBatches(starts: readonly number[], size: number): number[][] {
  const sorted = [...starts].sort((one, other) => other - one);
  return Array.from({ length: Math.ceil(sorted.length / size) }, (_, index) =>
    sorted.slice(index * size, (index + 1) * size).reverse(),
  );
}

/** By their rows, which are counted a day at a time. */
async function* batchesOfMinutes(
  client: ClickHouseClient,
  organisationId: string,
  starts: readonly number[],
): AsyncGenerator<number[]> {
  for (const some of inBatches(starts, 1440)) {
    const counts = await countRows(client, organisationId, some);
    let batch: number[] = [];
    let [rows, spans] = [0, 0];
    for (const start of some) {
      const count = counts.get(start) ?? 0;
      if (batch.length > 0 && (rows + count > batchRows || spans === batchSpans)) {
        yield batch;
        batch = [];
        [rows, spans] = [0, 0];
      }
      if (batch.at(-1) !== start - 1) spans += 1;
      batch.push(start);
      rows += count;
    }
    if (batch.length > 0) yield batch;
  }
}

async function countRows(
  client: ClickHouseClient,
  organisationId: string,
  starts: readonly number[],
): Promise<Map<number, number>> {
  const result = await client.query({
    query: `
      SELECT toUInt32(intDiv(toUnixTimestamp64Milli(created_at), ${minuteMs})) AS start, toUInt32(count()) AS attempts
      FROM usage_records
      WHERE organisation_id = {organisation_id:String}
        AND created_at >= fromUnixTimestamp64Milli({from_ms:Int64}, 'UTC') AND created_at < fromUnixTimestamp64Milli({to_ms:Int64}, 'UTC')
      GROUP BY start
      SETTINGS max_threads = 1, max_execution_time = 60`,
    query_params: {
      organisation_id: organisationId,
      from_ms: starts[0]! * minuteMs,
      to_ms: (starts.at(-1)! + 1) * minuteMs,
    },
    format: 'JSONEachRow',
  });
  const rows = await result.json<{ start: number; attempts: number }>();
  return new Map(rows.map(({ start, attempts }) => [Number(start), Number(attempts)]));
}
