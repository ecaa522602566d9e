import type { MessageInitShape } from '@bufbuild/protobuf';
import { GatewayError } from '@sluice/errors';
import type { usage } from '@sluice/proto-stubs';
import { recordOfRow, rowSettings, type StoredRow } from './logs/record-of-row.ts';
import type { Reader } from './questions.ts';
import { usedColumns } from './used-columns.ts';

type Charges = MessageInitShape<typeof usage.ListChargesResponseSchema>;

const pageSize = 2000;
const periodMsMax = 32 * 24 * 3600 * 1000;

/**
 * Attempts of a period that counted something, oldest first, each with the sum of
 * its adjustments: of what prices made of it, since an amount that an administrator said is there whatever prices
 * become. What several targets told together has no one price, and is left out.
 */
export async function* listCharges(
  client: Reader,
  { fromMs, toMs, organisationId }: usage.ListChargesRequest,
): AsyncGenerator<Charges> {
  if (toMs <= fromMs || toMs - fromMs > periodMsMax)
    throw new GatewayError('admin.validation', {
      field: 'to_ms',
      message: 'The period must be longer than nothing, and no longer than 32 days.',
    });
  let after = { at: Number(fromMs) - 1, id: 'ffffffff-ffff-ffff-ffff-ffffffffffff' };
  for (;;) {
    const rows = await page(client, { after, toMs: Number(toMs), organisationId });
    if (rows.length > 0) yield { charges: rows.map(chargeOf) };
    const last = rows.at(-1);
    if (last === undefined || rows.length < pageSize) return;
    after = { at: Number(last.at_ms), id: last.id };
  }
}

interface Page {
  after: { at: number; id: string };
  toMs: number;
  organisationId: string;
}

async function page(client: Reader, options: Page): Promise<ChargeRow[]> {
  const result = await client.query({
    query: `
      WITH
        attempts AS (
          SELECT ${columns.join(', ')}, toUnixTimestamp64Milli(created_at) AS at_ms
          FROM usage_records FINAL
          WHERE created_at >= fromUnixTimestamp64Milli({after_ms:Int64}, 'UTC')
            AND created_at < fromUnixTimestamp64Milli({to_ms:Int64}, 'UTC')
            AND (created_at, id) > (fromUnixTimestamp64Milli({after_ms:Int64}, 'UTC'), {after_id:UUID})
            AND ({organisation_id:String} = '' OR organisation_id = {organisation_id:String})
            AND (usage_reported OR usage_estimated OR images > 0 OR search_units > 0 OR pages > 0 OR audio_seconds > 0 OR characters > 0)
            AND position(decision_json, '"parts":') = 0
            -- What tools and agents cost, no price list says.
            AND rpc_method = ''
          ORDER BY created_at, id
          LIMIT ${pageSize}
        ),
        adjustments AS (
          SELECT record_id, sumIf(cost_nano_usd, is_priced) AS adjusted, sumIf(input_cost_nano_usd, is_priced) AS adjusted_input,
            sumIf(output_cost_nano_usd, is_priced) AS adjusted_output, countIf(is_priced) AS times,
            sum(input_tokens) AS more_input, sum(output_tokens) AS more_output, max(makes_known AND NOT is_priced) AS cost_said
          FROM (
            SELECT *, author = '' OR input_tokens != 0 OR output_tokens != 0 AS is_priced
            FROM usage_adjustments FINAL
            WHERE record_id IN (SELECT id FROM attempts)
          )
          GROUP BY record_id
        )
      SELECT attempts.*, adjusted, adjusted_input, adjusted_output, times, more_input, more_output, cost_said
      FROM attempts LEFT JOIN adjustments ON attempts.id = adjustments.record_id
      ORDER BY created_at, id
      ${rowSettings}, max_execution_time = 60`,
    query_params: {
      after_ms: options.after.at,
      after_id: options.after.id,
      to_ms: options.toMs,
      organisation_id: options.organisationId,
    },
    format: 'JSONEachRow',
  });
  return result.json<ChargeRow>();
}

const columns = [
  'id',
  'request_id',
  'entry_id',
  'created_at',
  'outcome',
  'organisation_id',
  'workspace_id',
  'provider',
  'model',
  'response_model',
  ...usedColumns,
  'price_layer',
  'price_book_version',
  'price_multiplier',
  'cost_known',
  'cost_nano_usd',
  'input_cost_nano_usd',
  'output_cost_nano_usd',
] as const;

/** 64-bit numbers are text. */
type ChargeRow = StoredRow & {
  at_ms: string;
  adjusted: string;
  adjusted_input: string;
  adjusted_output: string;
  times: string;
  more_input: string;
  more_output: string;
  cost_said: boolean | number;
};

function chargeOf(row: ChargeRow): NonNullable<Charges['charges']>[number] {
  return {
    record: recordOfRow(row),
    adjustedNanoUsd: BigInt(row.adjusted),
    adjustedInputNanoUsd: BigInt(row.adjusted_input),
    adjustedOutputNanoUsd: BigInt(row.adjusted_output),
    adjusted: Number(row.times) > 0,
    moreInputTokens: BigInt(row.more_input),
    moreOutputTokens: BigInt(row.more_output),
    costSaid: Boolean(row.cost_said),
  };
}
