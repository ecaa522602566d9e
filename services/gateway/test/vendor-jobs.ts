import { bytes, eventually } from '@sluice/testkit';
import { describe, expect, it } from 'vitest';
import { batchUse } from './batch-lines.ts';
import { type ManagedCase, provesManagedBatches } from './proves-managed-batches.ts';
import { errorOf, type Scenario } from './scenario.ts';
import { azureVendor } from './vendor-batches.ts';
import { describeVendorTuning } from './vendor-tuning.ts';
import { describeVendorVideos } from './vendor-videos.ts';
import { openVendorWorld } from './vendor-world.ts';

/**
 * Batches, fine-tunes and videos in vendors' own words, from what makes them to what they come to: OpenAI's client,
 * a running gateway, and vendors that refuse what theirs refuse. Told by the file that has the installation.
 */
export function describeVendorJobs(
  scenario: () => Scenario,
  managedElsewhere: () => readonly ManagedCase[],
): void {
  const world = openVendorWorld(scenario);
  const {
    canary,
    role,
    bedrock,
    vertex,
    cohere,
    atBedrock,
    atVertex,
    clientOf,
    get,
    batchLine,
    embedLine,
    upload,
    ended,
    outputOf,
    billed,
    refusedBy,
    neverRun,
    name,
    mistral,
  } = world;
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
        input_file_id: `s3://${world.s3.bucket}/none.jsonl`,
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
        [{ input_file_id: `gs://${world.gcs.bucket}/none` }, 400, 'does not exist'],
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
        world.upstream.handle(azureVendor(canary));
        const config = {
          provider: 'azure-openai',
          api_key: canary,
          custom_host: `${world.upstream.url}/openai`,
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
      world.upstream.handle((request) => cohere.part(request) ?? bytes(500, Buffer.alloc(0)));
      // What it refused a go that failed is not this one's.
      refusedBy(cohere);
      const config = { provider: 'cohere', api_key: canary, custom_host: world.upstream.url };
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
          const use = await batchUse(world.scenario(), batch.id);
          expect(use.total).toBe(5);
          return use;
        },
        { intervalMs: 200 },
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
    world.upstream.handle(
      (request) => mistral.part(request) ?? cohere.part(request) ?? bytes(500, Buffer.alloc(0)),
    );
    const { api_key: _token, provider: _vertex, ...vertexSettings } = atVertex();
    const { provider: _bedrock, ...bedrockSettings } = atBedrock();
    const claude = 'anthropic.claude-3-5-sonnet-20240620-v1:0';
    const two = (model: string) => ['m-1', 'm-2'].map((id) => batchLine(id, model, 'Hi'));
    await provesManagedBatches(world.scenario(), [
      ...managedElsewhere(),
      {
        vendor: 'mistral-ai',
        key: canary,
        configurations: { custom_host: `${world.upstream.url}/v1` },
        lines: two('our-small'),
        cents: 1000 * 0.0001 + 500 * 0.0002,
      },
      {
        vendor: 'cohere',
        key: canary,
        configurations: { custom_host: world.upstream.url },
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
        key: world.gcs.token,
        configurations: vertexSettings,
        lines: two('gemini-2.5-flash'),
        cents: 1000 * 0.00003 + 500 * 0.00025,
      },
    ]);
    expect(refusedBy(mistral, cohere, bedrock, vertex)).toEqual([]);
  }, 90_000);

  describeVendorTuning(world);
  describeVendorVideos(world);
}
