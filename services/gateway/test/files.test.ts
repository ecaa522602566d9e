import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import Anthropic, { toFile as toAnthropicFile } from '@anthropic-ai/sdk';
import {
  json,
  type RecordedRequest,
  startGcs,
  startS3,
  startUpstream,
  type TestGcs,
  type TestS3,
} from '@sluice/testkit';
import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { errorOf, type Scenario, startScenario } from './scenario.ts';
import { anthropicVendor, cohereVendor, fireworksVendor, partsOf } from './vendor-files.ts';

/** Files at providers, each in its own words, behind OpenAI's client. */

/** `FILES_MB=500` gives gateway and data service processes of their own, and looks at what they hold. */
const measuredMb = Number(process.env.FILES_MB ?? 0);

let s: Scenario;
let s3: TestS3;
let gcs: TestGcs;

beforeAll(async () => {
  [s, s3, gcs] = await Promise.all([
    startScenario({
      logStore: true,
      ...(measuredMb > 0 && {
        processes: true,
        environment: { 'data-service': { FILE_BYTES_MAX: String(1024 * 1024 * 1024) } },
      }),
    }),
    startS3(),
    startGcs(),
  ]);
});
afterAll(async () => {
  await Promise.all([s?.stop(), s3?.close(), gcs?.close()]);
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

describe('files at Vertex AI, which are objects in a bucket', () => {
  const vertex = (over: object = {}) => ({
    provider: 'vertex-ai',
    api_key: gcs.token,
    custom_host: gcs.origin,
    vertex_project_id: 'project',
    vertex_storage_bucket_name: gcs.bucket,
    ...over,
  });

  it('go up in chunks, again where one was not taken whole, and come back', async () => {
    const client = clientOf(vertex(), { 'x-service-provider-file-name': 'night/ü (1).bin' });
    const content = Buffer.alloc(5 * 1024 * 1024 + 5, 'some bytes ');
    gcs.takeNext(3 * 256 * 1024);
    const file = await client.files.create({
      file: await toFile(content, 'any.bin', { type: 'text/plain' }),
      purpose: 'user_data',
    });
    expect(file).toMatchObject({
      id: encodeURIComponent(`gs://${gcs.bucket}/night/ü (1).bin`),
      bytes: content.length,
      created_at: 1_793_700_000,
      filename: 'any.bin',
    });
    const kept = gcs.objects.get('night/ü (1).bin');
    expect([kept?.content.equals(content), kept?.type]).toEqual([true, 'text/plain']);
    expect([gcs.refusals, gcs.openUploads]).toEqual([[], 0]);
    // A chunk that is the last and whole, and nothing at all, end as well.
    for (const size of [4 * 1024 * 1024, 0]) {
      const other = await client.files.create({
        file: await toFile(Buffer.alloc(size), 'x'),
        purpose: 'user_data',
      });
      expect(other.bytes).toBe(size);
    }
    gcs.objects.set('night/ü (1).bin', { content, type: 'text/plain' });
    expect(await client.files.retrieve(file.id)).toMatchObject({ bytes: content.length });
    const part = await call('GET', `/files/${file.id}/content`, vertex(), { range: 'bytes=-4' });
    expect([part.status, await part.text()]).toEqual([206, content.toString('latin1').slice(-4)]);
    const stranger = clientOf(vertex(), {}, await otherKey());
    await expect(stranger.files.content(file.id)).rejects.toMatchObject({ status: 404 });
    expect(await client.files.delete(file.id)).toMatchObject({ deleted: true });
    await expect(client.files.retrieve(file.id)).rejects.toMatchObject({
      status: 404,
      message: expect.stringContaining('No such object'),
    });
  });

  it('take the upload back where a row cannot be read', async () => {
    const form = new FormData();
    form.set('file', new Blob([`${batchLine(1)}\n{"custom_id":"x","url":"/v1/files","body":{}}`]));
    form.set('purpose', 'batch');
    const refused = await call(
      'POST',
      '/files',
      vertex(),
      { 'x-service-provider-model': 'gemini-2.5-pro' },
      form,
    );
    expect((await errorOf(refused)).param).toMatch(/^line 2/);
    expect(gcs.openUploads).toBe(0);
  });
});

describe('files that are datasets', () => {
  const fireworks = () => ({
    provider: 'fireworks-ai',
    api_key: 'fw-key',
    custom_host: `${s.upstream.url}/v1`,
    fireworks_account_id: 'acme',
  });

  it('go to Fireworks by an address that is signed for their length, or in one request', async () => {
    // The address that is signed is another host's, which is shown no key.
    const store = await startUpstream();
    const vendor = fireworksVendor(() => store.url);
    store.handle(vendor);
    s.upstream.handle(vendor);
    const rows = Buffer.from('{"messages":[]}\n'.repeat(3));
    const send = async (headers = {}) =>
      clientOf(fireworks(), headers).files.create({
        file: await toFile(rows, 'rows.jsonl'),
        purpose: 'fine-tune',
      });
    const sized = await send({ 'x-service-file-upload-size': String(rows.length) });
    const whole = await send();
    const client = clientOf(fireworks());
    for (const { id, bytes } of [sized, whole]) {
      expect(bytes).toBe(rows.length);
      expect(await client.files.retrieve(id)).toMatchObject({ id, status: 'processed' });
      expect(await (await client.files.content(id)).text()).toBe(rows.toString());
    }
    await expect(send({ 'x-service-file-upload-size': '7' })).rejects.toMatchObject({
      status: 400,
      param: 'x-service-file-upload-size',
    });
    // The dataset of the one that failed is gone.
    expect((await client.files.list()).data.map(({ id }) => id)).toEqual([sized.id, whole.id]);
    expect((await client.files.list({ limit: 1, after: sized.id })).data).toHaveLength(1);
    expect(await client.files.delete(sized.id)).toMatchObject({ deleted: true });
    await store.close();
  });

  it('go to Cohere in rows of its own', async () => {
    s.upstream.handle(cohereVendor());
    const client = clientOf(
      { provider: 'cohere', api_key: 'co-key', custom_host: s.upstream.url },
      { 'x-service-provider-model': 'embed-v4.0' },
    );
    const line = (at: number) =>
      JSON.stringify({
        custom_id: `line-${at}`,
        method: 'POST',
        url: '/v1/embeddings',
        body: { model: 'embed-v4.0', input: `text ${at}` },
      });
    const file = await client.files.create({
      file: await toFile(Buffer.from(`${line(1)}\n${line(2)}`), 'a.jsonl'),
      purpose: 'batch',
    });
    const [part] = partsOf(s.upstream.requests.at(-1) as RecordedRequest);
    expect(part?.content.toString()).toBe(
      '{"text":"text 1","custom_id":"line-1"}\n{"text":"text 2","custom_id":"line-2"}\n',
    );
    expect(s.upstream.requests.at(-1)?.path).toContain('keep_fields=custom_id');
    expect(await client.files.retrieve(file.id)).toMatchObject({
      filename: 'a.jsonl',
      bytes: part?.content.length,
      status: 'processed',
    });
    expect((await client.files.list()).data).toHaveLength(1);
    await expect(client.files.retrieve('ds-0')).rejects.toMatchObject({
      status: 404,
      message: expect.stringContaining('dataset ds-0 not found'),
    });
  });
});

describe('files of vendors that follow OpenAI', () => {
  const at = (provider: string) => ({
    provider,
    api_key: 'sk-like',
    custom_host: `${s.upstream.url}/v1`,
  });
  const reply = { id: 'file-9', object: 'file', bytes: 1, purpose: 'batch-api', Processed: true };

  it('have Mistral’s rows and Together’s words, and go on by paths', async () => {
    s.upstream.handle(() => json(200, reply));
    const mistral = clientOf(at('mistral-ai'));
    await mistral.files.create({
      file: await toFile(Buffer.from(batchLine(1)), 'a.jsonl'),
      purpose: 'batch',
    });
    const sent = s.upstream.requests.at(-1) as RecordedRequest;
    const parts = Object.fromEntries(partsOf(sent).map((part) => [part.name, part]));
    expect(sent.path).toBe('/v1/files');
    expect(parts.purpose?.content.toString()).toBe('batch');
    expect(JSON.parse(parts.file?.content.toString() ?? '')).toMatchObject({
      custom_id: 'line-1',
      body: { max_tokens: 10 },
    });
    expect(parts.file?.content.toString()).not.toContain('"url"');

    const made = await clientOf(at('together-ai')).files.create({
      file: await toFile(Buffer.from(batchLine(1)), 'a.jsonl'),
      purpose: 'batch',
    });
    expect(made).toMatchObject({ id: 'file-9', purpose: 'batch', status: 'processed' });
    const together = s.upstream.requests.at(-1) as RecordedRequest;
    expect(together.path).toBe('/v1/files/upload');
    expect(
      partsOf(together).map(({ name, content }) => [name, name === 'file' || content.toString()]),
    ).toEqual([
      ['file', true],
      ['file_name', 'a.jsonl'],
      ['file_type', 'jsonl'],
      ['purpose', 'batch-api'],
    ]);
    await clientOf(at('together-ai')).files.retrieve('file-9');
    expect(s.upstream.requests.at(-1)?.path).toBe('/v1/files/file-9');
  });

  it('pass byte by byte, and at Azure under its version', async () => {
    s.upstream.handle(() => json(200, { id: 'file-1', object: 'file' }));
    const azure = {
      ...at('azure-openai'),
      custom_host: `${s.upstream.url}/openai`,
      azure_api_version: '2025-03-01-preview',
    };
    const body =
      '--b\r\ncontent-disposition: form-data; name="file"; filename="x"\r\n\r\nx\r\n--b--\r\n';
    const answer = await s.call('/v1/files', {
      host: null,
      rawBody: body,
      headers: {
        'x-service-config': JSON.stringify(azure),
        'content-type': 'multipart/form-data; boundary=b',
      },
    });
    expect(answer.status).toBe(200);
    const sent = s.upstream.requests.at(-1);
    expect([sent?.path, sent?.body.toString(), sent?.headers['api-key']]).toEqual([
      '/openai/files?api-version=2025-03-01-preview',
      body,
      'sk-like',
    ]);
    const upload = { id: 'upload_1', object: 'upload', file: { id: 'file-77', object: 'file' } };
    s.upstream.handle(() => json(200, upload));
    const client = clientOf(azure);
    await client.uploads.create({
      bytes: 1,
      filename: 'x',
      mime_type: 'text/plain',
      purpose: 'batch',
    });
    await client.uploads.parts.create('upload_1', { data: await toFile(Buffer.from('x'), 'part') });
    await client.uploads.complete('upload_1', { part_ids: ['part_1'] });
    expect(s.upstream.requests.at(-1)?.path).toBe(
      '/openai/uploads/upload_1/complete?api-version=2025-03-01-preview',
    );
    const stranger = clientOf(azure, {}, await otherKey());
    for (const ask of [
      () => stranger.files.retrieve('file-77'),
      () => stranger.uploads.cancel('upload_1'),
    ])
      await expect(ask()).rejects.toMatchObject({ status: 404 });
    const lacking = await call(
      'POST',
      '/uploads',
      at('groq') && { provider: 'groq', api_key: 'x' },
    );
    expect((await errorOf(lacking)).message).toMatch(/These do: openai, azure/);
  });
});

describe('uploads in parts of the service’s own', () => {
  const own = (apiKey = s.stack.credentials.workspace_key) =>
    new OpenAI({ apiKey, baseURL: `${s.stack.gatewayUrls[0]}/v1`, maxRetries: 0 });
  const create = (bytes: number, client = own()) =>
    client.uploads.create({
      bytes,
      filename: 'lines.jsonl',
      mime_type: 'text/jsonl',
      purpose: 'batch',
    });
  const part = async (id: string, content: Buffer, client = own()) =>
    (await client.uploads.parts.create(id, { data: await toFile(content, 'part') })).id;

  it('are put together in the order in which they are named, and read in ranges', async () => {
    const client = own();
    const halves = [Buffer.alloc(4 * 1024 * 1024 + 1, 'a'), Buffer.alloc(1024, 'b')] as const;
    const upload = await create(halves[0].length + halves[1].length);
    expect(upload).toMatchObject({ object: 'upload', status: 'pending', filename: 'lines.jsonl' });
    expect(upload.expires_at - upload.created_at).toBe(3600);
    const second = await part(upload.id, halves[1]);
    const first = await part(upload.id, halves[0]);
    expect((await client.files.list()).data).toEqual([]);
    for (const [body, code] of [
      [{ part_ids: [first] }, 'upload.parts_invalid'],
      [{ part_ids: [first, first] }, 'upload.parts_invalid'],
      [{ part_ids: ['part_1'] }, 'request.invalid_field'],
      [{ part_ids: [first, second], md5: '0'.repeat(32) }, 'upload.parts_invalid'],
    ] as const)
      await expect(client.uploads.complete(upload.id, body as never)).rejects.toMatchObject({
        code,
      });
    const whole = Buffer.concat(halves);
    const done = await client.uploads.complete(upload.id, {
      part_ids: [first, second],
      md5: createHash('md5').update(whole).digest('hex'),
    });
    expect(done).toMatchObject({
      status: 'completed',
      file: { bytes: whole.length, purpose: 'batch' },
    });
    const id = done.file?.id ?? '';
    const kept = await client.files.content(id);
    expect(Buffer.from(await kept.arrayBuffer()).equals(whole)).toBe(true);
    expect(kept.headers.get('content-disposition')).toBe('attachment; filename="lines.jsonl"');
    for (const [range, from, to] of [
      [
        `bytes=${4 * 1024 * 1024 - 2}-${4 * 1024 * 1024 + 2}`,
        4 * 1024 * 1024 - 2,
        4 * 1024 * 1024 + 3,
      ],
      ['bytes=-3', whole.length - 3, whole.length],
      [`bytes=${whole.length - 1}-`, whole.length - 1, whole.length],
    ] as const) {
      const answer = await client.files.content(id, { headers: { range } });
      expect([answer.status, await answer.text()]).toEqual([
        206,
        whole.toString('latin1', from, to),
      ]);
      expect(answer.headers.get('content-range')).toBe(`bytes ${from}-${to - 1}/${whole.length}`);
    }
    const beyond = client.files.content(id, { headers: { range: `bytes=${whole.length}-` } });
    await expect(beyond).rejects.toMatchObject({ status: 416 });
    const backwards = await client.files.content(id, { headers: { range: 'bytes=5-2' } });
    expect([backwards.status, (await backwards.arrayBuffer()).byteLength]).toEqual([
      200,
      whole.length,
    ]);
    const headOf = (file: string) =>
      fetch(`${s.stack.gatewayUrls[0]}/v1/files/${file}/content`, {
        method: 'HEAD',
        headers: {
          authorization: `Bearer ${s.stack.credentials.workspace_key}`,
          range: 'bytes=0-1',
        },
      });
    const head = await headOf(id);
    expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([
      200,
      String(whole.length),
      '',
    ]);
    expect(head.headers.get('content-disposition')).toBe('attachment; filename="lines.jsonl"');
    expect((await headOf('file-svc_1')).status).toBe(404);
    await expect(client.uploads.complete(upload.id, { part_ids: [] })).rejects.toMatchObject({
      code: 'upload.not_pending',
    });
    await expect(part(upload.id, halves[1])).rejects.toMatchObject({ code: 'upload.not_pending' });
    await client.files.delete(id);
  });

  it('are nobody else’s, end when they are cancelled, and are asked for what they can be', async () => {
    const upload = await create(3);
    const stranger = own(await otherKey());
    for (const ask of [
      () => part(upload.id, Buffer.from('abc'), stranger),
      () => stranger.uploads.cancel(upload.id),
      () => stranger.uploads.complete(upload.id, { part_ids: [] }),
      () => own().uploads.cancel('upload_1'),
    ])
      await expect(ask()).rejects.toMatchObject({ status: 404, code: 'upload.not_found' });
    expect(await own().uploads.cancel(upload.id)).toMatchObject({
      status: 'cancelled',
      file: null,
    });
    await expect(own().uploads.cancel(upload.id)).rejects.toMatchObject({ status: 409 });
    await expect(create(10 ** 12)).rejects.toMatchObject({ code: 'file.too_large' });
    await expect(create(-1)).rejects.toMatchObject({ param: 'body.bytes' });
    await expect(create(1.5)).rejects.toMatchObject({ param: 'body.bytes' });
  });
});

describe('a large file', () => {
  it('flows through, up and down, and is held by nobody', { timeout: 600_000 }, async () => {
    const size = (measuredMb || 9) * 1024 * 1024;
    const key = s.stack.credentials.workspace_key;
    const url = `${s.stack.gatewayUrls[0]}/v1/files`;
    const targets = {
      own: {} as Record<string, string>,
      bedrock: { 'x-service-config': JSON.stringify(bedrock()) },
    };
    for (const [name, headers] of Object.entries(targets)) {
      // The first of a kind loads what it takes.
      await sendLarge(url, { 'x-service-api-key': key, ...headers }, 6 * 1024 * 1024);
      const before = residentMb();
      expect(Object.keys(before).sort()).toEqual(measuredMb > 0 ? ['data-service', 'gateway'] : []);
      const peak = { ...before };
      const timer = setInterval(() => {
        for (const [service, mb] of Object.entries(residentMb()))
          peak[service] = Math.max(peak[service] ?? 0, mb);
      }, 50);
      const sum = await sendLarge(url, { 'x-service-api-key': key, ...headers }, size);
      clearInterval(timer);
      expect(sum).toBe(size);
      for (const service of Object.keys(before)) {
        const more = (peak[service] ?? 0) - (before[service] ?? 0);
        process.stdout.write(`${name}: ${service} ${Math.round(more)} MB more
`);
        expect(more, service).toBeLessThan(50);
      }
    }
  });
});

/** Sends so many bytes as a file, and reads them back: how many came. */
async function sendLarge(url: string, headers: Record<string, string>, size: number) {
  const boundary = 'a-boundary';
  const piece = Buffer.alloc(64 * 1024, 'some bytes ');
  async function* form() {
    yield Buffer.from(
      `--${boundary}\r\ncontent-disposition: form-data; name="purpose"\r\n\r\nuser_data\r\n--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="large"\r\n\r\n`,
    );
    for (let sent = 0; sent < size; sent += piece.length)
      yield piece.subarray(0, Math.min(piece.length, size - sent));
    yield Buffer.from(`\r\n--${boundary}--\r\n`);
  }
  const made = await fetch(url, {
    method: 'POST',
    headers: { ...headers, 'content-type': `multipart/form-data; boundary=${boundary}` },
    body: ReadableStream.from(form()),
    duplex: 'half',
  } as RequestInit);
  const { id } = (await made.json()) as { id: string };
  const content = await fetch(`${url}/${encodeURIComponent(id)}/content`, { headers });
  let bytes = 0;
  for await (const chunk of content.body ?? []) bytes += chunk.length;
  await fetch(`${url}/${encodeURIComponent(id)}`, { method: 'DELETE', headers });
  return bytes;
}

/** Of the processes that this one has started. */
function residentMb(): Record<string, number> {
  const found: Record<string, number> = {};
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name)))
    try {
      const status = readFileSync(`/proc/${pid}/status`, 'utf8');
      const environment = readFileSync(`/proc/${pid}/environ`, 'utf8');
      if (!environment.includes(s.stack.dataDir)) continue;
      const service = /(?:services|built-[\w-]+)\/(gateway|data-service)\//.exec(
        readFileSync(`/proc/${pid}/cmdline`, 'utf8'),
      )?.[1];
      const kb = /^VmRSS:\s+(\d+) kB/m.exec(status)?.[1];
      if (service !== undefined) found[service] = Number(kb) / 1024;
    } catch {
      // It ended meanwhile.
    }
  return measuredMb === 0 ? {} : found;
}
