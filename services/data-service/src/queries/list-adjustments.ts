import type { MessageInitShape } from '@bufbuild/protobuf';
import type { analytics } from '@sluice/proto-stubs';
import { tenancyOf } from './logs/allowed-rows.ts';
import { checkUuid, instant } from './logs/id-time.ts';
import { Parameters } from './parameters.ts';
import type { Reader } from './questions.ts';

type Adjustments = MessageInitShape<typeof analytics.ListAdjustmentsResponseSchema>;

/** What was added to costs later, the latest first. */
export async function listAdjustments(
  client: Reader,
  asked: analytics.ListAdjustmentsRequest,
): Promise<Adjustments> {
  const parameters = new Parameters();
  const conditions = tenancyOf(asked, parameters);
  for (const column of ['id', 'record_id'] as const) {
    const id = column === 'id' ? asked.id : asked.recordId;
    if (id === '') continue;
    checkUuid(id, column);
    conditions.push(`${column} = toUUID(${parameters.bind('String', id)})`);
  }
  if (asked.fromMs > 0n)
    conditions.push(`created_at >= ${instant(Number(asked.fromMs), parameters)}`);
  if (asked.toMs > 0n) conditions.push(`created_at <= ${instant(Number(asked.toMs), parameters)}`);
  const from = `FROM usage_adjustments FINAL WHERE ${conditions.join(' AND ')}`;
  const count = await client.query({
    query: `SELECT toString(count()) AS total ${from}`,
    query_params: parameters.values,
    format: 'JSONEachRow',
  });
  const [counted] = await count.json<{ total: string }>();
  const page = await client.query({
    query: `SELECT id, record_id, workspace_id, makes_known, price_layer, price_book_version, reason, author,
        ${numbers.map((name) => `toString(${name}) AS ${name}_text`).join(', ')},
        toString(toUnixTimestamp64Milli(created_at)) AS created_at_ms,
        toString(toUnixTimestamp64Milli(attempt_created_at)) AS attempt_created_at_ms
      ${from}
      ORDER BY created_at DESC, id
      LIMIT ${asked.pageSize} OFFSET ${asked.currentPage * asked.pageSize}`,
    query_params: parameters.values,
    format: 'JSONEachRow',
  });
  const rows = await page.json<AdjustmentRow>();
  return {
    adjustments: rows.map((row) => adjustmentOf(row, asked.organisationId)),
    total: BigInt(counted?.total ?? 0),
  };
}

const numbers = [
  'cost_nano_usd',
  'input_cost_nano_usd',
  'output_cost_nano_usd',
  'input_tokens',
  'output_tokens',
] as const;

type AdjustmentRow = Record<
  | 'id'
  | 'record_id'
  | 'workspace_id'
  | 'price_layer'
  | 'price_book_version'
  | 'reason'
  | 'author'
  | 'created_at_ms'
  | 'attempt_created_at_ms'
  | `${(typeof numbers)[number]}_text`,
  string
> & { makes_known: boolean };

function adjustmentOf(row: AdjustmentRow, organisationId: string) {
  return {
    id: Buffer.from(row.id.replaceAll('-', ''), 'hex'),
    recordId: Buffer.from(row.record_id.replaceAll('-', ''), 'hex'),
    organisationId,
    workspaceId: row.workspace_id,
    attemptCreatedAtMs: BigInt(row.attempt_created_at_ms),
    createdAtMs: BigInt(row.created_at_ms),
    costNanoUsd: BigInt(row.cost_nano_usd_text),
    inputCostNanoUsd: BigInt(row.input_cost_nano_usd_text),
    outputCostNanoUsd: BigInt(row.output_cost_nano_usd_text),
    makesKnown: row.makes_known,
    priceLayer: row.price_layer,
    priceBookVersion: row.price_book_version,
    reason: row.reason,
    author: row.author,
    inputTokens: BigInt(row.input_tokens_text),
    outputTokens: BigInt(row.output_tokens_text),
  };
}
