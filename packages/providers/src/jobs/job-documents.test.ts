import type { ObjectFamily, ObjectOperationId } from '@sluice/contracts';
import { describe, expect, it } from 'vitest';
import { findProvider } from '../catalog.ts';
import type { JsonObject } from '../contract.ts';
import type { JobAnswer, JobRequest } from '../vendor-jobs.ts';
import { vendorJobsAt } from './job-documents.ts';

const settings: Readonly<Record<string, string>> = {
  'aws-region': 'eu-west-1',
  'aws-s3-bucket': 'training',
  'vertex-project-id': 'acme',
  'vertex-storage-bucket-name': 'training',
  'vertex-region': 'europe-west4',
  'fireworks-account-id': 'acme',
  'azure-resource-name': 'acme',
  'azure-api-version': '2026-05-01',
};

interface Asked {
  readonly provider: string;
  readonly of: ObjectFamily;
  readonly operation: ObjectOperationId;
  readonly model?: string;
  readonly id?: string;
  readonly body?: JsonObject;
  readonly query?: string;
  readonly settings?: Readonly<Record<string, string>>;
}

/** What a vendor is asked for an operation, and what its caller gets, where the vendor answers so. */
async function run(asked: Asked, ...answers: JsonObject[]) {
  const entry = findProvider(asked.provider);
  const jobs = entry && vendorJobsAt(entry, asked.of);
  const work = jobs?.operations[asked.operation];
  if (work === undefined) throw new Error(`${asked.provider} has no ${asked.operation}`);
  const facts = {
    model: asked.model ?? '',
    stream: false,
    setting: (name: string) => ({ ...settings, ...asked.settings })[name],
    accountIsSettled: true,
  };
  const requests: JobRequest[] = [];
  const rest = [...answers];
  const answer: JobAnswer = await work(
    {
      id: asked.id ?? '',
      body: asked.body ?? {},
      query: new URLSearchParams(asked.query ?? ''),
      name: '11111111-2222-3333-4444-555555555555',
    },
    {
      facts,
      nowMs: 1_795_000_000_000,
      base: '',
      hasCustomHost: false,
      ask(request) {
        requests.push(request);
        const next = rest.shift();
        if (next === undefined) throw new Error('asked once too often');
        return Promise.resolve(next);
      },
    },
  );
  return { base: jobs?.base?.(facts), requests, answer };
}

const documentOf = (answer: JobAnswer): JsonObject => {
  if (!('document' in answer)) throw new Error('no document');
  return answer.document;
};

const tuning = { of: 'fine-tuning jobs' } as const;
const body = {
  model: 'base',
  training_file: 's3%3A%2F%2Ftraining%2Fset%2Ftrain.jsonl',
  validation_file: 's3%3A%2F%2Ftraining%2Fset%2Fval.jsonl',
  suffix: 'support',
  role_arn: 'arn:aws:iam::123456789012:role/tuner',
  method: {
    type: 'supervised',
    supervised: {
      hyperparameters: { n_epochs: 3, batch_size: 'auto', learning_rate_multiplier: 0.5 },
    },
  },
};
const inGoogle = {
  ...body,
  training_file: 'gs%3A%2F%2Ftraining%2Ftrain.jsonl',
  validation_file: 'gs%3A%2F%2Ftraining%2Fval.jsonl',
};
const plain = { ...body, training_file: 'train', validation_file: 'val' };
const arn = 'arn:aws:bedrock:eu-west-1:123456789012:model-customization-job/amazon.nova-lite/abc';
const bedrockId = `ftjob_${Buffer.from(arn).toString('base64url')}`;
const bedrockJob = {
  jobArn: arn,
  jobName: 'support-1',
  baseModelArn: 'arn:aws:bedrock:eu-west-1::foundation-model/amazon.nova-lite-v1:0:300k',
  customModelName: 'support',
  outputModelArn: 'arn:aws:bedrock:eu-west-1:123456789012:custom-model/amazon.nova-lite/xyz',
  creationTime: '2026-11-20T10:00:00Z',
  endTime: '2026-11-20T12:30:00Z',
  status: 'Completed',
  hyperParameters: { epochCount: '3', batchSize: '1', learningRate: '0.00001' },
  trainingDataConfig: { s3Uri: 's3://training/set/train.jsonl' },
  validationDataConfig: { validators: [{ s3Uri: 's3://training/set/val.jsonl' }] },
};
const vertexJob = {
  name: 'projects/acme/locations/europe-west4/tuningJobs/4242',
  state: 'JOB_STATE_SUCCEEDED',
  baseModel: 'gemini-2.5-flash',
  tunedModelDisplayName: 'support',
  createTime: '2026-11-20T10:00:00.5Z',
  endTime: '2026-11-20T12:30:00Z',
  tunedModel: {
    model: 'projects/1/locations/europe-west4/models/7@1',
    endpoint: 'projects/1/locations/europe-west4/endpoints/9',
  },
  tuningDataStats: { supervisedTuningDataStats: { totalBillableTokenCount: '129600' } },
  supervisedTuningSpec: {
    trainingDatasetUri: 'gs://training/train.jsonl',
    hyperParameters: {
      epochCount: '3',
      learningRateMultiplier: 0.5,
      adapterSize: 'ADAPTER_SIZE_FOUR',
    },
  },
};
const fireworksJob = {
  name: 'accounts/acme/supervisedFineTuningJobs/job1',
  displayName: 'support',
  baseModel: 'accounts/fireworks/models/qwen3-8b',
  dataset: 'accounts/acme/datasets/train',
  evaluationDataset: 'accounts/acme/datasets/val',
  outputModel: 'accounts/acme/models/support',
  state: 'JOB_STATE_COMPLETED',
  createTime: '2026-11-20T10:00:00Z',
  completedTime: '2026-11-20T12:30:00Z',
  epochs: 3,
  learningRate: 0.5,
};
const mistralJob = {
  id: 'b18d8d81-fd7b-4764-a31e-475cb1f36591',
  object: 'job',
  model: 'open-mistral-7b',
  status: 'SUCCESS',
  created_at: 1_795_000_000,
  modified_at: 1_795_009_000,
  training_files: ['train'],
  validation_files: [],
  fine_tuned_model: 'ft:open-mistral-7b:acme:20261120:b18d',
  trained_tokens: 131_072,
  hyperparameters: { training_steps: 10, learning_rate: 0.0001 },
  events: [{ name: 'status-updated', data: { status: 'SUCCESS' }, created_at: 1_795_009_000 }],
  checkpoints: [
    {
      metrics: { train_loss: 0.8, valid_loss: 0.9, valid_mean_token_accuracy: 1.6 },
      step_number: 10,
      created_at: 1_795_008_000,
    },
  ],
};
const veoName =
  'projects/acme/locations/europe-west4/publishers/google/models/veo-3.0-generate-001/operations/op-1';
const veoId = `video_${Buffer.from('veo-3.0-generate-001\n8\n1920x1080\n1795000000\nop-1').toString('base64url')}`;
const falId = `video_${Buffer.from('fal-ai/kling-video/v2/master/text-to-video\n5\n1280x720\n1795000000\nreq-1').toString('base64url')}`;
const clip = { prompt: 'A cat', seconds: '8', size: '1920x1080' };

const cases: [string, Asked, ...JsonObject[]][] = [
  [
    'bedrock-create',
    {
      ...tuning,
      provider: 'bedrock',
      operation: 'createFinetune',
      model: 'amazon.nova-lite-v1:0:300k',
      body,
    },
    { jobArn: arn },
  ],
  [
    'bedrock-retrieve',
    { ...tuning, provider: 'bedrock', operation: 'retrieveFinetune', id: bedrockId },
    bedrockJob,
  ],
  [
    'bedrock-list',
    { ...tuning, provider: 'bedrock', operation: 'listFinetunes', query: 'limit=2&after=tok' },
    { modelCustomizationJobSummaries: [bedrockJob], nextToken: 'next' },
  ],
  [
    'bedrock-cancel',
    { ...tuning, provider: 'bedrock', operation: 'cancelFinetune', id: bedrockId },
    {},
    { ...bedrockJob, status: 'Stopping', outputModelArn: '' },
  ],
  [
    'vertex-create',
    {
      ...tuning,
      provider: 'vertex-ai',
      operation: 'createFinetune',
      model: 'gemini-2.5-flash',
      body: inGoogle,
    },
    { ...vertexJob, state: 'JOB_STATE_PENDING' },
  ],
  [
    'vertex-retrieve',
    { ...tuning, provider: 'vertex-ai', operation: 'retrieveFinetune', id: '4242' },
    vertexJob,
  ],
  [
    'vertex-list',
    { ...tuning, provider: 'vertex-ai', operation: 'listFinetunes' },
    { tuningJobs: [vertexJob] },
  ],
  [
    'vertex-cancel',
    { ...tuning, provider: 'vertex-ai', operation: 'cancelFinetune', id: '4242' },
    {},
    { ...vertexJob, state: 'JOB_STATE_CANCELLED' },
  ],
  [
    'fireworks-create',
    {
      ...tuning,
      provider: 'fireworks-ai',
      operation: 'createFinetune',
      model: 'qwen3-8b',
      body: plain,
    },
    { ...fireworksJob, state: 'JOB_STATE_CREATING' },
  ],
  [
    'fireworks-retrieve',
    { ...tuning, provider: 'fireworks-ai', operation: 'retrieveFinetune', id: 'job1' },
    fireworksJob,
  ],
  [
    'fireworks-list',
    { ...tuning, provider: 'fireworks-ai', operation: 'listFinetunes' },
    { supervisedFineTuningJobs: [fireworksJob], nextPageToken: 'p2' },
  ],
  [
    'fireworks-cancel',
    { ...tuning, provider: 'fireworks-ai', operation: 'cancelFinetune', id: 'job1' },
    { ...fireworksJob, state: 'JOB_STATE_RUNNING' },
    {},
  ],
  [
    'mistral-create',
    {
      ...tuning,
      provider: 'mistral-ai',
      operation: 'createFinetune',
      model: 'open-mistral-7b',
      body: plain,
    },
    { ...mistralJob, status: 'QUEUED' },
  ],
  [
    'mistral-retrieve',
    { ...tuning, provider: 'mistral-ai', operation: 'retrieveFinetune', id: mistralJob.id },
    mistralJob,
  ],
  [
    'mistral-list',
    { ...tuning, provider: 'mistral-ai', operation: 'listFinetunes', query: 'limit=1' },
    { data: [mistralJob], total: 2 },
  ],
  [
    'mistral-cancel',
    { ...tuning, provider: 'mistral-ai', operation: 'cancelFinetune', id: mistralJob.id },
    { ...mistralJob, status: 'CANCELLATION_REQUESTED' },
  ],
  [
    'mistral-events',
    { ...tuning, provider: 'mistral-ai', operation: 'listFinetuneEvents', id: mistralJob.id },
    mistralJob,
  ],
  [
    'mistral-checkpoints',
    { ...tuning, provider: 'mistral-ai', operation: 'listFinetuneCheckpoints', id: mistralJob.id },
    mistralJob,
  ],
  [
    'azure-create',
    {
      ...tuning,
      provider: 'azure-openai',
      operation: 'createFinetune',
      model: 'gpt-4.1-2025-04-14',
      body: { ...plain, model: 'gpt-4.1-2025-04-14' },
    },
    { id: 'ftjob-1', object: 'fine_tuning.job' },
  ],
  [
    'veo-create',
    {
      of: 'videos',
      provider: 'vertex-ai',
      operation: 'createVideo',
      model: 'veo-3.0-generate-001',
      body: { ...clip, generateAudio: false },
    },
    { name: veoName },
  ],
  [
    'veo-going',
    { of: 'videos', provider: 'vertex-ai', operation: 'getVideo', id: veoId },
    { name: veoName },
  ],
  [
    'veo-done',
    { of: 'videos', provider: 'vertex-ai', operation: 'getVideo', id: veoId },
    {
      name: veoName,
      done: true,
      response: { videos: [{ bytesBase64Encoded: 'bXA0', mimeType: 'video/mp4' }] },
    },
  ],
  [
    'veo-filtered',
    { of: 'videos', provider: 'vertex-ai', operation: 'getVideo', id: veoId },
    {
      name: veoName,
      done: true,
      response: { raiMediaFilteredCount: 1, raiMediaFilteredReasons: ['unfit'] },
    },
  ],
  [
    'together-create',
    {
      of: 'videos',
      provider: 'together-ai',
      operation: 'createVideo',
      model: 'vidu/vidu-q1',
      body: clip,
    },
    {
      id: 'v1',
      model: 'vidu/vidu-q1',
      status: 'in_progress',
      created_at: 1_795_000_000,
      size: '1920x1080',
      seconds: '8',
    },
  ],
  [
    'together-done',
    { of: 'videos', provider: 'together-ai', operation: 'getVideo', id: 'v1' },
    {
      id: 'v1',
      model: 'vidu/vidu-q1',
      status: 'completed',
      created_at: 1_795_000_000,
      completed_at: 1_795_000_060,
      size: '1920x1080',
      seconds: '8',
      outputs: { cost: 1, video_url: 'https://cdn.example/v1.mp4' },
    },
  ],
  [
    'together-content',
    { of: 'videos', provider: 'together-ai', operation: 'getVideoContent', id: 'v1' },
    { outputs: { video_url: 'https://cdn.example/v1.mp4' } },
  ],
  [
    'fal-create',
    {
      of: 'videos',
      provider: 'fal-ai',
      operation: 'createVideo',
      model: 'fal-ai/kling-video/v2/master/text-to-video',
      body: { prompt: 'A cat', seconds: '5', size: '1280x720', negative_prompt: 'dogs' },
    },
    { request_id: 'req-1', status: 'IN_QUEUE' },
  ],
  [
    'fal-going',
    { of: 'videos', provider: 'fal-ai', operation: 'getVideo', id: falId },
    { status: 'IN_PROGRESS' },
  ],
  [
    'fal-done',
    { of: 'videos', provider: 'fal-ai', operation: 'getVideo', id: falId },
    { status: 'COMPLETED' },
    { video: { url: 'https://v3.fal.media/files/a.mp4' } },
  ],
  [
    'fal-content',
    { of: 'videos', provider: 'fal-ai', operation: 'getVideoContent', id: falId },
    { video: { url: 'https://v3.fal.media/files/a.mp4' } },
  ],
  [
    'fal-delete',
    { of: 'videos', provider: 'fal-ai', operation: 'deleteVideo', id: falId },
    { status: 'CANCELLATION_REQUESTED' },
  ],
];

describe('jobs in a vendor’s words', () => {
  it.each(cases)('%s', async (name, asked, ...answers) => {
    const told = await run(asked, ...answers);
    await expect(`${JSON.stringify(told, null, 2)}\n`).toMatchFileSnapshot(
      `fixtures/${name}.golden.json`,
    );
  });

  it.each([
    [
      'bedrock',
      'Submitted queued, InProgress running, Completed succeeded, Failed failed, Stopping cancelled, Stopped cancelled',
      (status: string) => ({ ...bedrockJob, status }),
      bedrockId,
    ],
    [
      'vertex-ai',
      'QUEUED queued, PENDING queued, PAUSED queued, RUNNING running, SUCCEEDED succeeded, FAILED failed, CANCELLING cancelled, CANCELLED cancelled, EXPIRED failed',
      (state: string) => ({ ...vertexJob, state: `JOB_STATE_${state}` }),
      '4242',
    ],
    [
      'fireworks-ai',
      'VALIDATING validating_files, CREATING running, RUNNING running, WRITING_RESULTS running, EVALUATION running, COMPLETED succeeded, FAILED failed, CANCELLED cancelled, DELETING cancelled, UNSPECIFIED queued',
      (state: string) => ({ ...fireworksJob, state: `JOB_STATE_${state}` }),
      'job1',
    ],
    [
      'mistral-ai',
      'QUEUED queued, STARTED running, VALIDATING validating_files, VALIDATED queued, RUNNING running, SUCCESS succeeded, FAILED failed, FAILED_VALIDATION failed, CANCELLED cancelled, CANCELLATION_REQUESTED cancelled',
      (status: string) => ({ ...mistralJob, status }),
      mistralJob.id,
    ],
  ] as const)('%s: %s', async (provider, map, answer, id) => {
    // One of tomorrow is followed, and told.
    for (const pair of [...map.split(', '), 'TOMORROW running']) {
      const [state = '', expected] = pair.split(' ');
      const { answer: told } = await run(
        { ...tuning, provider, operation: 'retrieveFinetune', id },
        answer(state),
      );
      const document = documentOf(told);
      expect(document.status, pair).toBe(expected);
      expect(document.provider_status, pair).toBe(state === 'TOMORROW' ? state : undefined);
      const isOver = ['succeeded', 'failed', 'cancelled'].includes(String(expected));
      expect(document.finished_at === null, pair).toBe(!isOver);
      // Seconds, not milliseconds.
      expect(Number(document.created_at), pair).toBeLessThan(1e10);
    }
  });

  it.each([
    ['fal-ai', falId, 'IN_QUEUE queued, IN_PROGRESS in_progress, TOMORROW in_progress TOMORROW'],
    [
      'together-ai',
      'v1',
      'queued queued, in_progress in_progress, completed completed, failed failed, cancelled failed cancelled, TOMORROW in_progress TOMORROW',
    ],
  ])(
    'videos of %s in a state that OpenAI has no word for are told in the vendor’s',
    async (provider, id, map) => {
      for (const each of map.split(', ')) {
        const [status = '', expected, theirs] = each.split(' ');
        const { answer } = await run(
          { of: 'videos', provider, operation: 'getVideo', id },
          { status },
        );
        const document = documentOf(answer);
        expect([document.status, document.provider_status], each).toEqual([expected, theirs]);
      }
    },
  );

  it.each([
    [
      'a bucket that is not the provider’s',
      {
        ...tuning,
        provider: 'bedrock',
        operation: 'createFinetune',
        body: { ...body, training_file: 's3%3A%2F%2Fother%2Ftrain.jsonl' },
      },
    ],
    [
      'an output in another’s bucket',
      {
        ...tuning,
        provider: 'bedrock',
        operation: 'createFinetune',
        body: { ...body, output_file: 's3://other/out' },
      },
    ],
    [
      'no role',
      {
        ...tuning,
        provider: 'bedrock',
        operation: 'createFinetune',
        body: { ...body, role_arn: null },
      },
    ],
    [
      'a method that is not there',
      {
        ...tuning,
        provider: 'bedrock',
        operation: 'createFinetune',
        body: { ...body, method: { type: 'dpo' } },
      },
    ],
    [
      'no suffix',
      {
        ...tuning,
        provider: 'vertex-ai',
        operation: 'createFinetune',
        body: { ...inGoogle, suffix: '' },
      },
    ],
    [
      'epochs that are no number',
      {
        ...tuning,
        provider: 'mistral-ai',
        operation: 'createFinetune',
        body: { ...plain, hyperparameters: { n_epochs: 'many' } },
      },
    ],
    [
      'an id of another vendor',
      { ...tuning, provider: 'bedrock', operation: 'retrieveFinetune', id: 'ftjob-abc' },
    ],
    [
      'an id with a way out',
      {
        of: 'videos',
        provider: 'fal-ai',
        operation: 'getVideo',
        id: `video_${Buffer.from('fal-ai/../x\n5\n\n1\nr').toString('base64url')}`,
      },
    ],
    [
      'a model that is no path',
      {
        of: 'videos',
        provider: 'fal-ai',
        operation: 'createVideo',
        model: 'x/../../y',
        body: clip,
      },
    ],
    [
      'two videos at once',
      {
        of: 'videos',
        provider: 'vertex-ai',
        operation: 'createVideo',
        model: 'veo-3.0-generate-001',
        body: { ...clip, sampleCount: 4 },
      },
    ],
    [
      'an output bucket of the caller’s own',
      {
        of: 'videos',
        provider: 'vertex-ai',
        operation: 'createVideo',
        model: 'veo-3.0-generate-001',
        body: { ...clip, storageUri: 'gs://mine/out' },
      },
    ],
    [
      'a size that is none',
      {
        of: 'videos',
        provider: 'together-ai',
        operation: 'createVideo',
        model: 'm',
        body: { ...clip, size: 'large' },
      },
    ],
    [
      'a picture to fetch',
      {
        of: 'videos',
        provider: 'vertex-ai',
        operation: 'createVideo',
        model: 'veo-3.0-generate-001',
        body: { ...clip, input_reference: { image_url: 'http://169.254.169.254/' } },
      },
    ],
  ] satisfies (readonly [string, Asked])[])(
    'refuses %s before anybody is asked',
    async (_, asked) => {
      await expect(run(asked)).rejects.toMatchObject({ name: 'GatewayError' });
    },
  );
});
