import Anthropic, { toFile as toAnthropicFile } from '@anthropic-ai/sdk';
import { type RecordedRequest, startS3, type TestS3 } from '@sluice/testkit';
import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { errorOf, type Scenario, startScenario } from './scenario.ts';
import { anthropicVendor, partsOf } from './vendor-files.ts';

/** Files at providers, each in its own words, behind OpenAI's client. */

let s: Scenario;
let s3: TestS3;

beforeAll(async () => {
  [s, s3] = await Promise.all([startScenario({ logStore: true, lazyLedger: true }), startS3()]);
});
afterAll(async () => {
  await Promise.all([s?.stop(), s3?.close()]);
});

function clientOf(config: object, headers: Record<string, string> = {}, apiKey?: string): OpenAI {
  return new OpenAI({
    apiKey: apiKey ?? s.stack.credentials.workspace_key,
    baseURL: `${s.stack.gatewayUrls[0]}/v1`,
    maxRetries: 0,
    defaultHeaders: { 'x-service-config': JSON.stringify(config), ...headers },
  });
}

async function otherKey(): Promise<string> {
  const { id } = await s.admin<{ id: string }>('POST', '/admin/workspaces', {
    name: `Others ${Math.random()}`,
  });
  const { key } = await s.admin<{ key: string }>('POST', '/api-keys/workspace/service', {
    name: `of a test ${Math.random()}`,
    scopes: ['completions.write'],
    workspace_id: id,
  });
  return key;
}

const call = (method: string, path: string, config: object, headers = {}, rawBody?: FormData) =>
  fetch(`${s.stack.gatewayUrls[0]}/v1${path}`, {
    method,
    headers: {
      'x-service-api-key': s.stack.credentials.workspace_key,
      'x-service-config': JSON.stringify(config),
      ...headers,
    },
    ...(rawBody === undefined ? {} : { body: rawBody }),
  });

const bedrock = (over: object = {}) => ({
  provider: 'bedrock',
  custom_host: s3.origin,
  aws_access_key_id: s3.accessKeyId,
  aws_secret_access_key: s3.secretAccessKey,
  aws_region: s3.region,
  aws_s3_bucket: s3.bucket,
  ...over,
});

const batchLine = (at: number, text = `Question ${at}`) =>
  JSON.stringify({
    custom_id: `line-${at}`,
    method: 'POST',
    url: '/v1/chat/completions',
    body: {
      model: 'anthropic.claude-3-5-sonnet-20240620-v1:0',
      messages: [{ role: 'user', content: text }],
      max_tokens: 10,
    },
  });

describe('files at Bedrock, which are objects in a bucket', () => {
  it('go up in signed parts, come back whole and in ranges, and go', async () => {
    const client = clientOf(bedrock(), {
      'x-service-provider-file-name': 'night/über alles (1).bin',
      'x-service-amz-server-side-encryption': 'aws:kms',
      'x-service-amz-server-side-encryption-aws-kms-key-id': 'key-1',
    });
    const content = Buffer.alloc(5 * 1024 * 1024 + 5, 'some bytes ');
    const file = await client.files.create({
      file: await toFile(content, 'any.bin'),
      purpose: 'user_data',
    });
    const key = 'night/über alles (1).bin';
    expect(file).toMatchObject({
      id: encodeURIComponent(`s3://${s3.bucket}/${key}`),
      object: 'file',
      bytes: content.length,
      filename: 'any.bin',
      purpose: 'user_data',
      status: 'processed',
    });
    expect(s3.objects.get(key)?.equals(content)).toBe(true);
    expect(s3.headers.get(key)).toMatchObject({
      'x-amz-server-side-encryption': 'aws:kms',
      'x-amz-server-side-encryption-aws-kms-key-id': 'key-1',
    });
    expect([s3.refusals, s3.openUploads]).toEqual([[], 0]);

    expect(await client.files.retrieve(file.id)).toMatchObject({
      id: file.id,
      bytes: content.length,
      created_at: 1_793_700_000,
    });
    const whole = await client.files.content(file.id);
    expect(Buffer.from(await whole.arrayBuffer()).equals(content)).toBe(true);
    // Some clients escape the id once more, others leave it as it is.
    for (const path of [encodeURIComponent(file.id), file.id]) {
      const part = await call('GET', `/files/${path}/content`, bedrock(), { range: 'bytes=5-14' });
      expect([part.status, part.headers.get('content-range'), await part.text()]).toEqual([
        206,
        `bytes 5-14/${content.length}`,
        content.toString('latin1', 5, 15),
      ]);
    }
    expect(await client.files.delete(file.id)).toEqual({
      id: file.id,
      object: 'file',
      deleted: true,
    });
    expect(s3.objects.has(key)).toBe(false);
    await expect(client.files.retrieve(file.id)).rejects.toMatchObject({ status: 404 });
  });

  it('have the rows of a batch in Bedrock’s words, and none of one that cannot be read', async () => {
    const headers = { 'x-service-provider-file-name': 'rows.jsonl' };
    const client = clientOf(bedrock(), headers);
    const lines = [batchLine(1), '', batchLine(2)].join('\r\n');
    await client.files.create({
      file: await toFile(Buffer.from(lines), 'a.jsonl'),
      purpose: 'batch',
    });
    const rows = s3.objects.get('rows.jsonl')?.toString().trim().split('\n') ?? [];
    expect(rows.map((row) => JSON.parse(row))).toMatchObject([
      {
        recordId: 'line-1',
        modelInput: { messages: [{ role: 'user' }], inferenceConfig: { maxTokens: 10 } },
      },
      { recordId: 'line-2' },
    ]);

    const before = s3.requests;
    const large = Buffer.from(
      [batchLine(1, 'x'.repeat(6 * 1024 * 1024)), '{"custom_id":'].join('\n'),
    );
    const form = new FormData();
    form.set('purpose', 'batch');
    form.set('file', new Blob([large]), 'b.jsonl');
    const refused = await call('POST', '/files', bedrock(), {}, form);
    expect(refused.status).toBe(400);
    expect(await errorOf(refused)).toMatchObject({
      code: 'request.invalid_field',
      param: 'line 2',
    });
    // What had been begun is taken back.
    expect(s3.requests - before).toBeGreaterThan(1);
    expect([s3.openUploads, s3.refusals.length]).toEqual([0, 1]);
  });

  it('are in the provider’s bucket alone, and their names are nobody else’s', async () => {
    const client = clientOf(bedrock(), { 'x-service-provider-file-name': 'ours.txt' });
    const file = await client.files.create({
      file: await toFile(Buffer.from('ours'), 'ours.txt'),
      purpose: 'user_data',
    });
    const stranger = clientOf(
      bedrock(),
      { 'x-service-provider-file-name': 'ours.txt' },
      await otherKey(),
    );
    for (const ask of [
      () => stranger.files.retrieve(file.id),
      () => stranger.files.content(file.id),
      () => stranger.files.delete(file.id),
      async () =>
        stranger.files.create({ file: await toFile(Buffer.from('theirs'), 'x'), purpose: 'batch' }),
    ])
      await expect(ask()).rejects.toMatchObject({ status: 404, code: 'object.owner_unknown' });
    expect(s3.objects.get('ours.txt')?.toString()).toBe('ours');

    for (const [bucket, key] of [
      ['a.b/../c', 'x'],
      ['evil.example/x?', 'x'],
      ['127.0.0.1', 'x'],
      ['fine-bucket', '../x'],
      ['fine-bucket', 'a/./b'],
    ] as const) {
      const form = new FormData();
      form.set('file', new Blob(['x']), 'x');
      const config = bedrock({ aws_s3_bucket: bucket });
      const answer = await call(
        'POST',
        '/files',
        config,
        { 'x-service-aws-s3-object-key': key },
        form,
      );
      expect((await errorOf(answer)).code, bucket).toBe('provider.setting_invalid');
    }
    const odd = await call('GET', '/files/file-123', bedrock());
    expect([odd.status, (await errorOf(odd)).code]).toEqual([404, 'file.not_found']);
  });

  it('are not listed: the refusal names who can', async () => {
    const answer = await call('GET', '/files', bedrock());
    expect(answer.status).toBe(400);
    const { code, message } = await errorOf(answer);
    expect(code).toBe('provider.endpoint_unsupported');
    expect(message).toMatch(/openai, anthropic/);
    expect(message).not.toMatch(/bedrock,/);
  });
});

const anthropic = () => ({
  provider: 'anthropic',
  api_key: 'sk-ant',
  custom_host: `${s.upstream.url}/v1`,
});

describe('files at Anthropic', () => {
  it('have OpenAI’s face for OpenAI’s client', async () => {
    s.upstream.handle(anthropicVendor());
    const client = clientOf(anthropic());
    const file = await client.files.create({
      file: await toFile(Buffer.from('%PDF'), 'a "b".pdf', { type: 'application/octet-stream' }),
      purpose: 'user_data',
    });
    expect(file).toMatchObject({
      id: 'file_011C1',
      object: 'file',
      bytes: 4,
      created_at: 1_793_700_000,
      purpose: 'user_data',
      mime_type: 'application/pdf',
    });
    const sent = s.upstream.requests.at(-1) as RecordedRequest;
    expect(partsOf(sent)).toHaveLength(1);
    expect(sent.headers['anthropic-beta']).toBe('files-api-2025-04-14');
    const made = await client.files.create({
      file: await toFile(Buffer.from('made'), 'made-by-a-tool.txt'),
      purpose: 'user_data',
    });
    expect(await client.files.retrieve(made.id)).toMatchObject({ id: made.id, bytes: 4 });
    expect(await (await client.files.content(made.id)).text()).toBe('made');
    expect((await client.files.list()).data.map(({ id }) => id)).toEqual([file.id, made.id]);
    await expect(client.files.content(file.id)).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('File is not downloadable'),
    });
    const stranger = clientOf(anthropic(), {}, await otherKey());
    await expect(stranger.files.retrieve(file.id)).rejects.toMatchObject({ status: 404 });
    expect(await client.files.delete(file.id)).toMatchObject({ deleted: true });
    await expect(client.files.retrieve(file.id)).rejects.toMatchObject({
      status: 404,
      message: expect.stringContaining('File not found'),
    });
  });

  it('are Anthropic’s own for its client, and as much somebody’s', async () => {
    s.upstream.handle(anthropicVendor());
    const native = (apiKey = s.stack.credentials.workspace_key) =>
      new Anthropic({
        apiKey,
        baseURL: s.stack.gatewayUrls[0],
        maxRetries: 0,
        defaultHeaders: { 'x-service-config': JSON.stringify(anthropic()) },
      });
    const { files } = native().beta;
    const file = await files.upload({
      file: await toAnthropicFile(Buffer.from('text'), 'made-by-a-tool.txt', {
        type: 'text/plain',
      }),
    });
    expect(file).toMatchObject({ type: 'file', size_bytes: 4, mime_type: 'text/plain' });
    expect(await files.retrieveMetadata(file.id)).toEqual(file);
    expect(await (await files.download(file.id)).text()).toBe('text');
    expect((await files.list()).data).toHaveLength(1);
    await expect(native(await otherKey()).beta.files.download(file.id)).rejects.toMatchObject({
      status: 404,
    });
    expect(await files.delete(file.id)).toMatchObject({ type: 'file_deleted' });
  });
});
