import type { JsonObject } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import { regionalHost } from '../../addresses/bedrock.ts';
import type { AuthRecipe, CallFacts } from '../../call-facts.ts';
import { objectId, placeOf } from '../../files/object-uri.ts';
import { arrayOf, numberOf, objectOf, stringOf } from '../../json/json-access.ts';
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
  needed,
  neededInput,
  neededModel,
  pageSize,
  secondsOrNone,
  type VendorBatches,
} from './vendor-batches.ts';

const states: Readonly<Record<string, BatchStatus>> = {
  Submitted: 'validating',
  Validating: 'validating',
  Scheduled: 'validating',
  InProgress: 'in_progress',
  Completed: 'completed',
  PartiallyCompleted: 'completed',
  Stopping: 'cancelling',
  Stopped: 'cancelled',
  Expired: 'expired',
  Failed: 'failed',
};
/** The last part of an ARN, which AWS takes in its place: one spelling, so that an id has one owner. */
const idPattern = /^[a-z0-9]{12}$/;
const auth: AuthRecipe = { type: 'aws', service: 'bedrock' };
const controlPlane = regionalHost('bedrock');

/** Model invocation jobs: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_CreateModelInvocationJob.html, November 2026 */
export const bedrockBatches: VendorBatches = {
  // A job that was stopped before its end may have written nothing.
  output: (batch) =>
    filesOfResults(batch).map((file) => ({ ...file, mayBeAbsent: batch.status !== 'completed' })),
  auth,
  base: (facts) => (typeof controlPlane === 'string' ? controlPlane : controlPlane(facts)),
  async create(asked, use) {
    const body = jobOf(asked, use);
    const answer = documentOf(await use.ask(jsonRequest('POST', jobOfId(use), body, auth)));
    const id = idOf(answer);
    return presented(
      {
        ...body,
        jobArn: `job/${id}`,
        status: 'Submitted',
        submitTime: new Date(use.nowMs).toISOString(),
      },
      asked,
    );
  },
  retrieve: async (id, use) =>
    presented(documentOf(await use.ask(jsonRequest('GET', jobOfId(use, id), undefined, auth)))),
  async cancel(id, use) {
    await use.ask(jsonRequest('POST', `${jobOfId(use, id)}/stop`, undefined, auth));
    return presented(
      documentOf(await use.ask(jsonRequest('GET', jobOfId(use, id), undefined, auth))),
    );
  },
  async list(query, use) {
    const size = pageSize(query);
    const after = query.get('after');
    let token: string | undefined;
    let isBehind = after === null;
    const found: JsonObject[] = [];
    for (let page = 0; page < pagesMax; page++) {
      const url = new URL(`${use.base}/model-invocation-jobs`);
      url.searchParams.set('maxResults', String(isBehind ? size : 100));
      url.searchParams.set('sortBy', 'CreationTime');
      url.searchParams.set('sortOrder', 'Descending');
      if (token !== undefined) url.searchParams.set('nextToken', token);
      const answer = documentOf(await use.ask(jsonRequest('GET', url.href, undefined, auth)));
      for (const one of arrayOf(answer.invocationJobSummaries) ?? []) {
        const batch = presented(objectOf(one) ?? {});
        if (isBehind) found.push(batch);
        else isBehind = batch.id === after;
      }
      token = stringOf(answer.nextToken);
      if (token === undefined || found.length >= size) break;
    }
    return batchPage(found.slice(0, size), found.length > size || token !== undefined);
  },
};

const pagesMax = 20;

function jobOfId({ base }: BatchUse, id?: string): string {
  const at = `${base}/model-invocation-job`;
  return id === undefined ? at : `${at}/${checkedId(id, idPattern)}`;
}

function jobOf(asked: AskedBatch, use: BatchUse): JsonObject {
  const {
    role_arn,
    roleArn = role_arn,
    job_name,
    jobName = job_name,
    output_data_config,
    outputDataConfig: output = output_data_config,
    model: _model,
    modelInvocationType = asked.endpoint === '/v1/embeddings' ? 'InvokeModel' : 'Converse',
    timeout_duration_in_hours,
    timeoutDurationInHours = timeout_duration_in_hours,
    ...rest
  } = asked.options;
  const input = placeOfBucket(use.facts, neededInput(asked), 'input_file_id');
  const given = stringOf(output) ?? stringOf(objectOf(objectOf(output)?.s3OutputDataConfig)?.s3Uri);
  const folder = input.key.slice(0, input.key.lastIndexOf('/') + 1);
  const s3Uri =
    given === undefined ? `s3://${input.bucket}/${folder}` : folderUri(use.facts, given);
  const key = stringOf(use.facts.setting('amz-server-side-encryption-aws-kms-key-id'));
  const known = objectOf(objectOf(output)?.s3OutputDataConfig) ?? {};
  const hours = numberOf(timeoutDurationInHours);
  return {
    ...rest,
    modelId: neededModel(asked),
    jobName: stringOf(jobName) ?? `batch-${use.nowMs}`,
    roleArn: needed(
      roleArn ?? use.facts.setting('aws-bedrock-role-arn'),
      'role_arn',
      'the ARN of the service role that may read and write the bucket',
    ),
    modelInvocationType,
    inputDataConfig: {
      s3InputDataConfig: { s3Uri: `s3://${input.bucket}/${input.key}`, s3InputFormat: 'JSONL' },
    },
    outputDataConfig: {
      s3OutputDataConfig: {
        ...(key === undefined ? {} : { s3EncryptionKeyId: key }),
        ...known,
        s3Uri,
      },
    },
    ...(hours === undefined ? {} : { timeoutDurationInHours: hours }),
  };
}

/** @throws GatewayError for no place in a bucket, and for another bucket than an admin has set */
function placeOfBucket(facts: CallFacts, id: string, field: string) {
  const place = placeOr400(id, field);
  const own = facts
    .setting('aws-s3-bucket')
    ?.replace(/^s3:\/\//, '')
    .replace(/\/.*$/s, '');
  if (facts.accountIsSettled === true && own !== place.bucket) throw outside(field);
  return place;
}

function folderUri(facts: CallFacts, uri: string): string {
  const field = 'output_data_config';
  const { bucket, key } = placeOfBucket(facts, uri.endsWith('/') ? `${uri}x` : `${uri}/x`, field);
  return `s3://${bucket}/${key.slice(0, -1)}`;
}

function placeOr400(id: string, field: string) {
  try {
    return placeOf('s3', id);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    throw new GatewayError('request.invalid_field', {
      field: `body.${field}`,
      message: `body.${field} must be a place in a bucket, s3://bucket/name, or the id of a file there.`,
    });
  }
}

function outside(field: string): GatewayError {
  return new GatewayError('request.invalid_field', {
    field: `body.${field}`,
    message: `body.${field} must be in the bucket that is set for this provider.`,
  });
}

function idOf({ jobArn }: JsonObject): string {
  const id = stringOf(jobArn)?.split('/').at(-1) ?? '';
  if (idPattern.test(id)) return id;
  throw new GatewayError('upstream.invalid_response', {
    message: 'The provider gave no ARN of a job.',
  });
}

function presented(job: JsonObject, asked?: AskedBatch): JsonObject {
  const id = idOf(job);
  const { status, providerStatus } = statusIn(states, job.status, 'in_progress');
  const input = stringOf(objectOf(objectOf(job.inputDataConfig)?.s3InputDataConfig)?.s3Uri);
  const output = stringOf(objectOf(objectOf(job.outputDataConfig)?.s3OutputDataConfig)?.s3Uri);
  const total = numberOf(job.totalRecordCount);
  const failed = numberOf(job.errorRecordCount);
  const done = numberOf(job.successRecordCount);
  return batchObject({
    id,
    status,
    providerStatus,
    endpoint: asked?.endpoint,
    model: stringOf(job.modelId),
    inputFileId: input === undefined ? undefined : idOfUri(input),
    outputFileId: hasOutput(status) ? outputId(input, output, id) : undefined,
    metadata: asked?.metadata,
    total,
    completed: done,
    failed,
    fault: status === 'failed' ? stringOf(job.message) : undefined,
    createdAt: secondsOrNone(job.submitTime),
    inProgressAt: status === 'in_progress' ? secondsOrNone(job.lastModifiedTime) : undefined,
    expiresAt: secondsOrNone(job.jobExpirationTime),
    endedAt: secondsOrNone(job.endTime),
  });
}

const hasOutput = (status: BatchStatus) =>
  status === 'completed' || status === 'cancelled' || status === 'expired';

function idOfUri(uri: string): string | undefined {
  try {
    return objectId('s3', placeOf('s3', uri));
  } catch {
    // A folder, which is no file.
    return undefined;
  }
}

/** Beside the input's name, in a folder of the job's. */
function outputId(input: string | undefined, output: string | undefined, id: string) {
  if (input === undefined || output === undefined) return undefined;
  const folder = output.endsWith('/') ? output : `${output}/`;
  return idOfUri(`${folder}${id}/${input.slice(input.lastIndexOf('/') + 1)}.out`);
}
