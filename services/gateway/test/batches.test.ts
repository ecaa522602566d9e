import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  jobTokenLifeMs,
  jobTokenSeal,
  storedId,
  uuidOfStored,
  writeBatchLine,
} from '@sluice/contracts';
import { jobs } from '@sluice/proto-stubs';
import { createRpcClient } from '@sluice/rpc';
import { eventually, json, waitMs } from '@sluice/testkit';
import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answersSlowly, line, linesIn, manyLines, question } from './batch-lines.ts';
import { provesBatchRules } from './proves-batch-rules.ts';
import { linesAtOnce, provesKilledBatches } from './proves-killed-batches.ts';
import { provesKilledResponses } from './proves-killed-responses.ts';
import { chatReply, errorOf, type Scenario, startScenario } from './scenario.ts';

const isFull = process.env.SLUICE_BATCHES === 'full';

let s: Scenario;
let client: OpenAI;

beforeAll(async () => {
  s = await startScenario({
    promptLedger: true,
    logStore: true,
    processes: isFull ? true : ['data-service'],
    environment: {
      gateway: { READ_ON_MAX: String(linesAtOnce) },
      'data-service': isFull
        ? {}
        : {
            BATCH_LOOK_INTERVAL: '100',
            BATCH_LEASE: '1500',
            BATCH_LINES_MAX: '1000',
            FILE_BYTES_MAX: String(6 * 1024 * 1024),
          },
    },
  });
  client = clientOf(s.stack.credentials.workspace_key);
});
afterAll(() => s?.stop());

function clientOf(apiKey: string): OpenAI {
  return new OpenAI({ apiKey, baseURL: `${s.stack.gatewayUrls[0]}/v1`, maxRetries: 0 });
}

const canary = 'sk-canary-of-a-config';

async function makeBatch(
  lines: readonly string[],
  {
    by = client,
    options,
    endpoint = '/v1/chat/completions',
    kept,
  }: {
    by?: OpenAI;
    options?: object;
    endpoint?: OpenAI.BatchCreateParams['endpoint'];
    kept?: OpenAI.BatchCreateParams['output_expires_after'];
  } = {},
) {
  const file = await by.files.create({
    file: await toFile(Buffer.from(lines.join('\n')), 'lines.jsonl'),
    purpose: 'batch',
  });
  return by.batches.create({
    input_file_id: file.id,
    endpoint,
    completion_window: 'immediate' as '24h',
    metadata: { night: 'first' },
    ...(kept && { output_expires_after: kept }),
    ...({ service_options: options ?? atUpstream() } as object),
  });
}

/** What the lines are routed by: our upstream, with a key that is nowhere to be seen. */
const atUpstream = () => ({
  config: { provider: 'openai', api_key: canary, custom_host: `${s.upstream.url}/v1` },
});

type Batch = Awaited<ReturnType<OpenAI['batches']['retrieve']>>;

const ended = (id: string, status: Batch['status'], by = client, timeoutMs?: number) =>
  eventually(
    async () => {
      const now = await by.batches.retrieve(id);
      expect(now).toMatchObject({ status });
      return now;
    },
    { timeoutMs, intervalMs: isFull ? 1000 : 50 },
  );

const call = (method: string, path: string, over: Parameters<Scenario['call']>[1] = {}) =>
  s.call(path, { method, host: null, ...over });

describe('files of the service', () => {
  it('come back byte for byte, are listed, and go', async () => {
    // Those of a go that failed would be listed, too.
    for await (const { id } of client.files.list()) await client.files.delete(id);
    const content = Buffer.alloc(5 * 1024 * 1024 + 17, 'some bytes ');
    const file = await client.files.create({
      file: await toFile(content, 'ünïcode name.jsonl'),
      purpose: 'batch',
    });
    expect(file).toMatchObject({
      object: 'file',
      bytes: content.length,
      filename: 'ünïcode name.jsonl',
      purpose: 'batch',
      status: 'processed',
    });
    expect(file.id).toMatch(/^file-svc_[0-9a-f]{32}$/);
    expect(await client.files.retrieve(file.id)).toEqual(file);
    const kept = await client.files.content(file.id);
    expect(Buffer.from(await kept.arrayBuffer()).equals(content)).toBe(true);

    const more = await client.files.create({
      file: await toFile(Buffer.alloc(0), 'none'),
      purpose: 'user_data',
      expires_after: { anchor: 'created_at', seconds: 3600 },
    });
    expect((more.expires_at ?? 0) - more.created_at).toBe(3600);
    expect(await (await client.files.content(more.id)).text()).toBe('');
    const ids = async (query: object) => (await client.files.list(query)).data.map(({ id }) => id);
    expect(await ids({ purpose: 'user_data' })).toEqual([more.id]);
    expect(await ids({ limit: 1 })).toEqual([more.id]);
    expect(await ids({ limit: 1, after: more.id })).toEqual([file.id]);
    expect(await ids({ order: 'asc', limit: 1 })).toEqual([file.id]);
    const odd = await call('GET', '/v1/files?purpose=%00');
    expect(await errorOf(odd)).toMatchObject({ status: 400, param: 'query.purpose' });
    expect(await client.files.delete(file.id)).toEqual({
      id: file.id,
      object: 'file',
      deleted: true,
    });
    await expect(client.files.retrieve(file.id)).rejects.toMatchObject({ status: 404 });
    await expect(client.files.content(file.id)).rejects.toMatchObject({ status: 404 });
  });

  it('are nobody else’s', async () => {
    const file = await client.files.create({
      file: await toFile(Buffer.from('ours'), 'ours.txt'),
      purpose: 'user_data',
    });
    const other = await otherWorkspace();
    const stranger = clientOf(other);
    expect((await stranger.files.list()).data).toEqual([]);
    for (const ask of [
      () => stranger.files.retrieve(file.id),
      () => stranger.files.content(file.id),
      () => stranger.files.delete(file.id),
      () =>
        stranger.batches.create({
          input_file_id: file.id,
          endpoint: '/v1/chat/completions',
          completion_window: '24h',
        }),
    ])
      await expect(ask()).rejects.toMatchObject({ status: 404, code: 'file.not_found' });
    expect(await (await client.files.content(file.id)).text()).toBe('ours');
  });

  it('are refused when the form is none, too large, or says something else', async () => {
    const form = (fields: Record<string, string | Blob>) => {
      const body = new FormData();
      for (const [name, value] of Object.entries(fields)) body.set(name, value);
      return body;
    };
    const send = async (rawBody: RequestInit['body'], type?: string) => {
      const headers = new Headers({ 'x-service-api-key': s.stack.credentials.workspace_key });
      if (type !== undefined) headers.set('content-type', type);
      const init = { method: 'POST', headers, body: rawBody ?? null };
      const { status, code } = await errorOf(
        await fetch(`${s.stack.gatewayUrls[0]}/v1/files`, init),
      );
      return [status, code];
    };
    const file = new Blob(['content']);
    expect(await send('{}', 'application/json')).toEqual([400, 'request.invalid_form']);
    expect(await send('--x', 'multipart/form-data')).toEqual([400, 'request.invalid_form']);
    expect(await send('--x\r\n', 'multipart/form-data; boundary=x')).toEqual([
      400,
      'request.invalid_form',
    ]);
    expect(await send(form({ purpose: 'batch' }))).toEqual([400, 'request.invalid_form']);
    expect(await send(form({ other: file, purpose: 'batch' }))).toEqual([
      400,
      'request.invalid_form',
    ]);
    expect(await send(form({ file }))).toEqual([400, 'request.invalid_field']);
    expect(await send(form({ file, purpose: 'batch_output' }))).toEqual([
      400,
      'request.invalid_field',
    ]);
    const oneText = '{"anchor":"created_at","seconds":3600}';
    expect(await send(form({ file, purpose: 'batch', expires_after: oneText }))).toEqual([
      400,
      'request.invalid_field',
    ]);
    const large = new Blob([Buffer.alloc(7 * 1024 * 1024)]);
    if (!isFull)
      expect(await send(form({ purpose: 'batch', file: large }))).toEqual([413, 'file.too_large']);
    for (const query of ['limit=0', 'limit=x', 'after=file-abc', 'order=up'])
      expect((await errorOf(await call('GET', `/v1/files?${query}`))).code).toBe(
        'request.invalid_field',
      );
  });
});

async function otherWorkspace(): Promise<string> {
  const { id } = await s.admin<{ id: string }>('POST', '/admin/workspaces', {
    name: `Others ${Math.random()}`,
  });
  return (await newKey({ workspace_id: id })).key;
}

function newKey(fields: object = {}): Promise<{ id: string; key: string }> {
  return s.admin('POST', '/api-keys/workspace/service', {
    name: `of a test ${Math.random()}`,
    scopes: ['completions.write'],
    workspace_id: s.stack.credentials.workspace_id,
    ...fields,
  });
}

describe('a batch that the gateway runs', () => {
  it('calls each line of @demo for its key, and gives its answers by custom_id (B1)', async () => {
    const { demo_provider: demo } = s.stack.credentials;
    const lines = Array.from({ length: 40 }, (_, at) =>
      line(`line ${at}`, { ...question(`Question ${at}`), model: `${demo}/demo-chat` }),
    );
    lines.push(line('no such model', { ...question('?'), model: '@nobody/x' }));
    const kept = { anchor: 'created_at', seconds: 7200 } as const;
    const batch = await makeBatch(lines, { options: {}, kept });
    expect(batch).toMatchObject({ object: 'batch', status: 'validating', output_file_id: null });
    const end = await ended(batch.id, 'completed');
    expect(end.request_counts).toEqual({ total: 41, completed: 40, failed: 1 });
    expect(end.metadata).toEqual({ night: 'first' });
    const answers = linesIn(await (await client.files.content(end.output_file_id ?? '')).text());
    expect(answers.map(({ custom_id }) => custom_id).sort()).toEqual(
      lines
        .slice(0, -1)
        .map((_, at) => `line ${at}`)
        .sort(),
    );
    const [first] = answers.filter(({ custom_id }) => custom_id === 'line 7');
    expect(first).toMatchObject({ error: null, response: { status_code: 200 } });
    expect(JSON.stringify(first?.response?.body)).toContain('Question 7');
    const errors = linesIn(await (await client.files.content(end.error_file_id ?? '')).text());
    expect(errors).toMatchObject([{ custom_id: 'no such model', error: null }]);
    for (const id of [end.output_file_id, end.error_file_id]) {
      const file = await client.files.retrieve(id ?? '');
      expect((file.expires_at ?? 0) - file.created_at).toBe(7200);
    }
    const output = await call('GET', `/v1/batches/${batch.id}/output`);
    expect(output.headers.get('content-type')).toBe('application/octet-stream');
    expect(linesIn(await output.text())).toEqual([...answers, ...errors]);
    expect((await client.batches.list({ limit: 1 })).data).toEqual([end]);
    expect(JSON.stringify(await client.batches.list())).not.toContain(canary);
  });

  it('fails before anything is called where a line cannot be run', async () => {
    const before = s.upstream.requests.length;
    const lines = [line('a', question('a')), line('a', question('b')), '{"custom_id":"c"'];
    const batch = await makeBatch(lines);
    const end = await ended(batch.id, 'failed');
    expect(end.errors?.data).toMatchObject([
      { code: 'duplicate_custom_id', line: 2, param: 'custom_id' },
      { code: 'invalid_json_line', line: 3 },
    ]);
    expect(s.upstream.requests.length).toBe(before);
    const output = await call('GET', `/v1/batches/${batch.id}/output`);
    expect([output.status, await output.text()]).toEqual([200, '']);
  });

  it('is refused when it asks for what there is not', async () => {
    const file = await client.files.create({
      file: await toFile(Buffer.from(line('a', question('a'))), 'lines.jsonl'),
      purpose: 'batch',
    });
    const notes = await client.files.create({
      file: await toFile(Buffer.from('text'), 'notes.txt'),
      purpose: 'user_data',
    });
    const good = {
      input_file_id: file.id,
      endpoint: '/v1/chat/completions',
      completion_window: '24h',
    };
    const refused = async (body: object) => {
      const { status, param } = await errorOf(await call('POST', '/v1/batches', { body }));
      return [status, param];
    };
    expect(await refused({ ...good, input_file_id: 7 })).toEqual([400, 'body.input_file_id']);
    expect(await refused({ ...good, input_file_id: 'file-x' })).toEqual([
      404,
      'body.input_file_id',
    ]);
    expect(await refused({ ...good, input_file_id: notes.id })).toEqual([
      400,
      'body.input_file_id',
    ]);
    expect(await refused({ ...good, endpoint: '/v1/models' })).toEqual([400, 'body.endpoint']);
    for (const window of ['now', '0h', '200h', 24])
      expect(await refused({ ...good, completion_window: window })).toEqual([
        400,
        'body.completion_window',
      ]);
    for (const output_expires_after of [
      7,
      { anchor: 'last_active_at', seconds: 3600 },
      { anchor: 'created_at', seconds: 3599 },
    ])
      expect(await refused({ ...good, output_expires_after })).toEqual([
        400,
        'body.output_expires_after',
      ]);
    for (const metadata of [{ a: 1 }, { a: '\0' }, { 'a\0': 'b' }, { a: '\ud800' }])
      expect(await refused({ ...good, metadata })).toEqual([400, 'body.metadata']);
    expect(await refused({ ...good, service_options: { authorization: 'Bearer x' } })).toEqual([
      400,
      'body.service_options',
    ]);
    for (const path of ['/v1/batches/batch_x', '/v1/batches/batch_x/output'])
      expect((await call('GET', path)).status).toBe(404);
    const named = await call('GET', '/v1/batches', { host: `${s.upstream.url}/v1` });
    expect(named.status).toBe(200);
    expect(s.upstream.requests.at(-1)?.path).toBe('/v1/batches');
  });

  it('waits where the limits of its key refuse, and ends with what the key may do', async () => {
    s.upstream.handle(json(200, chatReply));
    const { key } = await newKey({ rate_limits: [{ type: 'requests', unit: 'rps', value: 5 }] });
    const limited = clientOf(key);
    const lines = Array.from({ length: 9 }, (_, at) =>
      line(`paced ${at}`, question(`paced ${at}`)),
    );
    const startedAt = Date.now();
    const batch = await makeBatch(lines, { by: limited });
    const end = await ended(batch.id, 'completed', limited);
    expect(end.request_counts).toEqual({ total: 9, completed: 9, failed: 0 });
    expect(Date.now() - startedAt).toBeGreaterThan(900);
  });

  it('stops when its key ends, with that reason and what was answered', async () => {
    let asked = 0;
    s.upstream.handle(() => {
      asked += 1;
      return answersSlowly(50)();
    });
    const { id, key } = await newKey();
    const lines = Array.from({ length: manyLines }, (_, at) =>
      line(`ended ${at}`, question(`${at}`)),
    );
    const batch = await makeBatch(lines, { by: clientOf(key) });
    await eventually(() => asked > 0);
    await s.admin('DELETE', `/api-keys/${id}`);
    const end = await ended(batch.id, 'failed');
    expect(end.errors?.data).toMatchObject([{ code: 'key_ended' }]);
    expect(end.request_counts?.completed).toBeGreaterThan(0);
    expect(asked).toBeLessThan(manyLines);
    const output = linesIn(await (await call('GET', `/v1/batches/${batch.id}/output`)).text());
    const notRun = output.filter(({ response }) => response === null);
    expect(output).toHaveLength(manyLines);
    expect(output.length - notRun.length).toBe(end.request_counts?.completed);
    expect(new Set(notRun.map(({ error }) => error?.code))).toEqual(new Set(['key_ended']));
  });

  it('is no worse for a provider whose refusals are spelled as ours are', async () => {
    // Another gateway of our kind: its key ended, not that of the batch.
    s.upstream.handle(json(401, { error: { code: 'auth.expired_key', message: 'Expired.' } }));
    const batch = await makeBatch([line('theirs', question('theirs'))]);
    const end = await ended(batch.id, 'completed');
    expect(end.request_counts).toEqual({ total: 1, completed: 0, failed: 1 });
  });

  it('is cancelled, with what was answered by then; what was not run can be tried again', async () => {
    s.upstream.handle(answersSlowly(50));
    const lines = Array.from({ length: manyLines }, (_, at) =>
      line(`cut ${at}`, question(`${at}`)),
    );
    const batch = await makeBatch(lines);
    await ended(batch.id, 'in_progress');
    const early = await call('GET', `/v1/batches/${batch.id}/output`);
    expect([early.status, early.headers.get('retry-after')]).toEqual([409, '5']);
    expect((await client.batches.cancel(batch.id)).status).toBe('cancelling');
    const end = await ended(batch.id, 'cancelled');
    expect(end.request_counts?.completed).toBeLessThan(manyLines);
    await expect(client.batches.cancel(batch.id)).resolves.toMatchObject({ status: 'cancelled' });
    const { completed, failed } = end.request_counts!;
    expect(completed + failed).toBe(manyLines);
    const again = await call('POST', '/v1/batches', {
      body: {
        retry_of: batch.id,
        completion_window: 'immediate',
        service_options: atUpstream(),
      },
    });
    expect(again.status, await again.clone().text()).toBe(200);
    const retried = await ended(((await again.json()) as { id: string }).id, 'completed');
    expect(retried.request_counts).toEqual({ total: failed, completed: failed, failed: 0 });
    // As it was published once.
    const { dataServiceUrl } = s.stack;
    const shown = await (await fetch(`${dataServiceUrl}/metrics`)).text();
    expect(shown).toMatch(/^batch_count\{[^}]*type="custom"[^}]*\} \d/m);
    expect(shown).toMatch(/^batch_success_row_count\{.*\} \d{3,}/m);
    expect(shown).toMatch(/^batch_input_tokens\{.*\} \d{3,}/m);
  });

  it('speaks for its key by a token that opens its endpoint, for its lines, while it lasts', async () => {
    s.upstream.handle(answersSlowly(50));
    const lines = Array.from({ length: manyLines }, (_, at) =>
      line(`open ${at}`, question(`${at}`)),
    );
    const batch = await makeBatch(lines);
    const batchId = uuidOfStored('batch', batch.id) ?? '';
    const seal = jobTokenSeal(s.stack.serviceToken);
    const headers = { 'x-service-config': JSON.stringify(atUpstream().config) };
    const endpoint = '/v1/chat/completions';
    const send = async ({
      token = seal.sign({ batchId, endpoint }, Date.now()),
      of = batchId,
      path = endpoint,
      method = 'POST',
    } = {}) => {
      const response = await fetch(`${s.stack.gatewayUrls[0]}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          'x-sluice-batch-line': writeBatchLine({ batchId: of, customId: 'probe', headers }),
        },
        body: method === 'GET' ? null : JSON.stringify(question('probe')),
      });
      return [response.status, (await errorOf(response)).code];
    };
    expect((await send())[0]).toBe(200);
    const refused = [401, 'auth.job_token'];
    expect(await send({ path: '/v1/messages' })).toEqual(refused);
    expect(await send({ path: '/v1/batches' })).toEqual(refused);
    expect(await send({ path: '/v1/models', method: 'GET' })).toEqual(refused);
    expect(await send({ of: crypto.randomUUID() })).toEqual(refused);
    const signed = (seals: typeof seal, atMs: number, id = batchId) =>
      seals.sign({ batchId: id, endpoint }, atMs);
    expect(await send({ token: signed(seal, Date.now() - jobTokenLifeMs) })).toEqual(refused);
    expect(await send({ token: signed(jobTokenSeal('guessed'), Date.now()) })).toEqual(refused);
    const nobodys = crypto.randomUUID();
    expect(await send({ token: signed(seal, Date.now(), nobodys), of: nobodys })).toEqual([
      401,
      'auth.invalid_key',
    ]);
    await client.batches.cancel(batch.id);
    await ended(batch.id, 'cancelled');
  });

  it('expires with what was answered by then, and names what was not run', async () => {
    s.upstream.handle(json(200, chatReply));
    const { organisation_id: organisationId, workspace_id: workspaceId } = s.stack.credentials;
    const { id, key } = await newKey({
      rate_limits: [{ type: 'requests', unit: 'rps', value: 1 }],
    });
    const lines = Array.from({ length: 30 }, (_, at) => line(`late ${at}`, question(`${at}`)));
    const file = await clientOf(key).files.create({
      file: await toFile(Buffer.from(lines.join('\n')), 'lines.jsonl'),
      purpose: 'batch',
    });
    // As a gateway asks, for less time than callers may.
    const registry = createRpcClient(jobs.BatchService, {
      address: `127.0.0.1:${s.stack.ports.controlPlaneGrpc}`,
      token: s.stack.serviceToken,
    });
    const { batch } = await registry.unary(
      jobs.BatchService.method.createBatch,
      {
        owner: { organisationId, workspaceId, apiKeyId: id },
        inputFileId: uuidOfStored('file', file.id) ?? '',
        endpoint: '/v1/chat/completions',
        completionWindow: 'immediate',
        headersJson: JSON.stringify({ 'x-service-config': JSON.stringify(atUpstream().config) }),
        windowMs: 1500n,
      },
      { timeoutMs: waitMs },
    );
    registry.close();
    const end = await ended(storedId('batch', batch?.id ?? ''), 'expired');
    const { total, completed = 0, failed = 0 } = end.request_counts ?? {};
    expect([total, completed + failed]).toEqual([30, 30]);
    expect(completed).toBeGreaterThan(0);
    const errors = linesIn(await (await client.files.content(end.error_file_id ?? '')).text());
    expect(errors).toHaveLength(failed);
    expect(errors[0]).toMatchObject({ response: null, error: { code: 'batch_expired' } });
  });

  provesKilledBatches({
    scenario: () => s,
    makeBatch,
    ended: (id, status, timeoutMs) => ended(id, status, client, timeoutMs),
    canary,
    isFull,
  });

  provesBatchRules({ scenario: () => s, clientOf, makeBatch, ended });

  // The short form is of kept-responses.test.ts.
  if (isFull) provesKilledResponses(() => s);

  it('leaves nothing in the store that can be read, and no credential', async () => {
    const names = await readdir(join(s.stack.dataDir, 'logs'), {
      recursive: true,
      withFileTypes: true,
    });
    const files = names.filter((each) => each.isFile());
    const own = files.filter(({ parentPath }) => /\/logs\/(?:files|batches)\//.test(parentPath));
    expect(own.length).toBeGreaterThan(0);
    for (const file of files) {
      const content = await readFile(join(file.parentPath, file.name));
      expect(content.includes(canary), file.name).toBe(false);
      if (own.includes(file)) expect(content.includes('custom_id'), file.name).toBe(false);
    }
  });
});
