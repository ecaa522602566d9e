import type { JsonObject } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import { locationPath, vertexModel } from '../../addresses/vertex-ai.ts';
import type { CallFacts } from '../../call-facts.ts';
import { objectId, placeOf } from '../../files/object-uri.ts';
import { arrayOf, objectOf, stringOf } from '../../json/json-access.ts';
import { statusIn } from '../../vendor-status.ts';
import { filesOfResults } from './openai.ts';
import {
  type AskedBatch,
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
  UNSPECIFIED: 'validating',
  PENDING: 'validating',
  QUEUED: 'validating',
  PAUSED: 'validating',
  RUNNING: 'in_progress',
  UPDATING: 'in_progress',
  SUCCEEDED: 'completed',
  PARTIALLY_SUCCEEDED: 'completed',
  CANCELLING: 'cancelling',
  CANCELLED: 'cancelled',
  EXPIRED: 'expired',
  FAILED: 'failed',
};
/** The last part of a job's name: one spelling, so that an id has one owner. */
const idPattern = /^[0-9]{1,32}$/;

/** https://cloud.google.com/vertex-ai/docs/reference/rest/v1/projects.locations.batchPredictionJobs, November 2026 */
export const vertexBatches: VendorBatches = {
  async create(asked, use) {
    const answer = await use.ask(jsonRequest('POST', jobs(use), jobOf(asked, use)));
    return presented(documentOf(answer), asked);
  },
  retrieve: async (id, use) =>
    presented(documentOf(await use.ask(jsonRequest('GET', job(use, id))))),
  async cancel(id, use) {
    await use.ask(jsonRequest('POST', `${job(use, id)}:cancel`, {}));
    return presented(documentOf(await use.ask(jsonRequest('GET', job(use, id)))));
  },
  async list(query, use) {
    const size = pageSize(query);
    const after = query.get('after');
    const found: JsonObject[] = [];
    let isBehind = after === null;
    let token: string | undefined;
    for (let page = 0; page < pagesMax; page++) {
      const url = new URL(jobs(use));
      url.searchParams.set('pageSize', String(isBehind ? size : 100));
      if (token !== undefined) url.searchParams.set('pageToken', token);
      const answer = documentOf(await use.ask(jsonRequest('GET', url.href)));
      for (const one of arrayOf(answer.batchPredictionJobs) ?? []) {
        const batch = presented(objectOf(one) ?? {});
        if (isBehind) found.push(batch);
        else isBehind = batch.id === after;
      }
      token = stringOf(answer.nextPageToken) || undefined;
      if (token === undefined || found.length >= size) break;
    }
    return batchPage(found.slice(0, size), found.length > size || token !== undefined);
  },
  output(batch) {
    const [files] = filesOfResults(batch);
    if (files === undefined) return [];
    // Gemini's rows are under the one name, those of other publishers under the other.
    return [{ ...files, orElse: [files.id.replace(/predictions\.jsonl$/, '000000000000.jsonl')] }];
  },
};

const pagesMax = 20;
const jobs = ({ base, facts }: BatchUse) => `${base}${locationPath(facts)}/batchPredictionJobs`;
const job = (use: BatchUse, id: string) => `${jobs(use)}/${checkedId(id, idPattern)}`;

function jobOf(asked: AskedBatch, { facts, nowMs }: BatchUse): JsonObject {
  const {
    job_name,
    displayName = job_name ?? `batch-${nowMs}`,
    output_data_config: output,
    model: _model,
    ...rest
  } = asked.options;
  const input = placeOfBucket(facts, neededInput(asked), 'input_file_id');
  const folder = input.key.slice(0, input.key.lastIndexOf('/') + 1);
  const given = stringOf(output);
  const place =
    given === undefined
      ? undefined
      : placeOfBucket(facts, `${given.replace(/\/$/, '')}/x`, 'output_data_config');
  const prefix =
    place === undefined
      ? `gs://${input.bucket}/${folder}`
      : `gs://${place.bucket}/${place.key.slice(0, -1)}`;
  const { publisher, name } = vertexModel(neededModel(asked));
  return {
    ...rest,
    displayName,
    model: `publishers/${publisher}/models/${name}`,
    inputConfig: {
      instancesFormat: 'jsonl',
      gcsSource: { uris: [`gs://${input.bucket}/${input.key}`] },
    },
    outputConfig: { predictionsFormat: 'jsonl', gcsDestination: { outputUriPrefix: prefix } },
    // What lines are known by is no part of what is asked, and comes back beside it.
    ...(publisher === 'google' ? { instanceConfig: { excludedFields: ['requestId'] } } : {}),
  };
}

/** @throws GatewayError for no place in a bucket, and for another bucket than an admin has set */
function placeOfBucket(facts: CallFacts, id: string, field: string) {
  const place = placeOr400(id, field);
  const own = facts
    .setting('vertex-storage-bucket-name')
    ?.replace(/^gs:\/\//, '')
    .replace(/\/.*$/s, '');
  if (facts.accountIsSettled !== true || own === place.bucket) return place;
  throw new GatewayError('request.invalid_field', {
    field: `body.${field}`,
    message: `body.${field} must be in the bucket that is set for this provider.`,
  });
}

function placeOr400(id: string, field: string) {
  try {
    return placeOf('gs', id);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    throw new GatewayError('request.invalid_field', {
      field: `body.${field}`,
      message: `body.${field} must be a place in a bucket, gs://bucket/name, or the id of a file there.`,
    });
  }
}

function presented(job: JsonObject, asked?: AskedBatch): JsonObject {
  const state = stringOf(job.state)?.replace(/^JOB_STATE_/, '');
  const { status, providerStatus } = statusIn(states, state, 'in_progress');
  const counts = objectOf(job.completionStats) ?? {};
  const [completed, failed, rest] = ['successfulCount', 'failedCount', 'incompleteCount'].map(
    (name) => Math.max(0, Number(counts[name] ?? 0) || 0),
  ) as [number, number, number];
  const [input] = arrayOf(objectOf(objectOf(job.inputConfig)?.gcsSource)?.uris) ?? [];
  const folder = stringOf(objectOf(job.outputInfo)?.gcsOutputDirectory);
  return batchObject({
    id: (stringOf(job.name) ?? '').split('/').at(-1) ?? '',
    status,
    providerStatus,
    endpoint: asked?.endpoint,
    model: stringOf(job.model),
    inputFileId: idOfUri(stringOf(input)),
    outputFileId: idOfUri(folder && `${folder.replace(/\/$/, '')}/predictions.jsonl`),
    metadata: asked?.metadata ?? job.labels,
    total: completed + failed + rest,
    completed,
    failed,
    fault: status === 'failed' ? stringOf(objectOf(job.error)?.message) : undefined,
    createdAt: secondsOrNone(job.createTime),
    inProgressAt: secondsOrNone(job.startTime),
    endedAt: secondsOrNone(job.endTime),
  });
}

function idOfUri(uri: string | undefined): string | undefined {
  if (uri === undefined || uri === '') return undefined;
  try {
    return objectId('gs', placeOf('gs', uri));
  } catch {
    // A folder, which is no file.
    return undefined;
  }
}
