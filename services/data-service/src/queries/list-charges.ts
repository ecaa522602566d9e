import type { MessageInitShape } from '@bufbuild/protobuf';
import { GatewayError } from '@sluice/errors';
import type { usage } from '@sluice/proto-stubs';
import type { Reader } from './questions.ts';

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
    after = { at: Number(last.created_at_ms), id: last.id };
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
          SELECT ${columns.join(', ')}, units, images_by_kind, cost_known, usage_estimated, created_at,
            toUnixTimestamp64Milli(created_at) AS created_at_ms
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
      SETTINGS max_execution_time = 60`,
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
  'organisation_id',
  'workspace_id',
  'provider',
  'model',
  'response_model',
  'service_tier',
  'served_region',
  'usage_reported',
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'cache_write_1h_tokens',
  'reasoning_tokens',
  'input_audio_tokens',
  'output_audio_tokens',
  'cache_read_audio_tokens',
  'input_image_tokens',
  'output_image_tokens',
  'images',
  'search_units',
  'pages',
  'audio_seconds',
  'characters',
  'price_layer',
  'price_book_version',
  'price_multiplier',
  'cost_nano_usd',
  'input_cost_nano_usd',
  'output_cost_nano_usd',
] as const;

/** As JSON has them: 64-bit numbers are text or, where they are exact, numbers. */
type ChargeRow = Record<Exclude<(typeof columns)[number], 'usage_reported'>, string> & {
  created_at_ms: string;
  usage_reported: boolean;
  usage_estimated: boolean;
  cost_known: boolean;
  units: Record<string, string>;
  images_by_kind: Record<string, string>;
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
    record: {
      id: bytesOf(row.id),
      requestId: bytesOf(row.request_id),
      createdAtMs: BigInt(row.created_at_ms),
      organisationId: row.organisation_id,
      workspaceId: row.workspace_id,
      provider: row.provider,
      model: row.model,
      responseModel: row.response_model,
      serviceTier: row.service_tier,
      servedRegion: row.served_region,
      usageReported: row.usage_reported,
      usageEstimated: row.usage_estimated,
      inputTokens: BigInt(row.input_tokens),
      outputTokens: BigInt(row.output_tokens),
      cacheReadTokens: BigInt(row.cache_read_tokens),
      cacheWriteTokens: BigInt(row.cache_write_tokens),
      cacheWrite1hTokens: BigInt(row.cache_write_1h_tokens),
      reasoningTokens: BigInt(row.reasoning_tokens),
      inputAudioTokens: BigInt(row.input_audio_tokens),
      outputAudioTokens: BigInt(row.output_audio_tokens),
      cacheReadAudioTokens: BigInt(row.cache_read_audio_tokens),
      inputImageTokens: BigInt(row.input_image_tokens),
      outputImageTokens: BigInt(row.output_image_tokens),
      images: BigInt(row.images),
      searchUnits: BigInt(row.search_units),
      pages: BigInt(row.pages),
      audioSeconds: Number(row.audio_seconds),
      characters: BigInt(row.characters),
      units: countsOf(row.units),
      imagesByKind: countsOf(row.images_by_kind),
      priceLayer: row.price_layer,
      priceBookVersion: row.price_book_version,
      priceMultiplier: Number(row.price_multiplier),
      costKnown: row.cost_known,
      costNanoUsd: BigInt(row.cost_nano_usd),
      inputCostNanoUsd: BigInt(row.input_cost_nano_usd),
      outputCostNanoUsd: BigInt(row.output_cost_nano_usd),
    },
    adjustedNanoUsd: BigInt(row.adjusted),
    adjustedInputNanoUsd: BigInt(row.adjusted_input),
    adjustedOutputNanoUsd: BigInt(row.adjusted_output),
    adjusted: Number(row.times) > 0,
    moreInputTokens: BigInt(row.more_input),
    moreOutputTokens: BigInt(row.more_output),
    costSaid: Boolean(row.cost_said),
  };
}

function countsOf(counts: Readonly<Record<string, string>>): Record<string, bigint> {
  return Object.fromEntries(Object.entries(counts).map(([name, count]) => [name, BigInt(count)]));
}

function bytesOf(id: string): Uint8Array {
  return Buffer.from(id.replaceAll('-', ''), 'hex');
}
