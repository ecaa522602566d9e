import { json, startGcs, startS3, startUpstream, type Upstream } from '@sluice/testkit';
import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { line, linesIn, question } from './batch-lines.ts';
import { type Scenario, startScenario } from './scenario.ts';
import { shareAccount } from './share-account.ts';
import { anthropicBatchVendor, azureVendor, openAiVendor } from './vendor-batches.ts';
import { bedrockJobs } from './vendors/bedrock-jobs.ts';
import { vertexJobs } from './vendors/vertex-jobs.ts';

/** Rows of files that a provider works through by itself, at an account that two workspaces share. */

let s: Scenario;
let openai: Upstream;
let claude: Upstream;
let azure: Upstream;
let s3: Awaited<ReturnType<typeof startS3>>;
let gcs: Awaited<ReturnType<typeof startGcs>>;
const others: Record<string, string> = {};
const bedrock = bedrockJobs(() => s3);
const vertex = vertexJobs(() => gcs);
const role = 'arn:aws:iam::123456789012:role/batches';

beforeAll(async () => {
  [s, openai, claude, azure, s3, gcs] = await Promise.all([
    startScenario({ logStore: true }),
    startUpstream(openAiVendor('sk-shared')),
    startUpstream(),
    startUpstream(azureVendor('sk-shared')),
    startS3(),
    startGcs(),
  ]);
  const batches = anthropicBatchVendor('sk-shared');
  claude.handle((request) =>
    request.path.startsWith('/v1/files')
      ? json(200, { id: 'file_theirs', type: 'file', filename: 'a', size_bytes: 1 })
      : batches(request),
  );
  s3.serve(bedrock.part);
  gcs.serve(vertex.part);
  others['rows-openai'] = await shareAccount(s, 'rows-openai', openai);
  others['rows-anthropic'] = await shareAccount(s, 'rows-anthropic', claude, 'anthropic');
  others['rows-azure'] = await shareAccount(s, 'rows-azure', azure, 'azure-openai', {
    configurations: {
      custom_host: `${azure.url}/openai`,
      azure_api_version: '2024-10-21',
      azure_deployment_id: 'nights',
    },
  });
  others['rows-bedrock'] = await shareAccount(s, 'rows-bedrock', { url: '' }, 'bedrock', {
    configurations: {
      custom_host: s3.origin,
      aws_access_key_id: s3.accessKeyId,
      aws_secret_access_key: s3.secretAccessKey,
      aws_region: s3.region,
      aws_s3_bucket: s3.bucket,
    },
  });
  others['rows-vertex'] = await shareAccount(s, 'rows-vertex', { url: '' }, 'vertex-ai', {
    key: gcs.token,
    configurations: {
      custom_host: gcs.origin,
      vertex_project_id: 'project',
      vertex_region: vertex.region,
      vertex_storage_bucket_name: gcs.bucket,
    },
  });
});
afterAll(() => Promise.all([s, openai, claude, azure, s3, gcs].map(stop)));

function stop(one: { stop(): unknown } | { close(): unknown } | undefined) {
  return one === undefined ? undefined : 'stop' in one ? one.stop() : one.close();
}

/** @param provider `@slug`; none = the service itself */
function clientOf(provider: string | undefined, apiKey = s.stack.credentials.workspace_key) {
  return new OpenAI({
    apiKey,
    baseURL: `${s.stack.gatewayUrls[0]}/v1`,
    maxRetries: 0,
    defaultHeaders: provider === undefined ? {} : { 'x-service-provider': provider },
  });
}
const beside = (slug: string) => clientOf(`@${slug}`, others[slug]);

async function upload(client: OpenAI, content: string, purpose = 'batch', name?: string) {
  const file = await toFile(Buffer.from(content), 'lines.jsonl');
  const headers = name === undefined ? {} : { 'x-service-provider-file-name': name };
  const asked = { file, purpose: purpose as 'batch' };
  return (await client.files.create(asked, { headers })).id;
}

const create = (client: OpenAI, file: string, over: object = {}) =>
  client.batches.create({
    input_file_id: file,
    endpoint: '/v1/chat/completions',
    completion_window: '24h',
    ...over,
  });

const withFile = (id: string) => ({
  model: 'gpt-4o-mini',
  messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: id } }] }],
});
const response = (id: string) =>
  line('r', { model: 'm', previous_response_id: id, input: 'Hi' }, '/v1/responses');

describe('rows of a batch at OpenAI', () => {
  const mine = () => clientOf('@rows-openai');

  it('may not name another workspace’s file, and nothing is made of them', async () => {
    const theirs = await upload(beside('rows-openai'), 'theirs');
    const own = await upload(mine(), 'mine');
    const rows = [
      line('own', withFile(own)),
      '',
      line('unknown', withFile('file-of-nobody')),
      // Spelled as some reader would not see it.
      line('theirs', withFile(theirs)).replace('"file_id"', '"file\\u005fid"'),
    ];
    const file = await upload(mine(), rows.join('\r\n'));
    const seen = openai.requests.length;
    await expect(create(mine(), file)).rejects.toMatchObject({
      status: 404,
      code: 'object.owner_unknown',
      param: 'line 4.body.messages.*.content.*.file.file_id',
    });
    const asked = openai.requests.slice(seen).map(({ method, path }) => `${method} ${path}`);
    expect(asked).toEqual([`GET /v1/files/${file}/content`]);
    // Whoever has it may.
    const same = await upload(beside('rows-openai'), rows.slice(3).join('\n'));
    expect(await create(beside('rows-openai'), same)).toMatchObject({ object: 'batch' });
  });

  it('may name one’s own, and what nobody knows', async () => {
    const own = await upload(mine(), 'mine');
    const rows = [line('a', question('Hi')), line('b', withFile(own)), response('resp_unknown')];
    for (const content of [rows.join('\n'), `\ufeff${rows.join('\n')}\n`])
      expect(await create(mine(), await upload(mine(), content))).toMatchObject({
        object: 'batch',
      });
  });

  it.each([
    ['is cut off', `${line('a', question('Hi'))}\n{"custom_id":"b"`, 'line 2'],
    ['has a comment', '{/*"*/"custom_id":"b"/*"*/}', 'line 1'],
    ['is a list', `[${line('a', question('Hi'))}]`, 'line 1'],
    ['has two in it', `${line('a', question('Hi'))}\r${line('b', question('Hi'))}`, 'line 1'],
  ])('are refused where one %s', async (_, content, param) => {
    const file = await upload(mine(), content);
    const seen = openai.requests.length;
    await expect(create(mine(), file)).rejects.toMatchObject({ status: 400, param });
    expect(openai.requests.slice(seen).filter(({ method }) => method === 'POST')).toEqual([]);
  });

  it('are not read beside a credential of one’s own', async () => {
    const theirs = await upload(beside('rows-openai'), 'theirs');
    const own = new OpenAI({
      apiKey: s.stack.credentials.workspace_key,
      baseURL: `${s.stack.gatewayUrls[0]}/v1`,
      maxRetries: 0,
      defaultHeaders: {
        'x-service-config': JSON.stringify({
          provider: 'openai',
          api_key: 'sk-shared',
          custom_host: `${openai.url}/v1`,
        }),
      },
    });
    const file = await upload(own, line('a', withFile(theirs)));
    const seen = openai.requests.length;
    expect(await create(own, file)).toMatchObject({ object: 'batch' });
    expect(openai.requests.slice(seen)).toHaveLength(1);
  });

  it('are read under every address, and only where they can be', async () => {
    const theirs = await upload(beside('rows-openai'), 'theirs');
    const file = await upload(mine(), line('a', withFile(theirs)));
    const post = (path: string, body: object | string) =>
      s.call(path, {
        host: null,
        headers: { 'x-service-provider': '@rows-openai' },
        rawBody: typeof body === 'string' ? body : JSON.stringify(body),
      });
    const body = {
      input_file_id: file,
      endpoint: '/v1/chat/completions',
      completion_window: '24h',
    };
    for (const path of [
      '/v1/batches',
      '/v1/proxy/batches',
      '/v1/openai/v1/batches',
      '/v1//Batches',
    ])
      expect((await post(path, body)).status, path).toBe(404);
    const deep = `{"x":${'['.repeat(600)}${']'.repeat(600)},${JSON.stringify(body).slice(1)}`;
    expect((await post('/v1/proxy/batches', deep)).status).toBe(400);
    const blob = { ...body, input_file_id: undefined, input_blob: 'https://a.blob/rows.jsonl' };
    for (const path of ['/v1/batches', '/v1/proxy/batches'])
      expect((await post(path, blob)).status, path).toBe(400);
    expect((await post('/v1/batches', { ...body, input_file_id: 'file-none' })).status).toBe(400);
  });

  it('are read before the service has its own batch run there', async () => {
    const theirs = await upload(beside('rows-openai'), 'theirs');
    const service = clientOf(undefined);
    const file = await upload(service, line('a', withFile(theirs)));
    const batch = await create(service, file, { service_options: { provider: '@rows-openai' } });
    await expect.poll(async () => (await service.batches.retrieve(batch.id)).status).toBe('failed');
    const { errors } = await service.batches.retrieve(batch.id);
    expect(JSON.stringify(errors)).toContain('known here');
  });
});

describe('a file that goes up to Azure in parts', () => {
  const mine = () => clientOf('@rows-azure');
  const part = (content: string) => toFile(Buffer.from(content), 'part');

  async function uploadParts(content: string, sizes: readonly number[]) {
    const { uploads } = mine();
    const bytes = Buffer.byteLength(content);
    const made = { bytes, filename: 'lines.jsonl', mime_type: 'application/jsonl' };
    const { id } = await uploads.create({ ...made, purpose: 'batch' });
    const part_ids: string[] = [];
    let at = 0;
    for (const size of sizes) {
      const data = await part(content.slice(at, at + size));
      part_ids.push((await uploads.parts.create(id, { data })).id);
      at += size;
    }
    return { id, part_ids };
  }

  it('is one workspace’s until it is whole, and over once', async () => {
    const content = line('a', question('Hi'));
    const { id, part_ids } = await uploadParts(content, [10, 1000]);
    const theirs = beside('rows-azure').uploads;
    for (const ask of [
      async () => theirs.parts.create(id, { data: await part('x') }),
      () => theirs.complete(id, { part_ids }),
      () => theirs.cancel(id),
    ])
      await expect(ask()).rejects.toMatchObject({ status: 404 });
    const { uploads } = mine();
    for (const wrong of [part_ids.slice(1), [...part_ids, 'part_none'], []])
      await expect(uploads.complete(id, { part_ids: wrong })).rejects.toMatchObject({
        status: 400,
      });
    const { file } = await uploads.complete(id, { part_ids });
    await expect(uploads.complete(id, { part_ids })).rejects.toMatchObject({ status: 400 });
    await expect(uploads.cancel(id)).rejects.toMatchObject({ status: 400 });
    await expect(beside('rows-azure').files.content(file?.id ?? '')).rejects.toMatchObject({
      status: 404,
    });
    const left = await uploadParts(content, [5]);
    expect((await uploads.cancel(left.id)).status).toBe('cancelled');
    await expect(uploads.parts.create(left.id, { data: await part('x') })).rejects.toMatchObject({
      status: 400,
    });
    // Nothing failed: there is no file of errors, and Azure does not say so.
    const batch = await create(mine(), file?.id ?? '');
    await expect
      .poll(async () => (await mine().batches.retrieve(batch.id)).status)
      .toBe('completed');
    expect(await mine().batches.retrieve(batch.id)).not.toHaveProperty('error_file_id');
    const output = await s.call(`/v1/batches/${batch.id}/output`, {
      method: 'GET',
      host: null,
      headers: { 'x-service-provider': '@rows-azure' },
    });
    expect(linesIn(await output.text()).map(({ custom_id }) => custom_id)).toEqual(['a']);
  });

  it('is read as any other before a batch is made of it', async () => {
    const theirs = await upload(beside('rows-azure'), 'theirs');
    const content = [line('a', question('Hi')), line('b', withFile(theirs))].join('\n');
    // The name itself goes up in two parts.
    const cut = content.lastIndexOf(theirs) + 3;
    const { id, part_ids } = await uploadParts(content, [cut, 1000]);
    const { file } = await mine().uploads.complete(id, { part_ids });
    await expect(create(mine(), file?.id ?? '')).rejects.toMatchObject({
      status: 404,
      param: 'line 2.body.messages.*.content.*.file.file_id',
    });
  });
});

describe('rows of a batch at Anthropic', () => {
  const mine = () => clientOf('@rows-anthropic');
  const params = (id: string) => ({
    model: 'claude-haiku-4-5',
    max_tokens: 9,
    messages: [
      {
        role: 'user',
        content: [{ type: 'document', source: { type: 'file', file_id: id } }],
      },
    ],
  });

  it('are those of the service’s file, or of the body', async () => {
    const theirs = await upload(beside('rows-anthropic'), 'theirs', 'user_data');
    const lines = (id: string) => line('a', params(id), '/v1/messages');
    const file = await upload(clientOf(undefined), lines(theirs));
    const own = await upload(clientOf(undefined), lines('file_unknown'));
    const endpoint = '/v1/messages';
    await expect(create(mine(), file, { endpoint })).rejects.toMatchObject({
      status: 404,
      param: 'line 1.body.messages.*.content.*.source.file_id',
    });
    expect(await create(mine(), own, { endpoint })).toMatchObject({ object: 'batch' });
    const requests = [{ custom_id: 'a', params: params(theirs) }];
    const made = claude.requests.length;
    for (const over of [{ requests }, { provider_options: { requests } }])
      await expect(
        create(mine(), '', { endpoint, input_file_id: undefined, ...over }),
      ).rejects.toMatchObject({ status: 404 });
    expect(claude.requests).toHaveLength(made);
  });
});

describe.each([
  ['Bedrock', 'rows-bedrock', 's3', () => s3, { role_arn: role }],
  ['Vertex AI', 'rows-vertex', 'gs', () => gcs, {}],
] as const)('rows of a file in the bucket of %s', (_, slug, scheme, store, over) => {
  const mine = () => clientOf(`@${slug}`);
  const model = scheme === 's3' ? 'anthropic.claude-3-5-sonnet-20240620-v1:0' : 'gemini-2.5-flash';
  const uri = (name: string) => `${scheme}://${store().bucket}/${name}`;
  const ask = (name: string) =>
    JSON.stringify({
      recordId: 'a',
      modelInput: { messages: [{ role: 'user', content: [{ anything: { uri: uri(name) } }] }] },
    });

  it('may not name another workspace’s, wherever they do', async () => {
    await upload(mine(), 'mine', 'user_data', 'mine.txt');
    const rows = `${ask('mine.txt')}\n${ask('theirs.txt')}`;
    const file = await upload(mine(), rows, 'user_data');
    await upload(beside(slug), 'theirs', 'user_data', 'theirs.txt');
    // It is refused on its way, too, whatever it is said to be, and nothing of it stays.
    for (const [content, purpose] of [
      [rows, 'batch'],
      [`no row\n${rows}`, 'user_data'],
      [`${rows.replaceAll('/', '\\u002f')}\n`, 'fine-tune'],
    ] as const)
      await expect(upload(mine(), content, purpose, 'again.jsonl')).rejects.toMatchObject({
        status: 404,
        code: 'object.owner_unknown',
      });
    expect(store().objects.has('again.jsonl')).toBe(false);
    await expect(create(mine(), file, { model, ...over })).rejects.toMatchObject({
      status: 404,
      code: 'object.owner_unknown',
      param: 'line 2',
    });
    const own = await upload(mine(), `${ask('mine.txt')}\n${ask('nobodys.txt')}`, 'user_data');
    expect(await create(mine(), own, { model, ...over })).toMatchObject({ object: 'batch' });
  });

  it('are those of one file, and not of a folder', async () => {
    for (const name of ['', 'folder/', '*.jsonl'])
      await expect(create(mine(), uri(name), { model, ...over }), name).rejects.toMatchObject({
        status: 400,
      });
  });

  it('to learn from may name no other workspace’s either', async () => {
    const lesson = await upload(mine(), ask('lesson.txt'), 'fine-tune');
    await upload(beside(slug), 'theirs', 'user_data', 'lesson.txt');
    const plain = await upload(mine(), ask('none.txt'), 'fine-tune');
    const tune = (training_file: string, validation_file?: string) =>
      mine().fineTuning.jobs.create({
        model: scheme === 's3' ? 'amazon.nova-lite-v1:0' : model,
        training_file,
        suffix: `of-${Math.random().toString(36).slice(2)}`,
        ...(validation_file === undefined ? {} : { validation_file }),
        ...over,
      } as OpenAI.FineTuning.JobCreateParams);
    for (const files of [[lesson], [plain, lesson]] as const)
      await expect(tune(...(files as [string]))).rejects.toMatchObject({
        status: 404,
        code: 'object.owner_unknown',
      });
    expect(await tune(plain)).toMatchObject({ object: 'fine_tuning.job' });
  });
});
