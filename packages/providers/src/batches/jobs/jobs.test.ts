import type { JsonObject } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import { describe, expect, it } from 'vitest';
import { findProvider } from '../../catalog.ts';
import { batchRowMapper } from '../batch-rows.ts';
import type { AskedBatch, BatchUse, VendorBatches } from './vendor-batches.ts';
import { vendorBatchesOf } from './vendors.ts';

const here = new URL('.', import.meta.url).pathname;
const settings: Record<string, string> = {
  'aws-region': 'us-east-1',
  'aws-s3-bucket': 'our-bucket',
  'vertex-project-id': 'p',
  'vertex-region': 'us-central1',
  'vertex-storage-bucket-name': 'our-bucket',
};

/** Asks a vendor that gives these answers, one after the other; `sent` is what it was asked. */
function vendor(id: string, answers: readonly object[], over: object = {}) {
  const sent: object[] = [];
  const use: BatchUse = {
    facts: { model: '', stream: false, setting: (name) => settings[name], ...over },
    nowMs: 1_795_000_000_000,
    base: 'https://vendor.test',
    async ask({ method, url, body, auth }) {
      const pieces: Buffer[] = [];
      if (body !== undefined)
        if (Buffer.isBuffer(body)) pieces.push(body);
        else for await (const piece of body) pieces.push(piece);
      const text = Buffer.concat(pieces).toString();
      sent.push({ method, url, ...(auth && { auth }), ...(text && { body: JSON.parse(text) }) });
      const answer = answers[sent.length - 1];
      if (answer === undefined) throw new Error('asked too often');
      return { status: 200, headers: {}, bytes: Buffer.from(JSON.stringify(answer)) };
    },
  };
  return { batches: vendorBatchesOf(id) as VendorBatches, use, sent };
}

async function* one(lines: readonly string[]) {
  for (const line of lines) yield Buffer.from(line);
}

const asked = (over: Partial<AskedBatch> = {}, provider = 'anthropic'): AskedBatch => ({
  inputFileId: undefined,
  endpoint: '/v1/chat/completions',
  completionWindow: '24h',
  metadata: { night: 'first' },
  model: undefined,
  options: {},
  lines: undefined,
  row: (line, number) => batchRowMapper(provider)?.(line, number) ?? line,
  ...over,
});

const line = (id: string, model = 'claude-haiku-4-5') =>
  JSON.stringify({
    custom_id: id,
    method: 'POST',
    url: '/v1/chat/completions',
    body: { model, messages: [{ role: 'user', content: 'Hi' }], max_tokens: 5 },
  });

const message = (over: object = {}) => ({
  id: 'msgbatch_1',
  type: 'message_batch',
  processing_status: 'in_progress',
  request_counts: { processing: 2, succeeded: 0, errored: 0, canceled: 0, expired: 0 },
  created_at: '2026-11-23T10:00:00.5Z',
  expires_at: '2026-11-24T10:00:00Z',
  ended_at: null,
  cancel_initiated_at: null,
  results_url: null,
  ...over,
});
const arn = 'arn:aws:bedrock:us-east-1:123456789012:model-invocation-job/abcdefghij12';
const invocation = (over: object = {}) => ({
  jobArn: arn,
  modelId: 'amazon.nova-lite-v1:0',
  status: 'InProgress',
  submitTime: '2026-11-23T10:00:00Z',
  lastModifiedTime: '2026-11-23T10:05:00Z',
  jobExpirationTime: '2026-11-24T10:00:00Z',
  inputDataConfig: { s3InputDataConfig: { s3Uri: 's3://our-bucket/in/lines.jsonl' } },
  outputDataConfig: { s3OutputDataConfig: { s3Uri: 's3://our-bucket/in/' } },
  ...over,
});
const prediction = (over: object = {}) => ({
  name: 'projects/1/locations/us-central1/batchPredictionJobs/4711',
  displayName: 'x',
  model: 'publishers/google/models/gemini-2.5-flash',
  state: 'JOB_STATE_RUNNING',
  inputConfig: { instancesFormat: 'jsonl', gcsSource: { uris: ['gs://our-bucket/in/l.jsonl'] } },
  createTime: '2026-11-23T10:00:00Z',
  startTime: '2026-11-23T10:01:00Z',
  ...over,
});
const mistral = (over: object = {}) => ({
  id: 'b1',
  object: 'batch',
  input_files: ['f1'],
  endpoint: '/v1/chat/completions',
  model: 'mistral-small-latest',
  output_file: null,
  error_file: null,
  errors: [],
  status: 'QUEUED',
  created_at: 1_795_000_000,
  total_requests: 2,
  completed_requests: 0,
  succeeded_requests: 0,
  failed_requests: 0,
  ...over,
});
const embedding = (over: object = {}) => ({
  job_id: 'j1',
  status: 'processing',
  created_at: '2026-11-23T10:00:00Z',
  input_dataset_id: 'ds-1',
  model: 'embed-english-v3.0',
  truncate: 'END',
  ...over,
});

const s3 = encodeURIComponent('s3://our-bucket/in/lines.jsonl');
const gs = 'gs://our-bucket/in/l.jsonl';
type Does = (batches: VendorBatches, use: BatchUse) => Promise<JsonObject> | undefined;
const create =
  (of: AskedBatch): Does =>
  (batches, use) =>
    batches.create?.(of, use);
const retrieve =
  (id: string): Does =>
  (batches, use) =>
    batches.retrieve?.(id, use);
const cancel =
  (id: string): Does =>
  (batches, use) =>
    batches.cancel?.(id, use);
const list =
  (query: string): Does =>
  (batches, use) =>
    batches.list?.(new URLSearchParams(query), use);

const cases: readonly [provider: string, name: string, answers: object[], does: Does][] = [
  ['anthropic', 'create', [message()], create(asked({ lines: one([line('a'), '', line('b')]) }))],
  [
    'anthropic',
    'ended',
    [
      message({
        processing_status: 'ended',
        ended_at: '2026-11-23T11:00:00Z',
        request_counts: { processing: 0, succeeded: 1, errored: 1, canceled: 0, expired: 0 },
      }),
    ],
    retrieve('msgbatch_1'),
  ],
  [
    'anthropic',
    'canceling',
    [message({ processing_status: 'canceling', cancel_initiated_at: '2026-11-23T10:30:00Z' })],
    cancel('msgbatch_1'),
  ],
  [
    'anthropic',
    'list',
    [{ data: [message()], has_more: true, first_id: 'x', last_id: 'y' }],
    list('limit=1&after=msgbatch_0'),
  ],
  [
    'bedrock',
    'create',
    [{ jobArn: arn }],
    create(
      asked({
        inputFileId: s3,
        model: 'amazon.nova-lite-v1:0',
        options: {
          role_arn: 'arn:aws:iam::1:role/batch',
          job_name: 'night',
          tags: [{ key: 'a', value: 'b' }],
        },
      }),
    ),
  ],
  [
    'bedrock',
    'create-embeddings',
    [{ jobArn: arn }],
    create(
      asked({
        inputFileId: s3,
        endpoint: '/v1/embeddings',
        model: 'amazon.titan-embed-text-v2:0',
        options: {
          role_arn: 'arn:aws:iam::1:role/batch',
          output_data_config: 's3://our-bucket/out',
        },
      }),
    ),
  ],
  [
    'bedrock',
    'completed',
    [
      invocation({
        status: 'PartiallyCompleted',
        endTime: '2026-11-23T11:00:00Z',
        totalRecordCount: 100,
        successRecordCount: 98,
        errorRecordCount: 2,
      }),
    ],
    retrieve('abcdefghij12'),
  ],
  [
    'bedrock',
    'failed',
    [invocation({ status: 'Failed', message: 'less than 100 records' })],
    retrieve('abcdefghij12'),
  ],
  ['bedrock', 'cancel', [{}, invocation({ status: 'Stopping' })], cancel('abcdefghij12')],
  [
    'bedrock',
    'list',
    [{ invocationJobSummaries: [invocation()], nextToken: 't' }],
    list('limit=1'),
  ],
  [
    'vertex-ai',
    'create',
    [prediction({ state: 'JOB_STATE_PENDING' })],
    create(asked({ inputFileId: gs, model: 'gemini-2.5-flash' })),
  ],
  [
    'vertex-ai',
    'succeeded',
    [
      prediction({
        state: 'JOB_STATE_SUCCEEDED',
        endTime: '2026-11-23T11:00:00Z',
        outputInfo: { gcsOutputDirectory: 'gs://our-bucket/in/prediction-x' },
        completionStats: { successfulCount: '9', failedCount: '1', incompleteCount: '-1' },
      }),
    ],
    retrieve('4711'),
  ],
  ['vertex-ai', 'cancel', [{}, prediction({ state: 'JOB_STATE_CANCELLING' })], cancel('4711')],
  ['vertex-ai', 'list', [{ batchPredictionJobs: [prediction()] }], list('')],
  [
    'mistral-ai',
    'create',
    [mistral()],
    create(asked({ inputFileId: 'f1', model: 'mistral-small-latest' })),
  ],
  [
    'mistral-ai',
    'success',
    [
      mistral({
        status: 'SUCCESS',
        output_file: 'f2',
        started_at: 1_795_000_001,
        completed_at: 1_795_000_002,
        succeeded_requests: 2,
      }),
    ],
    retrieve('b1'),
  ],
  ['mistral-ai', 'list', [{ object: 'list', data: [mistral()], total: 3 }], list('limit=1')],
  [
    'cohere',
    'create',
    [{ job_id: 'j1' }],
    create(asked({ inputFileId: 'ds-1', endpoint: '/v1/embeddings', model: 'embed-english-v3.0' })),
  ],
  [
    'cohere',
    'complete',
    [embedding({ status: 'complete', output_dataset_id: 'ds-2' })],
    retrieve('j1'),
  ],
  ['cohere', 'cancel', [{}, embedding({ status: 'cancelling' })], cancel('j1')],
  [
    'cohere',
    'list',
    [{ embed_jobs: [embedding(), embedding({ job_id: 'j2' })] }],
    list('limit=1&after=j1'),
  ],
];

describe('batches of vendors', () => {
  it.each(cases)('are asked for and told in one face: %s, %s', async (id, name, answers, does) => {
    const { batches, use, sent } = vendor(id, answers);
    const told = await does(batches, use);
    expect(sent).toHaveLength(answers.length);
    const golden = `${here}fixtures/golden/${id}.${name}.json`;
    await expect(`${JSON.stringify({ sent, told }, null, 2)}\n`).toMatchFileSnapshot(golden);
  });

  it.each([
    [
      'bedrock',
      'status',
      invocation,
      {
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
      },
      'abcdefghij12',
    ],
    [
      'vertex-ai',
      'state',
      prediction,
      {
        JOB_STATE_UNSPECIFIED: 'validating',
        JOB_STATE_PENDING: 'validating',
        JOB_STATE_QUEUED: 'validating',
        JOB_STATE_PAUSED: 'validating',
        JOB_STATE_RUNNING: 'in_progress',
        JOB_STATE_UPDATING: 'in_progress',
        JOB_STATE_SUCCEEDED: 'completed',
        JOB_STATE_PARTIALLY_SUCCEEDED: 'completed',
        JOB_STATE_CANCELLING: 'cancelling',
        JOB_STATE_CANCELLED: 'cancelled',
        JOB_STATE_EXPIRED: 'expired',
        JOB_STATE_FAILED: 'failed',
      },
      '4711',
    ],
    [
      'mistral-ai',
      'status',
      mistral,
      {
        QUEUED: 'validating',
        RUNNING: 'in_progress',
        SUCCESS: 'completed',
        FAILED: 'failed',
        TIMEOUT_EXCEEDED: 'expired',
        CANCELLATION_REQUESTED: 'cancelling',
        CANCELLED: 'cancelled',
      },
      'b1',
    ],
    [
      'cohere',
      'status',
      embedding,
      {
        processing: 'in_progress',
        complete: 'completed',
        cancelling: 'cancelling',
        cancelled: 'cancelled',
        failed: 'failed',
      },
      'j1',
    ],
    [
      'anthropic',
      'processing_status',
      message,
      { in_progress: 'in_progress', canceling: 'cancelling', ended: 'completed' },
      'msgbatch_1',
    ],
  ] as const)('states of %s', async (id, member, make, states, batch) => {
    const lookedAt = (told: string | undefined) => {
      const { batches, use } = vendor(id, [make({ [member]: told })]);
      return batches.retrieve?.(batch, use);
    };
    for (const [theirs, ours] of Object.entries(states)) {
      const looked = await lookedAt(theirs);
      expect(looked, theirs).toMatchObject({ status: ours });
      expect(looked, theirs).not.toHaveProperty('provider_status');
    }
    // One of tomorrow is followed, and told.
    for (const word of ['SomethingElse', 'constructor'])
      expect(await lookedAt(word)).toMatchObject({ status: 'in_progress', provider_status: word });
    expect(await lookedAt(undefined)).toMatchObject({ status: 'in_progress' });
  });

  it.each([
    ['bedrock', create(asked({ inputFileId: s3, model: 'm' })), 'body.role_arn'],
    ['bedrock', create(asked({ inputFileId: s3, options: { role_arn: 'r' } })), 'body.model'],
    [
      'bedrock',
      create(asked({ inputFileId: 'file-1', model: 'm', options: { role_arn: 'r' } })),
      'body.input_file_id',
    ],
    [
      'bedrock',
      create(
        asked({
          inputFileId: s3,
          model: 'm',
          options: { role_arn: 'r', output_data_config: 's3://others/x' },
        }),
      ),
      'body.output_data_config',
    ],
    [
      'bedrock',
      create(
        asked({ inputFileId: 's3://others/in.jsonl', model: 'm', options: { role_arn: 'r' } }),
      ),
      'body.input_file_id',
    ],
    [
      'vertex-ai',
      create(asked({ inputFileId: 'gs://others/in.jsonl', model: 'm' })),
      'body.input_file_id',
    ],
    [
      'vertex-ai',
      create(asked({ inputFileId: 'http://169.254.169.254/x', model: 'm' })),
      'body.input_file_id',
    ],
    ['vertex-ai', retrieve('../endpoints'), 'path.batch_id'],
    ['bedrock', retrieve(arn), 'path.batch_id'],
    ['anthropic', retrieve('x/../../y'), 'path.batch_id'],
    ['anthropic', create(asked()), 'body.input_file_id'],
    ['anthropic', create(asked({ lines: one([]) })), 'body.input_file_id'],
    ['anthropic', create(asked({ lines: one([line('a'), line('no id')]) })), 'line 2.custom_id'],
    ['mistral-ai', create(asked({ inputFileId: 'f1' })), 'body.model'],
    [
      'mistral-ai',
      create(asked({ inputFileId: 'f1', model: 'm', options: { requests: [] } })),
      'body.requests',
    ],
    ['cohere', create(asked({ inputFileId: 'ds', model: 'm' })), 'body.endpoint'],
    ['cohere', list('limit=0'), 'query.limit'],
  ] as const)(
    'of %s refuse what the vendor would, or must not be asked (%#)',
    async (id, does, field) => {
      // An admin's credential: nothing but the admin's bucket is opened with it.
      const { batches, use, sent } = vendor(id, [{}, {}], { accountIsSettled: true });
      const refused = await does(batches, use)?.then(
        () => undefined,
        (error: unknown) => error,
      );
      expect(refused).toBeInstanceOf(GatewayError);
      expect(refused).toMatchObject({ field });
      expect(sent).toEqual([]);
    },
  );

  it('have their rows where the vendor writes them', () => {
    const of = (id: string, batch: JsonObject) => {
      const { batches, use } = vendor(id, []);
      return batches.output(batch, use);
    };
    expect(of('openai', { output_file_id: 'f1', error_file_id: 'f2' })).toEqual([
      { kind: 'file', id: 'f1' },
      { kind: 'file', id: 'f2' },
    ]);
    expect(of('openai', { output_file_id: null, error_file_id: 'f2' })).toHaveLength(1);
    expect(of('anthropic', { id: 'msgbatch_1' })).toEqual([
      {
        kind: 'request',
        request: { method: 'GET', url: 'https://vendor.test/messages/batches/msgbatch_1/results' },
      },
    ]);
  });

  it('are had by whom the catalogue says so, and by nobody else', () => {
    for (const id of [
      'openai',
      'azure-openai',
      'azure-ai',
      'bedrock',
      'vertex-ai',
      'anthropic',
      'claude-platform-aws',
      'cohere',
      'mistral-ai',
      'groq',
      'demo',
    ]) {
      expect(vendorBatchesOf(id), id).toBeDefined();
      expect(findProvider(id)?.keeps?.batches, id).toBeDefined();
    }
    expect(vendorBatchesOf('deepseek')).toBeUndefined();
  });
});
