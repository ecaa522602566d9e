import { readFileSync } from 'node:fs';
import {
  bytes,
  eventually,
  startGcs,
  startS3,
  startUpstream,
  type TestGcs,
  type TestS3,
  type Upstream,
} from '@sluice/testkit';
import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { batchUse, linesIn } from './batch-lines.ts';
import { type ManagedCase, provesManagedBatches } from './proves-managed-batches.ts';
import { errorOf, type Scenario } from './scenario.ts';
import { azureVendor } from './vendor-batches.ts';
import { fireworksVendor } from './vendor-files.ts';
import { bedrockJobs } from './vendors/bedrock-jobs.ts';
import { cohereJobs, falVendor, fireworksJobs, togetherVendor } from './vendors/media-jobs.ts';
import { mistralJobs } from './vendors/mistral-jobs.ts';
import { vertexJobs } from './vendors/vertex-jobs.ts';

/**
 * Batches, fine-tunes and videos in vendors' own words, from what makes them to what they come to: OpenAI's client,
 * a running gateway, and vendors that refuse what theirs refuse. Told by the file that has the installation.
 */
export function describeVendorJobs(
  scenario: () => Scenario,
  managedElsewhere: () => readonly ManagedCase[],
): void {
  const canary = 'sk-canary-of-vendors';
  const role = 'arn:aws:iam::123456789012:role/batches';
  const avro = (part: number) =>
    readFileSync(
      new URL(
        `../../../packages/providers/src/batches/avro/fixtures/embeddings.${part}.avro`,
        import.meta.url,
      ),
    );
  let s3: TestS3;
  let gcs: TestGcs;
  let upstream: Upstream;
  let elsewhere: Upstream;
  const bedrock = bedrockJobs(() => s3);
  const vertex = vertexJobs(() => gcs);
  const fal = falVendor(canary, () => elsewhere.url);
  const together = togetherVendor(canary, () => elsewhere.url);
  const cohere = cohereJobs(canary, () => elsewhere.url, [avro(0), avro(1)]);
  const mistral = mistralJobs(canary);
  let fireworksHas: (dataset: string) => boolean;
  const fireworks = fireworksJobs('fw-key', (dataset) => fireworksHas(dataset));
  beforeAll(async () => {
    [s3, gcs, upstream, elsewhere] = await Promise.all([
      startS3(),
      startGcs(),
      startUpstream(),
      startUpstream(),
    ]);
    s3.serve(bedrock.part);
    gcs.serve(vertex.part);
    elsewhere.handle(({ path, headers }) => {
      if (headers.authorization !== undefined) return bytes(400, Buffer.from('an address signed'));
      return bytes(200, cohere.content(path) ?? Buffer.from('mp4 bytes'), {
        'content-type': path.endsWith('.mp4') ? 'video/mp4' : 'application/octet-stream',
      });
    });
  });
  afterAll(() => Promise.all([s3, gcs, upstream, elsewhere].map((each) => each?.close())));

  const atBedrock = () => ({
    provider: 'bedrock',
    custom_host: s3.origin,
    aws_access_key_id: s3.accessKeyId,
    aws_secret_access_key: s3.secretAccessKey,
    aws_region: s3.region,
    aws_s3_bucket: s3.bucket,
  });
  const atVertex = () => ({
    provider: 'vertex-ai',
    api_key: gcs.token,
    custom_host: gcs.origin,
    vertex_project_id: 'project',
    vertex_region: vertex.region,
    vertex_storage_bucket_name: gcs.bucket,
  });
  const clientOf = (config: object, headers: Record<string, string> = {}) => {
    const { stack } = scenario();
    return new OpenAI({
      apiKey: stack.credentials.workspace_key,
      baseURL: `${stack.gatewayUrls[0]}/v1`,
      maxRetries: 0,
      defaultHeaders: { 'x-service-config': JSON.stringify(config), ...headers },
    });
  };
  const get = (path: string, config: object, key?: string) =>
    scenario().call(path, {
      method: 'GET',
      host: null,
      ...(key !== undefined && { key }),
      headers: { 'x-service-config': JSON.stringify(config) },
    });
  const batchLine = (id: string, model: string, content: string) =>
    JSON.stringify({
      custom_id: id,
      method: 'POST',
      url: '/v1/chat/completions',
      body: { model, max_tokens: 9, messages: [{ role: 'user', content }] },
    });
  const embedLine = (id: string, model: string) =>
    JSON.stringify({
      custom_id: id,
      method: 'POST',
      url: '/v1/embeddings',
      body: { model, input: `text ${id.slice(5)}` },
    });
  const upload = async (client: OpenAI, lines: readonly string[], purpose = 'batch') => {
    const file = await toFile(Buffer.from(lines.join('\n')), 'lines.jsonl');
    return (await client.files.create({ file, purpose: purpose as 'batch' })).id;
  };
  const ended = (client: OpenAI, id: string, status: string) =>
    eventually(async () => {
      const batch = await client.batches.retrieve(id);
      expect(batch.status).toBe(status);
      return batch;
    });
  const outputOf = async (id: string, config: object) => {
    const answer = await get(`/v1/batches/${id}/output`, config);
    expect(answer.status, await answer.clone().text()).toBe(200);
    return linesIn(await answer.text());
  };
  const billed = (id: string, total: number, cents: number) =>
    eventually(
      async () =>
        expect(await batchUse(scenario(), id)).toEqual({ total, cost: expect.closeTo(cents, 9) }),
      { timeoutMs: 20_000, intervalMs: 200 },
    );
  const refusedBy = (...vendors: { refusals: string[] }[]) =>
    vendors.flatMap(({ refusals }) => refusals.splice(0));
  const neverRun = (customId: string) => ({
    id: `batch_req_${customId}`,
    custom_id: customId,
    response: null,
    error: { code: 'batch_cancelled', message: expect.any(String) },
  });
  let names = 0;
  const name = () => `job-of-${++names}`;

  describe('a batch in a vendor’s own words', () => {
    it('is Bedrock’s: signed, in the bucket, and lines that failed beside those that did not', async () => {
      const model = 'anthropic.claude-3-5-sonnet-20240620-v1:0';
      const client = clientOf(atBedrock(), { 'x-service-provider-file-name': 'night/in.jsonl' });
      const input = await upload(client, [
        batchLine('a-é', model, 'Hi'),
        batchLine('b', model, 'fail'),
      ]);
      const asked = {
        input_file_id: input,
        endpoint: '/v1/chat/completions' as const,
        completion_window: '24h' as const,
        metadata: { team: 'nights' },
        model,
        role_arn: role,
      };
      const batch = await client.batches.create(asked);
      expect(batch).toMatchObject({ object: 'batch', status: 'validating', input_file_id: input });
      expect(await errorOf(await get(`/v1/batches/${batch.id}/output`, atBedrock()))).toMatchObject(
        {
          status: 409,
          code: 'batch.not_finished',
        },
      );
      const end = await ended(client, batch.id, 'completed');
      expect(end.request_counts).toEqual({ total: 2, completed: 1, failed: 1 });
      expect(Math.abs((end.completed_at ?? 0) * 1000 - Date.now())).toBeLessThan(60_000);
      const lines = await outputOf(batch.id, atBedrock());
      expect(lines).toMatchObject([
        { custom_id: 'a-é', response: { status_code: 200, body: { object: 'chat.completion' } } },
        { custom_id: 'b', response: { status_code: 400 } },
      ]);
      // Its output is a file like any other.
      const raw = await (await client.files.content(end.output_file_id ?? '')).text();
      expect(raw.split('\n')).toHaveLength(2);
      expect((await client.batches.list({ limit: 1 })).data[0]?.id).toBe(batch.id);
      // 1,000 and 500 tokens at 0.0003 and 0.0015 cents, half of it.
      await billed(batch.id, 2, (1000 * 0.0003 + 500 * 0.0015) / 2);
      expect(refusedBy(bedrock)).toEqual([]);
    });

    it('is Bedrock’s to refuse: its words come back, and nothing is made', async () => {
      const client = clientOf(atBedrock());
      const asked = {
        input_file_id: `s3://${s3.bucket}/none.jsonl`,
        endpoint: '/v1/chat/completions' as const,
        completion_window: '24h' as const,
        model: 'anthropic.claude-3-5-sonnet-20240620-v1:0',
        role_arn: role,
      };
      for (const [over, message] of [
        [{}, 'The input does not exist'],
        [{ role_arn: 'batches' }, 'roleArn'],
        [{ job_name: 'my job' }, 'jobName'],
        [{ tier: 'gold' }, 'tier'],
        [{ input_file_id: 's3://others-bucket/in.jsonl' }, 'Could not access'],
        [{ timeout_duration_in_hours: 5 }, 'timeoutDurationInHours'],
      ] as const) {
        const refused = client.batches.create({ ...asked, ...over });
        await expect(refused, message).rejects.toMatchObject({
          status: 400,
          message: expect.stringContaining(message),
        });
      }
      const wrong = clientOf({ ...atBedrock(), aws_secret_access_key: 'another' });
      await expect(wrong.batches.list()).rejects.toMatchObject({ status: 403 });
      expect(refusedBy(bedrock)).toHaveLength(7);
    });

    it('is stopped at Bedrock, and stopped once; lines that it has not come to are told', async () => {
      const model = 'amazon.titan-embed-text-v2:0';
      const client = clientOf(atBedrock(), { 'x-service-aws-bedrock-model': model });
      const input = await upload(client, [embedLine('line-1', model)]);
      const asked = {
        input_file_id: input,
        endpoint: '/v1/embeddings' as const,
        completion_window: '24h' as const,
        role_arn: role,
      };
      const stopped = await client.batches.create(asked);
      expect((await client.batches.cancel(stopped.id)).status).toMatch(/^cancell/);
      await ended(client, stopped.id, 'cancelled');
      await expect(client.batches.cancel(stopped.id)).rejects.toMatchObject({ status: 409 });
      expect(await outputOf(stopped.id, atBedrock())).toEqual([neverRun('line-1')]);
      const whole = await client.batches.create(asked);
      await ended(client, whole.id, 'completed');
      expect(await outputOf(whole.id, atBedrock())).toMatchObject([
        { custom_id: 'line-1', response: { body: { data: [{ embedding: [0.5, -0.25] }] } } },
      ]);
      expect(refusedBy(bedrock)).toHaveLength(1);
    });

    it.each([
      ['gemini-2.5-flash', 'Gemini', (1000 * 0.00003 + 500 * 0.00025) / 2],
      ['anthropic.claude-3-5-haiku@20241022', 'Claude', undefined],
    ])('is Vertex AI’s, beside a bucket of Cloud Storage: %s', async (model, _of, cents) => {
      const client = clientOf(atVertex(), {
        'x-service-provider-model': model,
        'x-service-provider-file-name': `${name()}/in.jsonl`,
      });
      const input = await upload(client, [
        batchLine('a-é', model, 'Hi'),
        ...(cents === undefined ? [] : [batchLine('b', model, 'fail')]),
      ]);
      const batch = await client.batches.create({
        input_file_id: input,
        endpoint: '/v1/chat/completions',
        completion_window: '24h',
      });
      expect(batch).toMatchObject({ status: 'validating', input_file_id: input });
      const end = await ended(client, batch.id, 'completed');
      expect(end.request_counts?.completed).toBe(1);
      const lines = await outputOf(batch.id, atVertex());
      expect(lines[0]).toMatchObject({
        custom_id: 'a-é',
        response: { status_code: 200, body: { choices: [{ message: { content: 'Hi there' } }] } },
      });
      if (cents !== undefined) {
        expect(lines[1]).toMatchObject({ custom_id: 'b', response: { status_code: 400 } });
        await billed(batch.id, 2, cents);
      }
      expect((await client.batches.list()).data.map(({ id }) => id)).toContain(batch.id);
      expect(refusedBy(vertex)).toEqual([]);
    });

    it('of embeddings is Vertex AI’s as well, and its refusals are those of Google', async () => {
      const model = 'gemini-embedding-001';
      const client = clientOf(atVertex(), { 'x-service-provider-model': model });
      const input = await upload(client, [embedLine('line-1', model)]);
      const asked = {
        input_file_id: input,
        endpoint: '/v1/embeddings' as const,
        completion_window: '24h' as const,
      };
      const batch = await client.batches.create(asked);
      await ended(client, batch.id, 'completed');
      expect(await outputOf(batch.id, atVertex())).toMatchObject([
        { custom_id: 'line-1', response: { body: { data: [{ embedding: [0.5, -0.25] }] } } },
      ]);
      expect(refusedBy(vertex)).toEqual([]);
      for (const [over, status, message] of [
        [{ input_file_id: `gs://${gcs.bucket}/none` }, 400, 'does not exist'],
        [{ input_file_id: 'gs://others-bucket/in' }, 403, 'not accessible'],
        [{ tier: 'gold' }, 400, 'tier'],
      ] as const)
        await expect(client.batches.create({ ...asked, ...over })).rejects.toMatchObject({
          status,
          message: expect.stringContaining(message),
        });
      const cancelled = await client.batches.create(asked);
      expect((await client.batches.cancel(cancelled.id)).status).toMatch(/^cancell/);
      expect(await outputOf(cancelled.id, atVertex())).toEqual([neverRun('line-1')]);
      await expect(client.batches.retrieve('99')).rejects.toMatchObject({ status: 404 });
      const wrong = clientOf({ ...atVertex(), api_key: 'ya29.another' });
      await expect(wrong.batches.list()).rejects.toMatchObject({ status: 401 });
      refusedBy(vertex);
    });

    it.each(['2024-10-21', 'v1'])(
      'is Azure’s, at each address with its version: %s',
      async (version) => {
        upstream.handle(azureVendor(canary));
        const config = {
          provider: 'azure-openai',
          api_key: canary,
          custom_host: `${upstream.url}/openai`,
          azure_api_version: version,
          azure_deployment_id: 'nights',
        };
        const client = clientOf(config);
        const lines = ['a-1', 'fail'].map((id) => batchLine(id, 'nights', id));
        const { id } = await client.batches.create({
          input_file_id: await upload(client, lines),
          endpoint: '/v1/chat/completions',
          completion_window: '24h',
        });
        await ended(client, id, 'completed');
        expect(await outputOf(id, config)).toMatchObject([
          { custom_id: 'a-1', response: { status_code: 200 } },
          { custom_id: 'fail', response: { status_code: 400 } },
        ]);
        expect((await client.batches.list({ limit: 1 })).data[0]?.id).toBe(id);
        const stopped = await client.batches.create({
          input_file_id: await upload(client, [batchLine('never', 'nights', 'Hi')]),
          endpoint: '/v1/chat/completions',
          completion_window: '24h',
        });
        expect((await client.batches.cancel(stopped.id)).status).toBe('cancelling');
        await ended(client, stopped.id, 'cancelled');
        expect(await outputOf(stopped.id, config)).toEqual([neverRun('never')]);
      },
    );

    it('is an embed job of Cohere, read out of Avro in two parts without the credential', async () => {
      upstream.handle((request) => cohere.part(request) ?? bytes(500, Buffer.alloc(0)));
      const config = { provider: 'cohere', api_key: canary, custom_host: upstream.url };
      const model = 'embed-english-v3.0';
      const client = clientOf(config, { 'x-service-provider-model': model });
      const input = await upload(
        client,
        [1, 2, 3, 4, 5].map((at) => embedLine(`line-${at}`, model)),
      );
      const asked = {
        input_file_id: input,
        endpoint: '/v1/embeddings' as const,
        completion_window: '24h' as const,
      };
      await expect(client.batches.create(asked)).rejects.toThrow('must be validated');
      expect((await client.files.retrieve(input)).status).toBe('processed');
      const batch = await client.batches.create(asked);
      const end = await ended(client, batch.id, 'completed');
      const lines = await outputOf(batch.id, config);
      expect(lines.map(({ custom_id: id }) => id)).toEqual(
        [1, 2, 3, 4, 5].map((at) => `line-${at}`),
      );
      expect(lines[4]?.response?.body).toMatchObject({ data: [{ embedding: [5.5, -0.25] }] });
      // Nobody tells what they counted: each of its texts, with what stands around it, at half of a dollar a million.
      const { cost } = await eventually(
        async () => {
          const use = await batchUse(scenario(), batch.id);
          expect(use.total).toBe(5);
          return use;
        },
        { timeoutMs: 20_000, intervalMs: 200 },
      );
      expect(cost).toBeGreaterThan((5 * 3 * 0.0001) / 2);
      expect(cost).toBeLessThan((5 * 20 * 0.0001) / 2);
      const parts = client.files.content(end.output_file_id ?? '');
      await expect(parts).rejects.toThrow('2 parts');
      const stopped = await client.batches.create(asked);
      expect((await client.batches.cancel(stopped.id)).status).toMatch(/^cancell/);
      expect((await client.batches.list({ limit: 1 })).has_more).toBe(true);
      expect(refusedBy(cohere)).toHaveLength(1);
    });
  });

  it('a batch that the service has a provider run goes up, is followed and told with its counts, at every vendor', async () => {
    upstream.handle(
      (request) => mistral.part(request) ?? cohere.part(request) ?? bytes(500, Buffer.alloc(0)),
    );
    const { api_key: _token, provider: _vertex, ...vertexSettings } = atVertex();
    const { provider: _bedrock, ...bedrockSettings } = atBedrock();
    const claude = 'anthropic.claude-3-5-sonnet-20240620-v1:0';
    const two = (model: string) => ['m-1', 'm-2'].map((id) => batchLine(id, model, 'Hi'));
    await provesManagedBatches(scenario(), [
      ...managedElsewhere(),
      {
        vendor: 'mistral-ai',
        key: canary,
        configurations: { custom_host: `${upstream.url}/v1` },
        lines: two('our-small'),
        cents: 1000 * 0.0001 + 500 * 0.0002,
      },
      {
        vendor: 'cohere',
        key: canary,
        configurations: { custom_host: upstream.url },
        endpoint: '/v1/embeddings',
        lines: [1, 2, 3, 4, 5].map((at) => embedLine(`line-${at}`, 'embed-english-v3.0')),
      },
      {
        vendor: 'bedrock',
        configurations: bedrockSettings,
        lines: two(claude),
        options: { role_arn: role },
        cents: 1000 * 0.0003 + 500 * 0.0015,
      },
      {
        vendor: 'vertex-ai',
        key: gcs.token,
        configurations: vertexSettings,
        lines: two('gemini-2.5-flash'),
        cents: 1000 * 0.00003 + 500 * 0.00025,
      },
    ]);
    expect(refusedBy(mistral, cohere, bedrock, vertex)).toEqual([]);
  }, 90_000);

  describe('a fine-tune in a vendor’s own words', () => {
    it('is Bedrock’s, made of a file in the bucket, seen, stopped and refused', async () => {
      const client = clientOf(atBedrock());
      const training = await upload(client, ['{"prompt":"a","completion":"b"}'], 'fine-tune');
      const make = (over: object = {}) =>
        client.fineTuning.jobs.create({
          model: 'amazon.titan-text-express-v1:0:8k',
          training_file: training,
          validation_file: training,
          suffix: 'my_model',
          method: { type: 'supervised', supervised: { hyperparameters: { n_epochs: 2 } } },
          ...({ role_arn: role, ...over } as object),
        });
      const job = await make();
      expect(job).toMatchObject({ status: 'queued', training_file: training });
      expect((await client.fineTuning.jobs.retrieve(job.id)).status).toBe('running');
      bedrock.endTuning('my_model');
      expect(await client.fineTuning.jobs.retrieve(job.id)).toMatchObject({
        id: job.id,
        status: 'succeeded',
        fine_tuned_model: expect.stringContaining('custom-model/my_model'),
        hyperparameters: { n_epochs: 2 },
      });
      expect((await client.fineTuning.jobs.list()).data.map(({ id }) => id)).toEqual([job.id]);
      const other = await make({ suffix: 'another' });
      expect((await client.fineTuning.jobs.cancel(other.id)).status).toBe('cancelled');
      expect(refusedBy(bedrock)).toEqual([]);
      await expect(client.fineTuning.jobs.cancel(job.id)).rejects.toMatchObject({ status: 409 });
      await expect(make({ suffix: 'two words' })).rejects.toThrow('must match pattern');
      await expect(make({ training_file: `s3://${s3.bucket}/none` })).rejects.toThrow('access');
      refusedBy(bedrock);
    });

    it('is Vertex AI’s, with its tokens, and a failure with its reason', async () => {
      const client = clientOf(atVertex());
      const training = await upload(client, ['{"contents":[]}'], 'fine-tune');
      const make = (suffix: string, over: object = {}) =>
        client.fineTuning.jobs.create({
          model: 'gemini-2.5-flash',
          training_file: training,
          suffix,
          hyperparameters: { n_epochs: 3, learning_rate_multiplier: 0.5 },
          ...({ adapter_size: 4, ...over } as object),
        });
      const job = await make('good');
      expect(job).toMatchObject({ status: 'queued', training_file: training });
      vertex.endTuning('good');
      expect(await client.fineTuning.jobs.retrieve(job.id)).toMatchObject({
        status: 'succeeded',
        trained_tokens: 5768,
        fine_tuned_model: expect.stringContaining('endpoints/9'),
      });
      const failed = await make('bad');
      vertex.endTuning('bad', {
        state: 'JOB_STATE_FAILED',
        error: { code: 3, message: 'Too few examples' },
      });
      expect(await client.fineTuning.jobs.retrieve(failed.id)).toMatchObject({
        status: 'failed',
        error: { message: 'Too few examples' },
      });
      const stopped = await make('stopped');
      expect((await client.fineTuning.jobs.cancel(stopped.id)).status).toBe('cancelled');
      expect((await client.fineTuning.jobs.list()).data).toHaveLength(3);
      expect(refusedBy(vertex)).toEqual([]);
      await expect(make('x', { adapter_size: 5 })).rejects.toMatchObject({ status: 400 });
      await expect(make('x', { training_file: 'gs://others-bucket/x' })).rejects.toMatchObject({
        status: 403,
      });
      refusedBy(vertex);
    });

    it('is Fireworks’, over a dataset that was sent up as a file', async () => {
      upstream.handle(
        fireworksVendor(
          () => elsewhere.url,
          (request, has) => {
            fireworksHas = has;
            return fireworks.part(request);
          },
        ),
      );
      const client = clientOf({
        provider: 'fireworks-ai',
        api_key: 'fw-key',
        custom_host: `${upstream.url}/v1`,
        fireworks_account_id: 'acme',
      });
      const training = await upload(client, ['{"messages":[]}'], 'fine-tune');
      const make = (over: object = {}) =>
        client.fineTuning.jobs.create({
          model: 'llama-v3p1-8b-instruct',
          training_file: training,
          suffix: 'my-model',
          hyperparameters: { n_epochs: 2, learning_rate_multiplier: 0.0001 },
          ...over,
        });
      const job = await make();
      expect(job).toMatchObject({ status: 'running', training_file: training });
      fireworks.end(job.id);
      expect(await client.fineTuning.jobs.retrieve(job.id)).toMatchObject({
        status: 'succeeded',
        fine_tuned_model: 'accounts/acme/models/my-model',
      });
      const going = await make();
      fireworks.end(going.id, { state: 'JOB_STATE_CANCELLING' });
      expect((await client.fineTuning.jobs.retrieve(going.id)).status).toBe('cancelled');
      const stopped = await make();
      expect((await client.fineTuning.jobs.cancel(stopped.id)).status).toBe('cancelled');
      expect((await client.fineTuning.jobs.list()).data).toHaveLength(2);
      expect(refusedBy(fireworks)).toEqual([]);
      await expect(make({ training_file: 'none' })).rejects.toMatchObject({ status: 404 });
      await expect(client.fineTuning.jobs.retrieve(stopped.id)).rejects.toMatchObject({
        status: 404,
      });
      refusedBy(fireworks);
    });
  });

  describe('a video in a vendor’s own words', () => {
    const videoOf = (client: OpenAI, id: string, status: string) =>
      eventually(async () => {
        const video = await client.videos.retrieve(id);
        expect(video.status).toBe(status);
        return video;
      });
    const make = (client: OpenAI, model: string, over: object = {}) =>
      client.videos.create({ prompt: 'A calico cat', model: model as 'sora-2', ...over });

    it.each(['veo-3.0-generate-001', 'veo-2.0-generate-001'])('is of Veo: %s', async (model) => {
      const client = clientOf(atVertex());
      const { id } = await make(client, model, { seconds: '8', size: '720x1280' });
      const video = await videoOf(client, id, 'completed');
      expect(video).toMatchObject({ model, seconds: '8', size: '720x1280', progress: 100 });
      expect(await (await client.videos.downloadContent(id)).text()).toBe('mp4 bytes of Veo');
      const ranged = await scenario().call(`/v1/videos/${id}/content`, {
        method: 'GET',
        host: null,
        headers: { 'x-service-config': JSON.stringify(atVertex()), range: 'bytes=4-8' },
      });
      expect([ranged.status, await ranged.text()]).toEqual([206, 'bytes']);
      for (const [prompt, message] of [
        ['unfit', 'The prompt is unfit.'],
        ['crash', 'Internal error'],
      ] as const) {
        const bad = await make(client, model, { prompt });
        expect((await videoOf(client, bad.id, 'failed')).error?.message).toBe(message);
        await expect(client.videos.downloadContent(bad.id)).rejects.toMatchObject({ status: 400 });
      }
      expect(refusedBy(vertex)).toEqual([]);
      await expect(make(client, model, { seconds: '12' })).rejects.toThrow('durationSeconds');
      refusedBy(vertex);
    });

    it('is of fal, whose failure is an answer, and not a refusal of the look', async () => {
      upstream.handle((request) => fal.part(request) ?? bytes(500, Buffer.alloc(0)));
      const config = { provider: 'fal-ai', api_key: canary, custom_host: upstream.url };
      const client = clientOf(config);
      const model = 'fal-ai/veo3/fast';
      const { id } = await make(client, model, { seconds: '8', size: '1280x720' });
      await videoOf(client, id, 'completed');
      expect(await (await client.videos.downloadContent(id)).text()).toBe('mp4 bytes');
      const late = client.videos.delete(id);
      await expect(late).rejects.toMatchObject({ status: 400 });
      const bad = await make(client, model, { prompt: 'unfit' });
      expect((await videoOf(client, bad.id, 'failed')).error?.message).toContain('unfit');
      const gone = await make(client, model);
      expect((await client.videos.delete(gone.id)).deleted).toBe(true);
      expect(refusedBy(fal)).toEqual([]);
      await expect(make(client, model, { seconds: '5' })).rejects.toMatchObject({ status: 422 });
      refusedBy(fal);
    });

    it('is of Together, with a picture to begin with, and failed at once', async () => {
      upstream.handle((request) => together.part(request) ?? bytes(500, Buffer.alloc(0)));
      const config = {
        provider: 'together-ai',
        api_key: canary,
        custom_host: `${upstream.url}/v2`,
      };
      const client = clientOf(config);
      const { id } = await make(client, 'vidu/vidu-q1', {
        seconds: '5',
        size: '1920x1080',
        input_reference: { image_url: 'https://pictures.example/cat.png' },
      });
      const video = await videoOf(client, id, 'completed');
      expect(video).toMatchObject({ seconds: '5', size: '1920x1080' });
      expect(await (await client.videos.downloadContent(id)).text()).toBe('mp4 bytes');
      const bad = await make(client, 'vidu/vidu-q1', { prompt: 'unfit' });
      expect(bad).toMatchObject({ status: 'failed', error: { message: 'The prompt is unfit.' } });
      await expect(client.videos.delete(id)).rejects.toMatchObject({ status: 400 });
      expect(refusedBy(together)).toEqual([]);
    });
  });
}
