import { textLiteral } from '../parameters.ts';
import type { Reader } from '../questions.ts';
import { keptFrom } from './kept.ts';
import { everyKey, type Slice, type UnitWidth, unitWidths } from './slices.ts';
import {
  atMost,
  minuteMs,
  type Span,
  spansOfUnits,
  startsIn,
  wholeUnits,
  without,
} from './spans.ts';

/** From where each part of a question's time is read. The parts do not overlap, and are all of it. */
export interface Sources {
  readonly organisationId: string;
  /** Attempts: of minutes that changed since they were rolled up. */
  readonly raw: readonly Span[];
  /** Entries of minutes that did not. */
  readonly settled: readonly Span[];
  /** Cells of hours and days of a slice. */
  readonly cells?: {
    readonly slice: Slice;
    readonly spans: Readonly<Record<UnitWidth, readonly Span[]>>;
  };
  readonly rolls: ReadonlyMap<number, Rolls>;
}

/** Which rolls of units of one width count. */
interface Rolls {
  /** Units that changed since, by their first minute. */
  readonly dirty: readonly number[];
  /** Units that were rolled more than once, with the roll that counts. */
  readonly again: readonly (readonly [start: number, roll: string])[];
  /** All rolls below this number are known, and of those above it these count. */
  readonly knownBelow: string;
  readonly recent: readonly string[];
}

export interface SourcesAsked {
  readonly organisationId: string;
  readonly span: Span;
  readonly slice?: Slice | undefined;
  /** Units must fit into buckets of this width. */
  readonly bucketMs?: number | undefined;
  /** The least form of the rolls that count. */
  readonly form?: number;
}

/** More stretches of time would make a condition long. */
const spansMax = 64;

export async function findSources(
  client: Reader,
  { organisationId, span, slice, bucketMs = Number.POSITIVE_INFINITY, form = 0 }: SourcesAsked,
): Promise<Sources> {
  const widths = unitWidths.filter((width) => slice !== undefined && width * minuteMs <= bucketMs);
  const rolls = new Map<number, Rolls>();
  const find = async (some: readonly number[], spans: readonly Span[]) => {
    const found = await findRolls(client, { organisationId, spans, slice, form, widths: some });
    for (const [width, each] of found) rolls.set(width, each);
  };
  if (widths.length > 0) await find(widths, [span]);
  const clean = (width: UnitWidth) =>
    widths.includes(width)
      ? without(wholeUnits(span, width), dirtySpans(rolls.get(width), width))
      : [];
  const cells: Record<UnitWidth, readonly Span[]> = { 60: [], 360: [], 1440: [] };
  let covered: readonly Span[] = [];
  for (const width of unitWidths.toReversed()) {
    cells[width] = without(clean(width), covered);
    covered = [...covered, ...cells[width]].sort((one, other) => one.from - other.from);
  }
  const rest = without([span], covered);
  if (rest.length > 0) await find([1], rest);
  const settled = without(rest, dirtySpans(rolls.get(1), 1));
  return {
    organisationId,
    raw: without(rest, settled),
    settled,
    ...(slice === undefined ? {} : { cells: { slice, spans: cells } }),
    rolls,
  };
}

function dirtySpans(rolls: Rolls | undefined, width: number): Span[] {
  return atMost(spansOfUnits(rolls?.dirty ?? [], width), spansMax);
}

/** Rows of the table of these units, of the rolls that count. */
export function rolledRows(
  { organisationId, rolls }: Sources,
  width: number,
  spans: readonly Span[],
): string {
  const { again, knownBelow, recent } = rolls.get(width) ?? noRolls;
  const known =
    recent.length === 0
      ? `roll < ${knownBelow}`
      : `(roll < ${knownBelow} OR roll IN (${recent.join(',')}))`;
  const conditions = [startsIn('start', spans), known];
  if (again.length > againMax)
    // The latest of those known: what began since is not.
    conditions.push(`(start, roll) IN (
      SELECT start, max(roll) FROM usage_rolls
      WHERE organisation_id = ${textLiteral(organisationId)} AND width = ${width} AND ${startsIn('start', spans)} AND ${known}
      GROUP BY start)`);
  else if (again.length > 0) {
    const starts = again.map(([start]) => start).join(',');
    const live = again.map(([start, roll]) => `(${start},${roll})`).join(',');
    conditions.push(`(start NOT IN (${starts}) OR (start, roll) IN (${live}))`);
  }
  return conditions.join(' AND ');
}

/** Units rolled more than once that a condition names. */
const againMax = 200;

const noRolls: Rolls = { dirty: [], again: [], knownBelow: '0', recent: [] };

/** Until a roll's begin is seen by everybody; what begins it gives up long before. */
const seenAfterMs = 120_000;

interface RollsRow {
  width: number;
  dirty: number[];
  again: [number, string][];
  recent: string[];
  known_below: string;
}

async function findRolls(
  client: Reader,
  {
    organisationId,
    spans,
    slice,
    form,
    widths,
  }: Pick<SourcesAsked, 'organisationId' | 'slice'> & {
    form: number;
    spans: readonly Span[];
    widths: readonly number[];
  },
): Promise<Map<number, Rolls>> {
  // Units are told by all of their minutes.
  const widest = Math.max(...widths) * minuteMs;
  const whole = spans.map(({ from, to }) => ({
    from: Math.floor(from / widest) * widest,
    to: Math.ceil(to / widest) * widest,
  }));
  const isHeld =
    slice?.metadataKey === undefined
      ? ''
      : `AND NOT hasAny(left_out, [${textLiteral(slice.metadataKey)}, '${everyKey}'])`;
  // What is not needed would take longer than all else.
  const told = { organisation: false, leftOut: slice?.metadataKey !== undefined, form };
  const kept = keptFrom(organisationId);
  const isFormed = form === 0 ? '' : `AND (formed = live OR (width = 1 AND start < ${kept}))`;
  const ofOrganisation = `organisation_id = ${textLiteral(organisationId)}`;
  const result = await client.query({
    query: `
      SELECT width, groupArrayIf(start, NOT is_clean) AS dirty,
        groupArrayIf((start, toString(live)), is_clean AND first != live) AS again,
        groupUniqArrayIf(toString(live), is_clean AND live >= bound) AS recent, toString(any(bound)) AS known_below
      FROM (
        SELECT width, start, first, live, ${rollNumber(`now64(3) - INTERVAL ${seenAfterMs} MILLISECOND`)} AS bound,
          ${isClean(kept)} ${isFormed} ${isHeld} AS is_clean
        FROM (${unitsThatChanged(`${ofOrganisation} AND ${startsIn('minute', whole)}`, widths, told)}) AS changes
        LEFT JOIN (${unitsThatWereRolled(`${ofOrganisation} AND width IN (${widths.join(',')}) AND ${startsIn('start', whole)}`, told)}) AS rolled
          USING (width, start)
      )
      GROUP BY width
      SETTINGS max_execution_time = 9, join_use_nulls = 0`,
    format: 'JSONEachRow',
  });
  const rows = await result.json<RollsRow>();
  return new Map(
    rows.map(({ width, known_below, ...same }) => [
      Number(width),
      { ...same, knownBelow: known_below },
    ]),
  );
}

/** The number of a roll that knows what changed up to a time, without the bits that tell it from others. */
export function rollNumber(time: string): string {
  return `bitShiftLeft(toUInt64(toUnixTimestamp64Milli(${time})), 20)`;
}

/**
 * A unit is as its last roll says when that roll stands, none began after it, and nothing changed since. Of a minute whose
 * attempts are deleted by now nobody will know better.
 */
export function isClean(kept: string): string {
  return `live > 0 AND live = begun AND (bitShiftRight(live, 20) >= changed_ms OR (width = 1 AND start < ${kept}))`;
}

/** What is told of units beside their width and start. */
interface UnitsTold {
  /** False = they are of one organisation. */
  readonly organisation: boolean;
  readonly leftOut: boolean;
  /** Other than 0: the latest roll of that form at least. */
  readonly form: number;
}

const allTold: UnitsTold = { organisation: true, leftOut: true, form: 0 };

/** Each width is a part of those that are wider. */
export function unitsThatChanged(
  where: string,
  widths: readonly number[],
  { organisation } = allTold,
): string {
  const whose = organisation ? 'organisation_id, ' : '';
  const least = Math.min(...widths);
  return `
    SELECT ${whose}width, toUInt32(least - least % width) AS start, max(latest) AS changed_ms
    FROM (
      SELECT ${whose}minute - minute % ${least} AS least, max(toUnixTimestamp64Milli(changed_at)) AS latest
      FROM usage_changes
      WHERE ${where}
      GROUP BY ${whose}least
    ) ARRAY JOIN [${widths.map((width) => `toUInt32(${width})`).join(',')}] AS width
    GROUP BY ${whose}width, start`;
}

export function unitsThatWereRolled(
  where: string,
  { organisation, leftOut, form }: UnitsTold = allTold,
): string {
  const whose = organisation ? 'organisation_id, ' : '';
  return `
    SELECT ${whose}width, start, min(roll) AS first, max(roll) AS begun, maxIf(roll, is_whole = 1) AS live
      ${leftOut ? ', groupUniqArrayArray(left_out) AS left_out' : ''}
      ${form > 0 ? `, maxIf(roll, is_whole = 1 AND form >= ${form}) AS formed` : ''}
    FROM usage_rolls
    WHERE ${where}
    GROUP BY ${whose}width, start`;
}
