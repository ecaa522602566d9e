import type { ClickHouseClient } from '@clickhouse/client';
import { Parameters } from '../queries/parameters.ts';
import type { Reader } from '../queries/questions.ts';
import type { Seal } from './chain.ts';

type SealRow = Record<
  | 'sequence'
  | 'kind'
  | 'day'
  | 'workspace_id'
  | 'records_day'
  | 'records'
  | 'input_tokens'
  | 'output_tokens'
  | 'cost_nano_usd'
  | 'adjustments'
  | 'adjusted_nano_usd'
  | 'blocks'
  | 'previous_hash'
  | 'hash',
  string
>;

const pageSize = 2000;

export async function insertSeals(client: ClickHouseClient, seals: readonly Seal[]): Promise<void> {
  const values = seals.map((seal) => ({
    organisation_id: seal.organisationId,
    sequence: seal.sequence,
    kind: seal.kind,
    day: seal.day,
    workspace_id: seal.workspaceId,
    records_day: seal.recordsDay,
    records: seal.records,
    input_tokens: seal.inputTokens.toString(),
    output_tokens: seal.outputTokens.toString(),
    cost_nano_usd: seal.costNanoUsd.toString(),
    adjustments: seal.adjustments,
    adjusted_nano_usd: seal.adjustedNanoUsd.toString(),
    blocks: seal.blocks,
    previous_hash: seal.previousHash,
    hash: seal.hash,
  }));
  await client.insert({ table: 'ledger_seals', values, format: 'JSONEachRow' });
}

/** An organisation's chain from its first entry on, page by page. */
export async function* readChain(client: Reader, organisationId: string): AsyncGenerator<Seal[]> {
  for (let after = 0; ; ) {
    const page = await readSeals(client, organisationId, {
      where: `sequence > ${after}`,
      order: 'sequence',
      limit: `${pageSize}`,
    });
    yield page;
    if (page.length < pageSize) return;
    after = page.at(-1)?.sequence ?? after;
  }
}

/** The last entry of an organisation. */
export async function readHead(client: Reader, organisationId: string): Promise<Seal | undefined> {
  const [head] = await readSeals(client, organisationId, {
    where: 'true',
    order: 'sequence DESC',
    limit: '1',
  });
  return head;
}

export async function readSeals(
  client: Reader,
  organisationId: string,
  { where, order, limit }: { where: string; order: string; limit: string },
): Promise<Seal[]> {
  const parameters = new Parameters();
  const result = await client.query({
    query: `SELECT toString(sequence) AS sequence, kind, toString(day) AS day, workspace_id, toString(records_day) AS records_day,
        ${numbers.map((name) => `toString(${name}) AS ${name}`).join(', ')}, blocks, previous_hash, hash
      FROM ledger_seals FINAL
      WHERE organisation_id = ${parameters.bind('String', organisationId)} AND ${where}
      ORDER BY ${order}
      LIMIT ${limit}
      SETTINGS max_execution_time = 60, prefer_column_name_to_alias = 1`,
    query_params: parameters.values,
    format: 'JSONEachRow',
  });
  return (await result.json<SealRow>()).map((row) => ({
    organisationId,
    sequence: Number(row.sequence),
    kind: row.kind === 'day' ? 'day' : 'part',
    day: row.day,
    workspaceId: row.workspace_id,
    recordsDay: row.records_day,
    records: Number(row.records),
    inputTokens: BigInt(row.input_tokens),
    outputTokens: BigInt(row.output_tokens),
    costNanoUsd: BigInt(row.cost_nano_usd),
    adjustments: Number(row.adjustments),
    adjustedNanoUsd: BigInt(row.adjusted_nano_usd),
    blocks: row.blocks,
    previousHash: row.previous_hash,
    hash: row.hash,
  }));
}

const numbers = [
  'records',
  'input_tokens',
  'output_tokens',
  'cost_nano_usd',
  'adjustments',
  'adjusted_nano_usd',
] as const;
