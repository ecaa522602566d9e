import type { analytics } from '@sluice/proto-stubs';
import { ask, mergedPartials, partialsBy, withSources } from './ask.ts';
import { bucketStarts, bucketWidthMs } from './buckets.ts';
import { type Figures, figureColumns, figuresIn, type GraphDeclaration } from './figures.ts';
import { conditionOf, placeOf, rangeEndMs, rangeOf } from './filter.ts';
import { partialsIn } from './partials.ts';
import type { Reader } from './questions.ts';
import { minuteMs } from './rolled/spans.ts';

interface Part {
  key: string;
  value: number;
}

interface Point {
  timestampMs?: bigint;
  key?: string;
  values: Record<string, number>;
  parts?: Part[];
}

export interface GraphData {
  summary: Record<string, number>;
  dataPoints: Point[];
}

/** One question gives the buckets and, as the grouping set without a column, the summary. */
export async function queryGraph(
  client: Reader,
  graph: GraphDeclaration,
  filter: analytics.Filter,
): Promise<GraphData> {
  const range = rangeOf(filter);
  const widthMs = bucketWidthMs(range);
  const rows = await queryBuckets(client, graph, filter, widthMs);
  const summary = rows.find((row) => row.isSummary);
  if (graph.partsAs !== undefined) {
    const name = graph.partsAs;
    const dataPoints = (summary?.parts ?? []).map(({ key, value }) => ({
      key,
      values: { [name]: value },
    }));
    return { summary: summary?.values ?? figuresIn({}, graph.figures), dataPoints };
  }
  const byStart = new Map(
    rows.filter((row) => !row.isSummary).map((row) => [row.bucket * widthMs, row]),
  );
  const dataPoints = bucketStarts(range, widthMs).map((start) => {
    const row = byStart.get(start);
    const values = row?.values ?? figuresIn({}, graph.figures);
    return { timestampMs: BigInt(start), values, parts: row?.parts ?? [] };
  });
  for (const name of graph.running ?? []) addUp(dataPoints, name);
  return { summary: summary?.values ?? figuresIn({}, graph.figures), dataPoints };
}

/** The figures of the whole time only. */
export async function querySummary(
  client: Reader,
  figures: Figures,
  filter: analytics.Filter,
): Promise<Record<string, number>> {
  // One bucket: no unit is too wide for it.
  const rows = await queryBuckets(client, { figures }, filter, rangeEndMs);
  return rows.find((row) => row.isSummary)?.values ?? figuresIn({}, figures);
}

interface Bucket {
  isSummary: boolean;
  bucket: number;
  values: Record<string, number>;
  parts: Part[];
}

async function queryBuckets(
  client: Reader,
  { figures, parts = 'map()' }: GraphDeclaration,
  filter: analytics.Filter,
  widthMs: number,
): Promise<Bucket[]> {
  const names = partialsIn([...Object.values(figures), parts]);
  const bucket = { of: ['minute'], sql: `intDiv(minute, ${widthMs / minuteMs})` } as const;
  const condition = await withSources(client, bucket, conditionOf(filter), names, {
    ...placeOf(filter),
    bucketMs: widthMs,
  });
  const rows = await ask<{
    bucket: string;
    is_summary: number;
    parts: Record<string, string | number>;
  }>(
    client,
    `SELECT key AS bucket, is_summary, ${figureColumns(figures)}, ${parts} AS parts
    FROM (
      SELECT key, grouping(key) AS is_summary, ${mergedPartials(names)}
      FROM ${partialsBy(bucket, condition, names)}
      GROUP BY GROUPING SETS ((key), ())
    )`,
    condition,
  );
  return rows.map((row) => ({
    // grouping() is 1 where the column was grouped away.
    isSummary: Number(row.is_summary) === 1,
    bucket: Number(row.bucket),
    values: figuresIn(row, figures),
    parts: Object.entries(row.parts)
      .map(([key, value]) => ({ key, value: Number(value) }))
      .sort((one, other) => Number(one.key) - Number(other.key)),
  }));
}

function addUp(points: readonly Point[], name: string): void {
  let sum = 0;
  for (const { values } of points) {
    sum += values[name] ?? 0;
    values[name] = sum;
  }
}
