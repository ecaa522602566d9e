import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually, json, startS3, startStack, startUpstream } from '@sluice/testkit';
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
it('bodies are in no column of the ledger, and after a kill with a full spool in the store alone', {
  timeout: 120_000,
}, async () => {
  const [s3, upstream] = await Promise.all([startS3(), startUpstream()]);
  const stack = await startStack({
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
    await eventually(async () => expect(await readdir(spool)).toEqual([]), { timeoutMs: 30_000 });
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
