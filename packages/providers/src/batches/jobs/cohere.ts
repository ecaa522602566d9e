import type { JsonObject } from '@sluice/contracts';
import { addressesOfDataset } from '../../files/dataset-files.ts';
import { arrayOf, numberOf, objectOf, stringOf } from '../../json/json-access.ts';
import { statusIn } from '../../vendor-status.ts';
import {
  type BatchStatus,
  type BatchUse,
  batchObject,
  batchPage,
  checkedId,
  documentOf,
  jsonRequest,
  needed,
  neededInput,
  neededModel,
  pageSize,
  secondsOrNone,
  type VendorBatches,
} from './vendor-batches.ts';

const states: Readonly<Record<string, BatchStatus>> = {
  processing: 'in_progress',
  complete: 'completed',
  cancelling: 'cancelling',
  cancelled: 'cancelled',
  failed: 'failed',
};
const idPattern = /^[A-Za-z0-9_-]{1,80}$/;

/** Embed jobs over a dataset: https://docs.cohere.com/reference/create-embed-job, November 2026 */
export const cohereBatches: VendorBatches = {
  async create(asked, use) {
    const { model: _model, ...options } = asked.options;
    needed(
      asked.endpoint === '/v1/embeddings' ? 'yes' : '',
      'endpoint',
      '/v1/embeddings: this provider has batches of nothing else',
    );
    const body: JsonObject = {
      input_type: 'search_document',
      ...options,
      model: neededModel(asked),
      dataset_id: neededInput(asked),
    };
    const { job_id } = documentOf(await use.ask(jsonRequest('POST', jobs(use), body)));
    const id = checkedId(stringOf(job_id) ?? '', idPattern);
    return presented({
      job_id: id,
      status: 'processing',
      created_at: new Date(use.nowMs).toISOString(),
      input_dataset_id: neededInput(asked),
      model: neededModel(asked),
    });
  },
  retrieve: async (id, use) =>
    presented(documentOf(await use.ask(jsonRequest('GET', job(use, id))))),
  async cancel(id, use) {
    await use.ask(jsonRequest('POST', `${job(use, id)}/cancel`));
    return presented(documentOf(await use.ask(jsonRequest('GET', job(use, id)))));
  },
  async list(query, use) {
    const size = pageSize(query);
    const { embed_jobs: all } = documentOf(await use.ask(jsonRequest('GET', jobs(use))));
    const found = (arrayOf(all) ?? []).map((one) => presented(objectOf(one) ?? {}));
    const after = query.get('after');
    const from = after === null ? 0 : found.findIndex(({ id }) => id === after) + 1;
    const rest = after !== null && from === 0 ? [] : found.slice(from);
    return batchPage(rest.slice(0, size), rest.length > size);
  },
  async output({ output_file_id: id }, use) {
    if (typeof id !== 'string') return [];
    const url = `${use.base}/v1/datasets/${encodeURIComponent(id)}`;
    const { dataset } = documentOf(await use.ask(jsonRequest('GET', url)));
    return addressesOfDataset(objectOf(dataset) ?? {}).map((address) => ({
      kind: 'request',
      request: jsonRequest('GET', address),
    }));
  },
};

const jobs = ({ base }: BatchUse) => `${base}/v1/embed-jobs`;
const job = (use: BatchUse, id: string) => `${jobs(use)}/${checkedId(id, idPattern)}`;

/** It counts nothing that is told: what is known of a job are its datasets. */
function presented(job: JsonObject): JsonObject {
  const { status, providerStatus } = statusIn(states, job.status, 'in_progress');
  return batchObject({
    id: stringOf(job.job_id) ?? '',
    status,
    providerStatus,
    endpoint: '/v1/embeddings',
    model: stringOf(job.model),
    inputFileId: stringOf(job.input_dataset_id),
    outputFileId: stringOf(job.output_dataset_id) || undefined,
    total: numberOf(job.total_count),
    fault:
      status === 'failed'
        ? (stringOf(job.message) ?? 'The provider says that the job failed.')
        : undefined,
    createdAt: secondsOrNone(job.created_at),
    inProgressAt: secondsOrNone(job.created_at),
  });
}
