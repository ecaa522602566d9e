import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { noUsage } from '@sluice/contracts';
import type { BodyOf } from '@sluice/contracts/admin';
import { costOf, type PriceBook } from '@sluice/pricing';
import { usage } from '@sluice/proto-stubs';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import { newId } from '../../kernel/names/ids.ts';
import type { Ledger } from '../analytics/ledger.ts';
import { readLogUsage } from './read-log-usage.ts';
import { refuseWriter } from './refuse-writer.ts';
import { findWorkspaceSlug } from './store.ts';

type CustomLog = Exclude<BodyOf<'logs.create'>, readonly unknown[]>;

export interface InsertParts {
  readonly ledger: Pick<Ledger, 'writeUsage'>;
  readonly book: Pick<PriceBook, 'lookUp'>;
}

/**
 * Somebody's own logs become records of the ledger, of source `custom`: they are
 * found, counted and priced like others, and no limit hears of them.
 */
export async function insertLogs(
  call: AdminRequest,
  body: BodyOf<'logs.create'>,
  { ledger, book }: InsertParts,
): Promise<string[]> {
  const { caller, now } = call;
  refuseWriter(caller);
  const { workspaceId } = caller;
  const workspaceSlug = await findWorkspaceSlug(call.db, workspaceId);
  const records = [body].flat().map((log) => {
    const id = newId(now.getTime());
    const record = {
      ...recordOf(log, now.getTime(), book),
      id: bytesOf(id),
      requestId: bytesOf(id),
      createdAtMs: BigInt(now.getTime()),
      organisationId: caller.organisationId,
      workspaceId,
      workspaceSlug: workspaceSlug ?? '',
      apiKeyId: caller.keyId,
      userId: caller.userId ?? '',
    };
    return {
      id,
      bytes: toBinary(usage.UsageRecordSchema, create(usage.UsageRecordSchema, record)),
    };
  });
  await ledger.writeUsage({ records: records.map(({ bytes }) => bytes) });
  return records.map(({ id }) => id);
}

function recordOf(
  { request, response, metadata }: CustomLog,
  nowMs: number,
  book: InsertParts['book'],
): MessageInitShape<typeof usage.UsageRecordSchema> {
  const { place, own } = traceOf(metadata);
  const isSuccess = response.status >= 200 && response.status < 300;
  const provider = request.provider ?? '';
  const told = readLogUsage(request.body, response.body);
  const elapsedMs = response.response_time ?? response.time ?? 0;
  const tokens = told.tokens;
  const rates =
    tokens === undefined || told.model === '' || provider === ''
      ? undefined
      : book.lookUp({ provider, model: told.model, atMs: nowMs });
  const cost =
    tokens === undefined || rates === undefined || rates.tiers.length === 0
      ? undefined
      : costOf(rates, { ...noUsage, ...tokens });
  return {
    ...place,
    metadata: own,
    source: 'custom',
    method: request.method.toUpperCase(),
    requestUrl: withoutSecrets(request.url),
    endpoint: 'custom',
    stream: response.streamingMode,
    strategyMode: 'single',
    optionPath: 'config',
    cacheStatus: 'DISABLED',
    provider,
    model: told.model,
    responseModel: told.responseModel,
    outcome: isSuccess ? usage.Outcome.SUCCESS : usage.Outcome.UPSTREAM_ERROR,
    statusCode: response.status,
    errorCode: isSuccess ? '' : 'upstream.error',
    latencyMs: elapsedMs,
    entryMs: elapsedMs,
    attemptMs: elapsedMs,
    ...(tokens !== undefined && {
      usageReported: true,
      inputTokens: BigInt(tokens.inputTokens),
      outputTokens: BigInt(tokens.outputTokens),
      cacheReadTokens: BigInt(tokens.cacheReadTokens),
      cacheWriteTokens: BigInt(tokens.cacheWriteTokens),
    }),
    ...(cost !== undefined && {
      costKnown: true,
      costNanoUsd: BigInt(cost.totalNanoUsd),
      inputCostNanoUsd: BigInt(cost.inputNanoUsd),
      outputCostNanoUsd: BigInt(cost.outputNanoUsd),
      priceLayer: rates?.layer ?? '',
      priceBookVersion: rates?.version ?? '',
    }),
  };
}

/** Both spellings of what places a log in its trace; what is left is metadata. */
function traceOf(metadata: CustomLog['metadata']) {
  const own: Record<string, string> = {};
  const place = { traceId: '', spanId: '', spanName: '', parentSpanId: '' };
  for (const [key, value] of Object.entries(metadata)) {
    const name = spellings.get(key);
    if (name === undefined) own[key] = String(value);
    else place[name] = String(value);
  }
  return { place, own };
}

const spellings: ReadonlyMap<string, 'traceId' | 'spanId' | 'spanName' | 'parentSpanId'> = new Map([
  ['trace_id', 'traceId'],
  ['traceId', 'traceId'],
  ['span_id', 'spanId'],
  ['spanId', 'spanId'],
  ['span_name', 'spanName'],
  ['spanName', 'spanName'],
  ['parent_span_id', 'parentSpanId'],
  ['parentSpanId', 'parentSpanId'],
] as const);

/** Queries and user names of addresses hold keys at times, whatever the scheme, or without one. */
function withoutSecrets(address: string): string {
  const url = URL.parse(address);
  if (url !== null && url.origin !== 'null') return `${url.origin}${url.pathname}`;
  return address.replace(/[?#].*$/s, '').replace(/^((?:[a-z][a-z\d+.-]*:)?\/\/)?[^/]*@/i, '$1');
}

function bytesOf(id: string): Uint8Array {
  return Buffer.from(id.replaceAll('-', ''), 'hex');
}
