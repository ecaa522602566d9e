import type { MessageInitShape } from '@bufbuild/protobuf';
import { GatewayError } from '@sluice/errors';
import type { analytics, usage } from '@sluice/proto-stubs';
import { Parameters } from '../parameters.ts';
import type { Reader } from '../questions.ts';
import { usedColumns } from '../used-columns.ts';
import { allowedRows } from './allowed-rows.ts';
import { instant } from './id-time.ts';
import { recordOfRow, rowSettings, type StoredRow } from './record-of-row.ts';

type Answer = MessageInitShape<typeof analytics.ListPastRequestsResponseSchema>;

const pageSize = 4000;
/** Rows are made into records on the loop that answers questions: so many at once. */
const sliceSize = 200;
const requestsMax = 1_000_000;

/** Requests of a period, the oldest first, with all their attempts. What others sent as their own logs was not decided here. */
export async function* listPastRequests(
  client: Reader,
  request: analytics.ListPastRequestsRequest,
  signal: AbortSignal,
): AsyncGenerator<Answer> {
  const left = { requests: Math.min(request.requestsMax, requestsMax) };
  if (request.toMs <= request.fromMs || left.requests === 0)
    throw new GatewayError('admin.validation', {
      field: 'to_ms',
      message: 'The period must be longer than nothing, and of one request at least.',
    });
  let held: usage.UsageRecord[] = [];
  let after: StoredRow | undefined;
  for (;;) {
    const rows: StoredRow[] = signal.aborted ? [] : await page(client, request, after);
    for (let at = 0; at < rows.length; at += sliceSize) {
      const records = [...held, ...rows.slice(at, at + sliceSize).map(recordOfRow)];
      // The last request may go on.
      const whole = startOfLast(records);
      held = records.slice(whole);
      const attempts = takeRequests(records.slice(0, whole), left);
      if (attempts.length > 0) yield { attempts };
      if (left.requests === 0 || signal.aborted) return;
    }
    after = rows.at(-1);
    if (rows.length < pageSize) break;
  }
  const attempts = takeRequests(held, left);
  if (attempts.length > 0) yield { attempts };
}

async function page(
  client: Reader,
  request: analytics.ListPastRequestsRequest,
  after: StoredRow | undefined,
): Promise<StoredRow[]> {
  const parameters = new Parameters();
  const where = [
    ...allowedRows(request, parameters),
    "source = ''",
    // What a cache asks beside a request is none of its attempts.
    "option_path != 'cache.embedding'",
    // Nor is a call of a tool or an agent a request for a model.
    "rpc_method = ''",
    `created_at < ${instant(Number(request.toMs), parameters)}`,
  ];
  if (after === undefined)
    where.push(`created_at >= ${instant(Number(request.fromMs), parameters)}`);
  else {
    const at = `toDateTime64(${parameters.bind('String', String(after.created_at))}, 3, 'UTC')`;
    const ids = [after.request_id, after.id].map(
      (id) => `toUUID(${parameters.bind('String', id)})`,
    );
    where.push(`created_at >= ${at}`, `(created_at, request_id, id) > (${at}, ${ids.join(', ')})`);
  }
  const result = await client.query({
    query: `SELECT ${columns.join(', ')} FROM usage_records FINAL
      WHERE ${where.join(' AND ')}
      ORDER BY created_at, request_id, id
      LIMIT ${pageSize}
      ${rowSettings}, max_execution_time = 20`,
    query_params: parameters.values,
    format: 'JSONEachRow',
  });
  return result.json<StoredRow>();
}

function startOfLast(records: readonly usage.UsageRecord[]): number {
  const last = records.at(-1);
  let start = records.length - 1;
  while (start > 0 && isSame(records[start - 1], last)) start--;
  return Math.max(start, 0);
}

/** As many requests as are left, with all their attempts. */
function takeRequests(
  records: readonly usage.UsageRecord[],
  left: { requests: number },
): usage.UsageRecord[] {
  const taken: usage.UsageRecord[] = [];
  for (const [index, record] of records.entries()) {
    if (!isSame(records[index - 1], record)) {
      if (left.requests === 0) break;
      left.requests--;
    }
    taken.push(record);
  }
  return taken;
}

function isSame(one: usage.UsageRecord | undefined, other: usage.UsageRecord | undefined): boolean {
  return (
    one !== undefined && other !== undefined && Buffer.compare(one.requestId, other.requestId) === 0
  );
}

/** What routing, limits, prices and the way to the body look at. */
const columns = [
  'id',
  'request_id',
  'entry_id',
  'created_at',
  'organisation_id',
  'workspace_id',
  'workspace_slug',
  'api_key_id',
  'user_id',
  'request_url',
  'endpoint',
  'provider',
  'provider_slug',
  'model',
  'response_model',
  'config_id',
  'config_slug',
  'config_version_id',
  'option_path',
  'cache_type',
  'outcome',
  'status_code',
  'error_code',
  'latency_ms',
  'metadata',
  'decision_json',
  'prompt_slug',
  'log_format',
  ...usedColumns,
  'cost_nano_usd',
  'cost_known',
] as const;
