import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import {
  bytes,
  eventually,
  inDatabase,
  json,
  type RecordedRequest,
  startS3,
  startStack,
  startUpstream,
  type TestStack,
} from '@sluice/testkit';
import { expect, it } from 'vitest';
import { connectClickHouse } from '../src/clickhouse/connect.ts';

/** What the upstream answers, of what it was asked. */
const answerOf = (content: string) => ({
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'gpt-4o-mini',
  choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
});

/**
 * A byte search finds nothing in compressed columns, so the tables are asked
 * themselves; and a spool is fullest when its gateway is killed while the store is away.
 */
it('bodies are in no column of the ledger, and after a kill with a full spool in the store alone', async () => {
  const [s3, upstream] = await Promise.all([startS3(), startUpstream()]);
  const stack = await startStack({
    promptLedger: true,
    processes: ['gateway'],
    logStore: true,
    environment: {
      gateway: {
        CONTENT_SPOOL_BYTES_MAX: '1048576',
        LOG_STORE: 's3_custom',
        LOG_STORE_BASEPATH: s3.basePath,
        LOG_STORE_REGION: s3.region,
        LOG_STORE_ACCESS_KEY: s3.accessKeyId,
        LOG_STORE_SECRET_KEY: s3.secretAccessKey,
        LOG_STORE_CONNECTION_BACKOFF_MS: '200',
      },
      'data-service': { BATCH_LOOK_INTERVAL: '100', FOLLOW_LOOK_INTERVAL: '100' },
    },
  });
  try {
    upstream.handle(json(200, answerOf('canary-answered')));
    const call = async (path: string, body: unknown, headers: Record<string, string> = {}) => {
      const answer = await fetch(`${stack.credentials.base_url}${path}`, {
        method: 'POST',
        headers: {
          'x-service-api-key': stack.credentials.workspace_key,
          'content-type': 'application/json',
          authorization: 'Bearer canary-credential',
          'x-custom': 'canary-header',
          ...headers,
        },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      });
      await answer.text();
      return answer.status;
    };
    const there = {
      'x-service-provider': 'openai',
      'x-service-custom-host': `${upstream.url}/v1`,
      'x-service-metadata': '{"team":"canary-in-metadata"}',
    };
    const asked = (text: string) => ({
      model: 'gpt-4o-mini',
      messages: [{ role: 'user', content: `canary-${text} ${'x'.repeat(60_000)}` }],
    });
    expect(await call('/chat/completions', asked('plain'), there)).toBe(200);
    upstream.handle(
      json(400, { error: { message: 'canary-error', type: 'invalid_request_error' } }),
    );
    expect(await call('/chat/completions', asked('refused'), there)).toBe(400);
    // Before anything is routed: nobody named, a body that is none, a config that is none.
    expect(await call('/chat/completions', asked('unrouted'))).toBe(400);
    expect(await call('/chat/completions', '{"canary-broken', there)).toBe(400);
    const inline = { 'x-service-config': '{"provider":"canary-config","retry":7}' };
    expect(await call('/chat/completions', asked('configured'), inline)).toBe(400);
    const own = {
      request: { url: 'https://own.example/x?q=canary-query', body: { prompt: 'canary-own' } },
      response: { status: 200, headers: { 'x-y': 'canary-own-header' }, body: { z: 'canary-own' } },
      metadata: {},
    };
    expect(await call('/logs', own)).toBe(200);
    upstream.handle(jobsOfVendor);
    await jobsWithCanaries(stack, `${upstream.url}/v1`);
    const logs = ['gateway', 'control-plane', 'data-service'] as const;
    for (const part of logs) expect(stack.part(part).stderr()).not.toContain('canary-');
    expect(await inPostgres(stack.databaseUrl, 'canary-')).toEqual([]);
    // The search finds what is there.
    expect(await inPostgres(stack.databaseUrl, 'gpt-4o-mini-2024|saved')).not.toEqual([]);

    await eventually(() => expect(s3.objects.size).toBeGreaterThanOrEqual(2));
    s3.fail(503);
    upstream.handle(json(200, answerOf('canary-answered')));
    for (let number = 0; number < 40; number++)
      expect(await call('/chat/completions', asked(`spooled-${number}`), there)).toBe(200);
    const spool = join(stack.dataDir, 'gateway', 'content');
    // They come to the disk beside the request, and stay there while the store refuses them.
    await eventually(async () => {
      const sizes = await Promise.all(
        (await readdir(spool)).map(async (name) => (await stat(join(spool, name))).size),
      );
      expect(sizes.reduce((sum, size) => sum + size, 0)).toBeGreaterThan(5 * 60_000);
    });
    await stack.part('gateway').kill();
    s3.fail(undefined);
    await stack.part('gateway').start();
    await eventually(async () => expect(await readdir(spool)).toEqual([]));
    const inStore = [...s3.objects.values()].filter((object) => object.includes('canary-spooled'));
    // What did not fit is gone; what did is kept once.
    expect(inStore.length).toBeGreaterThan(3);
    expect(inStore.length).toBeLessThan(40);
    expect([...s3.objects.values()].some((object) => object.includes('canary-credential'))).toBe(
      false,
    );
    await stack.part('gateway').stop();
    await stack.part('data-service').stop();
    expect(await filesWith(stack.dataDir, 'canary-')).toEqual([]);

    const engine = await connectClickHouse({ dataDir: join(stack.dataDir, 'clickhouse') });
    try {
      const found = await columnsWith(engine.client, 'canary-');
      // What is metadata is meant to be found, and shows that the search finds.
      expect(found.texts).toEqual(['canary-in-metadata']);
      expect(found.columns).toContain('usage_records.metadata');
    } finally {
      await engine.close();
    }
  } finally {
    await stack.stop();
    await Promise.all([upstream.close(), s3.close()]);
  }
});

/** Files, batches and jobs of a vendor that repeats what it was told. */
function jobsOfVendor({ method, path, body, headers }: RecordedRequest) {
  const known = headers.authorization === 'Bearer canary-credential';
  if (!known) return json(401, { error: { message: 'canary-who', type: 'x' } });
  const [, , root, id, part] = path.split('?')[0]?.split('/') ?? [];
  const asked = body.toString();
  if (root === 'files' && part === 'content')
    return bytes(
      200,
      Buffer.from(
        `${JSON.stringify({ id: 'l', custom_id: 'one', response: { status_code: 200, request_id: 'r', body: answerOf('canary-in-output') }, error: null })}\n`,
      ),
    );
  if (root === 'files') return json(200, { id: 'file-1', object: 'file', note: 'canary-noted' });
  if (root === 'batches')
    return json(200, {
      id: 'batch_1',
      object: 'batch',
      status: id === undefined ? 'validating' : 'completed',
      endpoint: '/v1/chat/completions',
      output_file_id: 'file-out',
      created_at: Math.floor(Date.now() / 1000),
      metadata: { note: 'canary-noted' },
    });
  if (root === 'videos')
    return part === 'content'
      ? bytes(200, Buffer.from('canary-in-video'))
      : json(200, {
          id: 'video_1',
          object: 'video',
          status: method === 'POST' ? 'queued' : 'completed',
          model: 'sora-2',
          seconds: '4',
          size: '720x1280',
          prompt: asked || 'canary-in-prompt',
          created_at: 1,
          completed_at: 2,
        });
  if (root === 'fine_tuning')
    return json(200, {
      id: 'ftjob-1',
      object: 'fine_tuning.job',
      status: 'succeeded',
      model: 'gpt-4o-mini-2024-07-18',
      trained_tokens: 9,
      created_at: 1,
      finished_at: 2,
      training_file: 'file-1',
      error: { message: 'canary-in-error' },
    });
  return json(200, answerOf('canary-answered'));
}

/** A file and a batch of the service's own, then each kind of job at the vendor, with credentials inline and saved. */
async function jobsWithCanaries(stack: TestStack, host: string): Promise<void> {
  const ask = async (method: string, path: string, over: object = {}, body?: unknown) => {
    const isForm = body instanceof FormData;
    const answer = await fetch(`${stack.credentials.base_url}${path}`, {
      method,
      headers: {
        'x-service-api-key': stack.credentials.workspace_key,
        ...(body !== undefined && !isForm && { 'content-type': 'application/json' }),
        ...over,
      },
      ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
    });
    const text = await answer.text();
    expect(answer.status, `${method} ${path}: ${text}`).toBe(200);
    return text;
  };
  const config = { provider: 'openai', api_key: 'canary-credential', custom_host: host };
  const inline = { 'x-service-config': JSON.stringify(config) };
  await ask(
    'POST',
    '/integrations',
    {},
    {
      name: 'saved',
      slug: 'saved',
      ai_provider_id: 'openai',
      key: 'canary-credential',
      configurations: { custom_host: host },
      create_default_provider: false,
    },
  );
  await ask('POST', '/providers', {}, { name: 'saved', slug: 'saved', integration_id: 'saved' });
  const saved = { 'x-service-provider': '@saved' };
  const form = () => {
    const made = new FormData();
    made.set('purpose', 'batch');
    const line = {
      custom_id: 'one',
      method: 'POST',
      url: '/v1/chat/completions',
      body: {
        model: '@saved/gpt-4o-mini',
        messages: [{ role: 'user', content: 'canary-in-line' }],
      },
    };
    made.set('file', new File([JSON.stringify(line)], 'in.jsonl'));
    return made;
  };
  const endpoint = '/v1/chat/completions';
  const file = JSON.parse(await ask('POST', '/files', {}, form())).id;
  const own = { input_file_id: file, endpoint, completion_window: 'immediate' };
  const { id } = JSON.parse(await ask('POST', '/batches', {}, own));
  await eventually(
    async () => {
      const batch = JSON.parse(await ask('GET', `/batches/${id}`));
      expect([batch.status, batch.request_counts.completed]).toEqual(['completed', 1]);
    },
    { intervalMs: 200 },
  );
  expect(await ask('GET', `/batches/${id}/output`)).toContain('canary-answered');
  for (const by of [inline, saved]) {
    await ask('POST', '/files', by, form());
    const vendors = { input_file_id: 'file-1', endpoint, completion_window: '24h' };
    await ask('POST', '/batches', by, vendors);
    expect(await ask('GET', '/batches/batch_1/output', by)).toContain('canary-in-output');
    const tuning = { model: 'gpt-4o-mini-2024-07-18', training_file: 'file-1' };
    await ask('POST', '/fine_tuning/jobs', by, tuning);
    await ask('GET', '/fine_tuning/jobs/ftjob-1', by);
    await ask('POST', '/videos', by, { prompt: 'canary-in-prompt' });
    await ask('GET', '/videos/video_1', by);
    expect(await ask('GET', '/videos/video_1/content', by)).toContain('canary-in-video');
  }
}

/** Tables of the control plane's database with the marker in a row, as text or as bytes. */
function inPostgres(url: string, marker: string): Promise<string[]> {
  return inDatabase(url, async (db) => {
    const { rows: tables } = await db.query<{ name: string }>(
      "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'",
    );
    const found: string[] = [];
    for (const { name } of tables) {
      const { rows } = await db.query(
        `SELECT 1 FROM "${name}" AS one_row WHERE one_row::text ~ $1 OR one_row::text ~ $2 LIMIT 1`,
        [marker, Buffer.from(marker).toString('hex')],
      );
      if (rows.length > 0) found.push(name);
    }
    return found;
  });
}

type Client = Awaited<ReturnType<typeof connectClickHouse>>['client'];

/** Every column of every table, as text, and what of it begins with the marker. */
async function columnsWith(client: Client, marker: string) {
  const listed = await client.query({
    query: `SELECT table, name, type FROM system.columns WHERE database = currentDatabase()
      SETTINGS max_execution_time = 30`,
    format: 'JSONEachRow',
  });
  const columns: string[] = [];
  const texts = new Set<string>();
  for (const { table, name, type } of await listed.json<Column>()) {
    const column = type.startsWith('AggregateFunction')
      ? `toString(finalizeAggregation(\`${name}\`))`
      : `toString(\`${name}\`)`;
    const result = await client.query({
      query: `SELECT arrayJoin(extractAll(${column}, '${marker}[a-z0-9-]*')) AS text
        FROM \`${table}\` GROUP BY text`,
      format: 'JSONEachRow',
    });
    const rows = await result.json<{ text: string }>();
    if (rows.length > 0) columns.push(`${table}.${name}`);
    for (const { text } of rows) texts.add(text);
  }
  return { columns, texts: [...texts] };
}

interface Column {
  table: string;
  name: string;
  type: string;
}

/** Files but for metadata, which is meant to be kept. */
async function filesWith(folder: string, marker: string): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const content = await readFile(join(entry.parentPath, entry.name), 'latin1').catch(() => '');
    if (content.replaceAll('canary-in-metadata', '').includes(marker)) found.push(entry.name);
  }
  return found;
}
