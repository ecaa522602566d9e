import { eventually, freshName, inDatabase } from '@sluice/testkit';
import OpenAI, { toFile } from 'openai';
import { expect } from 'vitest';
import { batchUse, linesIn } from './batch-lines.ts';
import type { Scenario } from './scenario.ts';

/** A batch that the service has a provider run, at a saved provider of its own. */
export interface ManagedCase {
  readonly vendor: string;
  readonly key?: string;
  readonly configurations: object;
  readonly lines: readonly string[];
  readonly endpoint?: '/v1/embeddings';
  readonly options?: object;
  /** Of all lines; undefined = it is estimated. */
  readonly cents?: number;
}

/** All at once: between two looks at a batch are ten seconds. */
export async function provesManagedBatches(s: Scenario, cases: readonly ManagedCase[]) {
  const client = clientOf(s);
  const manage = async (path: string, body: object) => {
    const made = await s.call(`/v1${path}`, { host: null, body });
    expect(made.status, await made.clone().text()).toBe(200);
  };

  async function proves({ vendor, key, configurations, lines, ...asked }: ManagedCase) {
    const slug = freshName(`managed-${vendor}`);
    const shared = { name: slug, slug, ai_provider_id: vendor, create_default_provider: false };
    await manage('/integrations', { ...shared, configurations, ...(key && { key }) });
    await manage('/providers', { name: slug, slug, integration_id: slug });
    const file = await toFile(Buffer.from(lines.join('\n')), 'lines.jsonl');
    const made = await client.batches.create({
      input_file_id: (await client.files.create({ file, purpose: 'batch' })).id,
      endpoint: asked.endpoint ?? '/v1/chat/completions',
      completion_window: '24h',
      ...({
        service_options: { provider: `@${slug}` },
        ...(asked.options && { provider_options: asked.options }),
      } as object),
    });
    const end = await eventually(
      async () => {
        const now = await client.batches.retrieve(made.id);
        expect([vendor, now.errors, now.status]).toEqual([vendor, null, 'completed']);
        return now;
      },
      { intervalMs: 200 },
    );
    const total = lines.length;
    expect(end.request_counts, vendor).toEqual({ total, completed: total, failed: 0 });
    const output = await (await client.files.content(end.output_file_id ?? '')).text();
    const ids = lines.map((line) => (JSON.parse(line) as { custom_id: string }).custom_id);
    expect(
      linesIn(output)
        .map(({ custom_id: id }) => id)
        .sort(),
      vendor,
    ).toEqual(ids);
    const at = await inDatabase(s.stack.databaseUrl, async (db) => {
      const sql = 'SELECT object_id FROM followed_work WHERE provider = $1';
      return (await db.query<{ object_id: string }>(sql, [`@${slug}`])).rows;
    });
    expect(at, `${vendor}: a provider has it, and once`).toHaveLength(1);
    await eventually(
      async () => {
        const use = await batchUse(s, at[0]?.object_id ?? '');
        expect([vendor, use.total]).toEqual([vendor, total]);
        if (asked.cents === undefined) expect(use.cost).toBeGreaterThan(0);
        else expect(use.cost, vendor).toBeCloseTo(asked.cents, 9);
      },
      { intervalMs: 200 },
    );
  }

  await Promise.all(cases.map(proves));
}

/** Of `lines` a provider answers the first, and is cancelled before the second. */
export async function provesStoppedBatch(s: Scenario, provider: string, lines: readonly string[]) {
  const client = clientOf(s);
  const file = await toFile(Buffer.from(lines.join('\n')), 'lines.jsonl');
  const { id } = await client.batches.create({
    input_file_id: (await client.files.create({ file, purpose: 'batch' })).id,
    endpoint: '/v1/chat/completions',
    completion_window: '24h',
    ...({ service_options: { provider } } as object),
  });
  const patient = { intervalMs: 200 };
  await eventually(
    async () => expect((await client.batches.retrieve(id)).status).toBe('in_progress'),
    patient,
  );
  await eventually(
    () => expect(s.upstream.requests.some(({ body }) => body.includes('"never"'))).toBe(true),
    patient,
  );
  await client.batches.cancel(id);
  const end = await eventually(async () => {
    const now = await client.batches.retrieve(id);
    expect(now.status).toBe('cancelled');
    return now;
  }, patient);
  expect(end.request_counts?.total).toBe(2);
  const errors = await (await client.files.content(end.error_file_id ?? '')).text();
  expect(linesIn(errors).at(-1)).toMatchObject({
    custom_id: 'never',
    response: null,
    error: { code: 'batch_cancelled' },
  });
}

function clientOf(s: Scenario): OpenAI {
  return new OpenAI({
    apiKey: s.stack.credentials.workspace_key,
    baseURL: `${s.stack.gatewayUrls[0]}/v1`,
    maxRetries: 0,
  });
}
