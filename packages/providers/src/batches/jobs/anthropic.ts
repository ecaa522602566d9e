import type { JsonObject } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import { arrayOf, numberOf, objectOf, stringOf } from '../../json/json-access.ts';
import { statusIn, type VendorStatus } from '../../vendor-status.ts';
import {
  type AskedBatch,
  type BatchStatus,
  type BatchUse,
  batchObject,
  batchPage,
  checkedId,
  documentOf,
  jsonRequest,
  pageSize,
  secondsOrNone,
  type VendorBatches,
} from './vendor-batches.ts';

/** https://docs.claude.com/en/api/creating-message-batches */
const requestsMax = 100_000;
const bytesMax = 256 * 1024 * 1024;
const idPattern = /^[A-Za-z0-9_-]{1,128}$/;

/** Message batches: https://docs.claude.com/en/api/messages-batch-examples, November 2026 */
export const anthropicBatches: VendorBatches = {
  takesLines: true,
  async create(asked, use) {
    const body = bodyOf(asked);
    const answer = await use.ask({
      method: 'POST',
      url: batches(use),
      headers: { 'content-type': 'application/json' },
      body,
    });
    return presented(documentOf(answer), asked);
  },
  retrieve: async (id, use) =>
    presented(documentOf(await use.ask(jsonRequest('GET', one(use, id))))),
  cancel: async (id, use) =>
    presented(documentOf(await use.ask(jsonRequest('POST', `${one(use, id)}/cancel`)))),
  async list(query, use) {
    const url = new URL(batches(use));
    url.searchParams.set('limit', String(pageSize(query)));
    const after = query.get('after');
    if (after !== null) url.searchParams.set('after_id', checkedId(after, idPattern));
    const { data, has_more } = documentOf(await use.ask(jsonRequest('GET', url.href)));
    const found = (arrayOf(data) ?? []).map((batch) => presented(objectOf(batch) ?? {}));
    return batchPage(found, has_more === true);
  },
  output: (batch, use) => [
    {
      kind: 'request',
      request: { method: 'GET', url: `${one(use, stringOf(batch.id) ?? '')}/results` },
    },
  ],
};

const batches = ({ base }: BatchUse) => `${base}/messages/batches`;
const one = (use: BatchUse, id: string) => `${batches(use)}/${checkedId(id, idPattern)}`;

/** All requests go up with the batch: those that the body has, or the lines of a file. */
function bodyOf({ options, lines, row }: AskedBatch): Buffer | AsyncIterable<Buffer> {
  if (arrayOf(options.requests) !== undefined)
    return Buffer.from(JSON.stringify({ requests: options.requests }));
  if (lines === undefined)
    throw new GatewayError('request.invalid_field', {
      field: 'body.input_file_id',
      message:
        'body.input_file_id must be a file that this service keeps (file-svc_…, uploaded without naming a provider), or the body must have requests: this provider reads no files.',
    });
  return inOne(lines, row);
}

async function* inOne(
  lines: AsyncIterable<Buffer>,
  row: AskedBatch['row'],
): AsyncGenerator<Buffer, void> {
  let number = 0;
  let count = 0;
  let bytes = 0;
  yield Buffer.from('{"requests":[');
  for await (const line of lines) {
    number++;
    if (line.every((byte) => byte <= 0x20)) continue;
    const made = Buffer.from(row(line, number));
    bytes += made.length + 1;
    if (++count > requestsMax || bytes > bytesMax)
      throw new GatewayError('request.invalid_field', {
        field: `line ${number}`,
        message: `line ${number} is one too many: a batch here has at most ${requestsMax} lines and ${bytesMax} bytes.`,
      });
    yield count === 1 ? made : Buffer.concat([comma, made]);
  }
  if (count === 0)
    throw new GatewayError('request.invalid_field', {
      field: 'body.input_file_id',
      message: 'body.input_file_id must be a file with a line at least.',
    });
  yield Buffer.from(']}');
}

const comma = Buffer.from(',');

function presented(batch: JsonObject, asked?: AskedBatch): JsonObject {
  const counts = objectOf(batch.request_counts) ?? {};
  const [processing, succeeded, errored, canceled, expired] = [
    'processing',
    'succeeded',
    'errored',
    'canceled',
    'expired',
  ].map((name) => numberOf(counts[name]) ?? 0) as [number, number, number, number, number];
  return batchObject({
    id: stringOf(batch.id) ?? '',
    ...statusOf(batch, { succeeded, errored, canceled, expired }),
    endpoint: asked?.endpoint ?? '/v1/messages',
    inputFileId: asked?.inputFileId,
    metadata: asked?.metadata,
    total: processing + succeeded + errored + canceled + expired,
    completed: succeeded,
    failed: errored + canceled + expired,
    createdAt: secondsOrNone(batch.created_at),
    inProgressAt: secondsOrNone(batch.created_at),
    expiresAt: secondsOrNone(batch.expires_at),
    endedAt: secondsOrNone(batch.ended_at),
    cancellingAt: secondsOrNone(batch.cancel_initiated_at),
  });
}

function statusOf(
  { processing_status: told }: JsonObject,
  counts: Record<'succeeded' | 'errored' | 'canceled' | 'expired', number>,
): VendorStatus<BatchStatus> {
  if (told !== 'ended') return statusIn(states, told, 'in_progress');
  if (counts.canceled > 0) return { status: 'cancelled' };
  const isExpired = counts.expired > 0 && counts.succeeded + counts.errored === 0;
  return { status: isExpired ? 'expired' : 'completed' };
}

const states: Readonly<Record<string, BatchStatus>> = {
  in_progress: 'in_progress',
  canceling: 'cancelling',
};
