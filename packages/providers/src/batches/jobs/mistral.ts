import type { JsonObject } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import { arrayOf, numberOf, objectOf, stringOf } from '../../json/json-access.ts';
import { statusIn } from '../../vendor-status.ts';
import { openAiBatches } from './openai.ts';
import {
  type BatchStatus,
  type BatchUse,
  batchObject,
  batchPage,
  checkedId,
  documentOf,
  jsonRequest,
  neededInput,
  neededModel,
  pageSize,
  secondsOrNone,
  type VendorBatches,
} from './vendor-batches.ts';

const states: Readonly<Record<string, BatchStatus>> = {
  QUEUED: 'validating',
  RUNNING: 'in_progress',
  SUCCESS: 'completed',
  FAILED: 'failed',
  TIMEOUT_EXCEEDED: 'expired',
  CANCELLATION_REQUESTED: 'cancelling',
  CANCELLED: 'cancelled',
};
const idPattern = /^[A-Za-z0-9-]{1,64}$/;

/** https://docs.mistral.ai/api/endpoint/batch, November 2026 */
export const mistralBatches: VendorBatches = {
  ...openAiBatches,
  async create(asked, use) {
    const { model, timeout_hours, ...options } = asked.options;
    if (options.requests !== undefined)
      throw new GatewayError('request.invalid_field', {
        field: 'body.requests',
        message:
          'body.requests must not stand beside body.input_file_id: a batch here is over one file.',
      });
    const hours = hoursOf(asked.completionWindow);
    const body: JsonObject = {
      ...options,
      input_files: [neededInput(asked)],
      endpoint: asked.endpoint,
      model: neededModel(asked),
      ...(asked.metadata === undefined ? {} : { metadata: asked.metadata }),
      ...(timeout_hours === undefined
        ? hours === undefined
          ? {}
          : { timeout_hours: hours }
        : { timeout_hours }),
    };
    return presented(documentOf(await use.ask(jsonRequest('POST', jobs(use), body))));
  },
  retrieve: async (id, use) =>
    presented(documentOf(await use.ask(jsonRequest('GET', job(use, id))))),
  cancel: async (id, use) =>
    presented(documentOf(await use.ask(jsonRequest('POST', `${job(use, id)}/cancel`)))),
  async list(query, use) {
    const size = pageSize(query);
    const after = query.get('after');
    // Pages have numbers here: the one behind an id is looked for.
    for (let page = 0; page < pagesMax; page++) {
      const url = `${jobs(use)}?page=${page}&page_size=${size}`;
      const { data, total } = documentOf(await use.ask(jsonRequest('GET', url)));
      const all = (arrayOf(data) ?? []).map((one) => presented(objectOf(one) ?? {}));
      const from = after === null ? 0 : all.findIndex(({ id }) => id === after) + 1;
      const hasMore = (page + 1) * size < (numberOf(total) ?? 0);
      if (after === null || from > 0) {
        const rest = all.slice(from);
        if (rest.length > 0 || !hasMore) return batchPage(rest, hasMore);
        const next = `${jobs(use)}?page=${page + 1}&page_size=${size}`;
        const behind = documentOf(await use.ask(jsonRequest('GET', next)));
        const found = (arrayOf(behind.data) ?? []).map((one) => presented(objectOf(one) ?? {}));
        return batchPage(found, (page + 2) * size < (numberOf(behind.total) ?? 0));
      }
      if (!hasMore) break;
    }
    return batchPage([], false);
  },
};

const pagesMax = 50;
const jobs = ({ base }: BatchUse) => `${base}/batch/jobs`;
const job = (use: BatchUse, id: string) => `${jobs(use)}/${checkedId(id, idPattern)}`;

function hoursOf(window: string | undefined): number | undefined {
  const [, count, unit] = /^(\d{1,3})([hd])$/.exec(window ?? '') ?? [];
  return count === undefined ? undefined : Number(count) * (unit === 'd' ? 24 : 1);
}

function presented(job: JsonObject): JsonObject {
  const errors = arrayOf(job.errors) ?? [];
  const { status, providerStatus } = statusIn(states, job.status, 'in_progress');
  return batchObject({
    id: stringOf(job.id) ?? '',
    status,
    providerStatus,
    endpoint: stringOf(job.endpoint),
    model: stringOf(job.model),
    inputFileId: stringOf(arrayOf(job.input_files)?.[0]),
    outputFileId: stringOf(job.output_file),
    errorFileId: stringOf(job.error_file),
    metadata: job.metadata,
    total: numberOf(job.total_requests),
    completed: numberOf(job.succeeded_requests),
    failed: numberOf(job.failed_requests),
    fault: status === 'failed' ? stringOf(objectOf(errors[0])?.message) : undefined,
    createdAt: secondsOrNone(job.created_at),
    inProgressAt: secondsOrNone(job.started_at),
    endedAt: secondsOrNone(job.completed_at),
  });
}
