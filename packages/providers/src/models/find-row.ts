import type { ModelFamily, ModelRow, ModelVersion } from './model-facts.ts';

/**
 * The row of a model. One that is not listed has the row of the version before
 * it, since makers change what they take with a version and hardly ever change
 * it back; one older than all has the oldest. A line that is not known has the
 * newest row of the family.
 */
export function findRow<Row extends ModelRow>(
  family: ModelFamily<Row>,
  asked: ModelVersion,
): Row | undefined {
  const line = family.rows.filter((row) => row.line === asked.line);
  if (line.length === 0) return newestOf(family.rows);
  const { version } = asked;
  if (version === undefined) return newestOf(line);
  return newestOf(line.filter((row) => compare(row.version, version) <= 0)) ?? oldestOf(line);
}

/** The row of a model that is listed itself. */
export function findOwnRow<Row extends ModelRow>(
  family: ModelFamily<Row>,
  { line, version }: ModelVersion,
): Row | undefined {
  if (version === undefined) return undefined;
  return family.rows.find((row) => row.line === line && compare(row.version, version) === 0);
}

type Version = ModelRow['version'];

function compare(a: Version, b: Version): number {
  return a[0] - b[0] || a[1] - b[1];
}

/** Of equals the first listed. */
function newestOf<Row extends ModelRow>(rows: readonly Row[]): Row | undefined {
  let best: Row | undefined;
  for (const row of rows)
    if (best === undefined || compare(row.version, best.version) > 0) best = row;
  return best;
}

function oldestOf<Row extends ModelRow>(rows: readonly Row[]): Row | undefined {
  let best: Row | undefined;
  for (const row of rows)
    if (best === undefined || compare(row.version, best.version) < 0) best = row;
  return best;
}
