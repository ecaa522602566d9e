import { textLiteral } from '../parameters.ts';

/** Minutes since the epoch at which what is kept begins, in `cutoffs`; organisations without a row have that of the empty one. */
const cutoffs = `
  SELECT organisation_id, max(toUInt32(before)) * 1440 AS kept
  FROM retention_cutoffs WHERE grain = 'logs' GROUP BY organisation_id`;

/** The minute from which on attempts of one organisation are kept, as a scalar. */
export function keptFrom(organisationId: string): string {
  return `(SELECT toUInt32(argMax(kept, organisation_id != '')) FROM (${cutoffs}) WHERE organisation_id IN ('', ${textLiteral(organisationId)}))`;
}

/** Joins each row of a table of organisations with the minute from which on their attempts are kept, `kept`. */
export function withKept(table: string): string {
  return `(
    SELECT rows.*, if(own.kept = 0, (SELECT toUInt32(max(kept)) FROM (${cutoffs}) WHERE organisation_id = ''), own.kept) AS kept
    FROM ${table} AS rows LEFT JOIN (${cutoffs}) AS own ON own.organisation_id = toString(rows.organisation_id))`;
}
