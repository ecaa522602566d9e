import {
  adjustedColumns,
  type EntryColumn,
  entrySources,
  settledSource,
  weightOf,
} from './entry-columns.ts';
import type { Condition } from './filter.ts';
import { rolledRows, type Sources } from './rolled/find-sources.ts';
import { inSpans, type Span, wholeUnits, without } from './rolled/spans.ts';

/**
 * The entries that a condition admits, as a table of these columns: one entry a target that a request asked, made
 * of the attempts at it. Status, times and names are those of the last attempt, tokens and costs those of all.
 * Those of minutes that were settled are read as they were written then.
 */
export function entries(condition: Condition, wanted: readonly EntryColumn[]): string {
  const asked = [...new Set([...wanted, ...condition.columns])];
  const { entry, sources } = condition;
  const tables: string[] = [];
  if (sources === undefined) tables.push(entriesOfAttempts(condition, asked));
  else {
    tables.push(...settledEntries(condition, sources, asked));
    if (sources.raw.length > 0 || tables.length === 0)
      tables.push(entriesOfAttempts(within(condition, sources.raw), asked));
  }
  const table = tables.map((sql) => `SELECT ${asked.join(', ')} FROM (${sql})`).join(' UNION ALL ');
  return entry.length === 0 ? `(${table})` : `(SELECT * FROM (${table}) WHERE ${all(entry)})`;
}

function within(condition: Condition, spans: readonly Span[]): Condition {
  return {
    ...condition,
    scope: (time) => [...condition.scope(time), inSpans(time, spans)],
  };
}

/** Of whole minutes, whose rows need not tell their millisecond, and of the parts of minutes at the ends of a question's time. */
function settledEntries(
  { tenant, scope, request, target }: Condition,
  sources: Sources,
  columns: readonly EntryColumn[],
): string[] {
  const whole = sources.settled.flatMap((span) => wholeUnits(span, 1));
  const ends = without(sources.settled, whole);
  const table = (spans: readonly Span[], when: readonly string[]) => {
    const where = [...when, rolledRows(sources, 1, spans), ...request, ...target];
    return `SELECT ${columns.map((name) => `${settledSource(name)} AS ${name}`).join(', ')}
      FROM settled_entries WHERE ${all(where)}`;
  };
  return [
    ...(whole.length === 0 ? [] : [table(whole, tenant)]),
    ...(ends.length === 0
      ? []
      : [table(ends, [...scope('created_at'), inSpans('created_at', ends)])]),
  ];
}

/** Nearly every entry is one attempt. So rows are read as they are, but for the few whose target was asked again. */
function entriesOfAttempts(condition: Condition, asked: readonly EntryColumn[]): string {
  const isJudged = asked.some((name) => ofFeedback.has(name));
  const columns = [
    ...new Set([
      ...asked.filter((name) => !ofFeedback.has(name)),
      ...(isJudged ? (['workspace_id', 'trace_id'] as const) : []),
    ]),
  ];
  const table = columns.includes('is_fallback')
    ? entriesInTheirRequests(condition, columns)
    : entriesAlone(condition, columns);
  return isJudged ? withFeedback(condition, table) : table;
}

const ofFeedback: ReadonlySet<EntryColumn> = new Set(['feedback', 'weighted_feedback']);

function withFeedback({ tenant, scope }: Condition, table: string): string {
  return `SELECT *, ${weightOf('feedback')} AS weighted_feedback
    FROM (${table}) AS entry
    LEFT JOIN (
      SELECT workspace_id, trace_id, groupArray((id, value, value * weight)) AS feedback
      FROM feedbacks FINAL
      WHERE ${all(tenant)} AND trace_id IN (SELECT trace_id FROM usage_records WHERE ${all(scope('created_at'))} AND trace_id != '')
      GROUP BY workspace_id, trace_id
    ) AS said USING (workspace_id, trace_id)`;
}

/** A first attempt is stored without an id of its entry, which is its own. */
const none = "toUUID('00000000-0000-0000-0000-000000000000')";
const ownEntry = `if(entry_id = ${none}, id, entry_id)`;

function entriesAlone(condition: Condition, columns: readonly EntryColumn[]): string {
  const where = all([...condition.scope('created_at'), ...condition.request, ...condition.target]);
  const askedAgain = `(SELECT entry_id FROM usage_records WHERE ${where} AND entry_id != ${none})`;
  const from = attempts(condition, columns);
  return `SELECT ${list(columns, 'row')} FROM ${from}
    WHERE ${where} AND entry_id = ${none} AND id NOT IN ${askedAgain}
    UNION ALL
    SELECT ${list(columns, 'attempts')} FROM ${from}
    WHERE ${where} AND (entry_id != ${none} OR id IN ${askedAgain})
    GROUP BY ${ownEntry}`;
}

/** The entry that all the attempts are of which a condition's scope, request and target admit, as a table of one row at most. */
export function entryOfAll(condition: Condition, columns: readonly EntryColumn[]): string {
  const { scope, request, target } = condition;
  return `(SELECT ${list(columns, 'attempts')} FROM ${attempts(condition, columns)}
    WHERE ${all([...scope('created_at'), ...request, ...target])}
    GROUP BY ${ownEntry})`;
}

/**
 * As `entriesAlone`, which also tells what was asked because the target before it did not do: that can be where something
 * was not a plain 200 only, since 246 may go on to the next one. Calls of tools and checks between two targets, which are at no place of
 * a config, change nothing; nor does it make a fallback of a later turn that the first target of an earlier one had failed.
 */
function entriesInTheirRequests(condition: Condition, columns: readonly EntryColumn[]): string {
  const ofRequest = all([...condition.scope('created_at'), ...condition.request]);
  const { target } = condition;
  const eventful = `(SELECT request_id FROM usage_records
    WHERE ${ofRequest} AND (entry_id != ${none} OR status_code != 200))`;
  const from = attempts(condition, columns);
  const plain = columns.filter((name) => name !== 'is_fallback');
  return `SELECT ${list(plain, 'row')}, false AS is_fallback FROM ${from}
    WHERE ${all([ofRequest, ...target])} AND request_id NOT IN ${eventful}
    UNION ALL
    SELECT ${plain.join(', ')}, is_fallback FROM (
      SELECT *, its_path != '' AND lagInFrame(its_status != 200) OVER before AND lagInFrame(its_path) OVER before != its_path AS is_fallback
      FROM (
        SELECT ${list(plain, 'attempts')}, ${ownEntry} AS entry, any(request_id) AS its_request,
          any(option_path) AS its_path, ${entrySources.status_code!.attempts} AS its_status
        FROM ${from}
        WHERE ${ofRequest} AND request_id IN ${eventful}
        GROUP BY ${ownEntry}
      )
      WINDOW before AS (PARTITION BY its_request, its_path = '' ORDER BY UUIDToNum(entry)
        ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
    )
    WHERE ${all(['true', ...target])}`;
}

/** Each attempt once, with what was added to its cost later. */
function attempts({ scope }: Condition, columns: readonly EntryColumn[]): string {
  if (!columns.some((name) => adjustedColumns.has(name))) return 'usage_records FINAL';
  return `usage_records FINAL LEFT JOIN (
    SELECT record_id, sum(cost_nano_usd) AS adjusted_nano_usd, max(makes_known) AS adjusted_to_known
    FROM usage_adjustments FINAL
    WHERE ${all(scope('attempt_created_at'))}
    GROUP BY record_id
  ) AS adjustment ON id = adjustment.record_id`;
}

function list(columns: readonly EntryColumn[], source: 'row' | 'attempts'): string {
  return columns.map((name) => `${entrySources[name]![source]} AS ${name}`).join(', ');
}

function all(conditions: readonly string[]): string {
  return conditions.join(' AND ');
}

/** What every question about entries needs. */
export const entrySettings = {
  // Columns are named after those of the rows that they are made of.
  prefer_column_name_to_alias: 1,
  // Copies of a record share a month.
  do_not_merge_across_partitions_select_final: 1,
} as const;
