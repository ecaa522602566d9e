import { fromJson, type JsonObject } from '@bufbuild/protobuf';
import { usage } from '@sluice/proto-stubs';

/**
 * How rows are asked for: JSON's numbers lose digits, so those of 64 bits are text. In the text
 * of the query: what stands beside it holds for all that the embedded engine does from then on, inserts too.
 */
export const rowSettings = 'SETTINGS output_format_json_quote_64bit_integers = 1';

/** A row of `usage_records` as JSON has it, with `rowSettings`. */
export type StoredRow = JsonObject & { id: string; request_id: string; entry_id: string };

/** The record that a row was made of: the way back of `sinks/usage-columns.gen.ts`, by the names of the fields. */
export function recordOfRow(row: StoredRow): usage.UsageRecord {
  const { id, request_id, entry_id, created_at, outcome, ...same } = row;
  return fromJson(
    usage.UsageRecordSchema,
    {
      ...same,
      id: base64(id),
      request_id: base64(request_id),
      entry_id: entry_id === noId ? '' : base64(entry_id),
      created_at_ms: String(Date.parse(`${String(created_at).replace(' ', 'T')}Z`)),
      outcome: outcomeOf(String(outcome)),
    },
    // When it was stored, and whatever else is the ledger's own.
    { ignoreUnknownFields: true },
  );
}

const noId = '00000000-0000-0000-0000-000000000000';

function base64(id: string): string {
  return Buffer.from(id.replaceAll('-', ''), 'hex').toString('base64');
}

/** One that is newer than this program was stored with its number. */
function outcomeOf(name: string): string | number {
  const number = /^outcome_(\d+)$/.exec(name)?.[1];
  return number === undefined ? `OUTCOME_${name.toUpperCase()}` : Number(number);
}
