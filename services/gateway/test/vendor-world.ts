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
import { afterAll, beforeAll, expect } from 'vitest';
import { batchUse, linesIn } from './batch-lines.ts';
import type { Scenario } from './scenario.ts';
import { bedrockJobs } from './vendors/bedrock-jobs.ts';
import { cohereJobs, falVendor, fireworksJobs, togetherVendor } from './vendors/media-jobs.ts';
import { mistralJobs } from './vendors/mistral-jobs.ts';
import { vertexJobs } from './vendors/vertex-jobs.ts';

/**
 * The vendors that jobs are tried at, and clients of the installation that asks them. They begin and end with the tests of whoever
 * opens them.
 */
export function openVendorWorld(scenario: () => Scenario) {
  const world = {
    fireworksHas: (_dataset: string): boolean => false,
  } as {
    s3: TestS3;
    gcs: TestGcs;
    upstream: Upstream;
    elsewhere: Upstream;
    fireworksHas: (dataset: string) => boolean;
  };
  const canary = 'sk-canary-of-vendors';
  const role = 'arn:aws:iam::123456789012:role/batches';
  const avro = (part: number) =>
    readFileSync(
      new URL(
        `../../../packages/providers/src/batches/avro/fixtures/embeddings.${part}.avro`,
        import.meta.url,
      ),
    );
  const bedrock = bedrockJobs(() => world.s3);
  const vertex = vertexJobs(() => world.gcs);
  const fal = falVendor(canary, () => world.elsewhere.url);
  const together = togetherVendor(canary, () => world.elsewhere.url);
  const cohere = cohereJobs(canary, () => world.elsewhere.url, [avro(0), avro(1)]);
  const mistral = mistralJobs(canary);
  const fireworks = fireworksJobs('fw-key', (dataset) => world.fireworksHas(dataset));
  beforeAll(async () => {
    [world.s3, world.gcs, world.upstream, world.elsewhere] = await Promise.all([
      startS3(),
      startGcs(),
      startUpstream(),
      startUpstream(),
    ]);
    world.s3.serve(bedrock.part);
    world.gcs.serve(vertex.part);
    world.elsewhere.handle(({ path, headers }) => {
      if (headers.authorization !== undefined) return bytes(400, Buffer.from('an address signed'));
      return bytes(200, cohere.content(path) ?? Buffer.from('mp4 bytes'), {
        'content-type': path.endsWith('.mp4') ? 'video/mp4' : 'application/octet-stream',
      });
    });
  });
  afterAll(() =>
    Promise.all(
      [world.s3, world.gcs, world.upstream, world.elsewhere].map((each) => each?.close()),
    ),
  );

  const atBedrock = () => ({
    provider: 'bedrock',
    custom_host: world.s3.origin,
    aws_access_key_id: world.s3.accessKeyId,
    aws_secret_access_key: world.s3.secretAccessKey,
    aws_region: world.s3.region,
    aws_s3_bucket: world.s3.bucket,
  });
  const atVertex = () => ({
    provider: 'vertex-ai',
    api_key: world.gcs.token,
    custom_host: world.gcs.origin,
    vertex_project_id: 'project',
    vertex_region: vertex.region,
    vertex_storage_bucket_name: world.gcs.bucket,
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
      { intervalMs: 200 },
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
  return Object.assign(world, {
    scenario,
    canary,
    role,
    bedrock,
    vertex,
    fal,
    together,
    cohere,
    mistral,
    fireworks,
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
  });
}

export type VendorWorld = ReturnType<typeof openVendorWorld>;
