import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Anthropic from '@anthropic-ai/sdk';
import {
  eventually,
  freshName,
  inDatabase,
  startUpstream,
  temporaryFolder,
  type Upstream,
} from '@sluice/testkit';
import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { batchUse, line, linesIn, question } from './batch-lines.ts';
import { provesStoppedBatch } from './proves-managed-batches.ts';
import { provesManagedTuning } from './proves-managed-tuning.ts';
import { errorOf, type Scenario, startScenario } from './scenario.ts';
import { anthropicBatchVendor, openAiVendor } from './vendor-batches.ts';
import { describeVendorJobs } from './vendor-jobs.ts';

/** Batches that providers run, in one face, and billed once (rows B1 and B3 of the acceptance matrix). */

let s: Scenario;
let claude: Upstream;
const canary = 'sk-canary-of-batches';
/** The ledger's first rows come late on a busy machine. */
const patient = { intervalMs: 200 };

beforeAll(async () => {
  const prices = await temporaryFolder('batch-prices');
  const tokens = { request_token: { price: 0.0001 }, response_token: { price: 0.0002 } };
  writeFileSync(
    join(prices, 'openai.json'),
    JSON.stringify({
      'our-listed': {
        pricing_config: {
          pay_as_you_go: tokens,
          batch_config: { request_token: { price: 0.00003 }, response_token: { price: 0.00004 } },
        },
      },
      'our-half': { pricing_config: { pay_as_you_go: tokens } },
    }),
  );
  for (const vendor of ['groq', 'mistral-ai'])
    writeFileSync(
      join(prices, `${vendor}.json`),
      JSON.stringify({ 'our-small': { pricing_config: { pay_as_you_go: tokens } } }),
    );
  writeFileSync(
    join(prices, 'cohere.json'),
    JSON.stringify({
      'embed-english-v3.0': {
        pricing_config: { pay_as_you_go: { request_token: { price: 0.0001 } } },
      },
    }),
  );
  const environment = { PRICE_FILES_DIR: prices };
  [s, claude] = await Promise.all([
    startScenario({
      promptLedger: true,
      logStore: true,
      environment: {
        gateway: environment,
        'control-plane': environment,
        'data-service': {
          BATCH_LOOK_INTERVAL: '100',
          FOLLOW_LOOK_INTERVAL: '100',
          BATCHES_AT_ONCE: '8',
        },
      },
    }),
    startUpstream(anthropicBatchVendor(canary)),
  ]);
  s.upstream.handle(openAiVendor(canary));
});
afterAll(() => Promise.all([s?.stop(), claude?.close()]));

const atOpenAi = () => ({
  provider: 'openai',
  api_key: canary,
  custom_host: `${s.upstream.url}/v1`,
});
const atClaude = () => ({
  provider: 'anthropic',
  api_key: canary,
  custom_host: `${claude.url}/v1`,
});

function clientOf(config: object | undefined, apiKey = s.stack.credentials.workspace_key): OpenAI {
  return new OpenAI({
    apiKey,
    baseURL: `${s.stack.gatewayUrls[0]}/v1`,
    maxRetries: 0,
    ...(config && { defaultHeaders: { 'x-service-config': JSON.stringify(config) } }),
  });
}

const get = (path: string, config: object, key?: string) =>
  eventually(async () => {
    const answer = await s.call(path, {
      method: 'GET',
      host: null,
      ...(key === undefined ? {} : { key }),
      headers: { 'x-service-config': JSON.stringify(config) },
    });
    // On a busy machine nobody may say in time whose the batch is.
    return answer.status !== 503 && answer;
  });

async function otherKey(): Promise<string> {
  const name = `others ${Math.random()}`;
  const { id } = await s.admin<{ id: string }>('POST', '/admin/workspaces', { name });
  const made = { name, scopes: ['completions.write'], workspace_id: id };
  return (await s.admin<{ key: string }>('POST', '/api-keys/workspace/service', made)).key;
}

async function upload(client: OpenAI, lines: readonly string[]): Promise<string> {
  const file = await toFile(Buffer.from(lines.join('\n')), 'lines.jsonl');
  return (await client.files.create({ file, purpose: 'batch' })).id;
}

async function run(lines: readonly string[], endpoint = '/v1/chat/completions') {
  const client = clientOf(atOpenAi());
  const batch = await client.batches.create({
    input_file_id: await upload(client, lines),
    endpoint: endpoint as '/v1/chat/completions',
    completion_window: '24h',
  });
  return { client, batch };
}

const completed = (client: OpenAI, id: string) =>
  eventually(async () => {
    const now = await client.batches.retrieve(id);
    expect(now.status).toBe('completed');
    return now;
  });

async function outputOf(id: string, config: object, query = ''): Promise<string> {
  const reply = await get(`/v1/batches/${id}/output${query}`, config);
  expect(reply.status, await reply.clone().text()).toBe(200);
  return reply.text();
}

const asking = (id: string, text: string, model: string) =>
  line(id, { ...question(text), model, max_tokens: 9 });
const embedding = (id: string, model: string) =>
  JSON.stringify({
    custom_id: id,
    method: 'POST',
    url: '/v1/embeddings',
    body: { model, input: 'Hi' },
  });

/** Cents of `calls` answers of 1,000 and 500 tokens. */
const cents = (calls: number, input: number, output: number) =>
  calls * (1000 * input + 500 * output);

/** A provider that admins saved, at which the batch is followed. */
async function savedProvider(
  name: string,
  provider = 'openai',
  host = `${s.upstream.url}/v1`,
): Promise<string> {
  const slug = freshName(name);
  const manage = async (path: string, body: object) => {
    const made = await s.call(`/v1${path}`, { host: null, body });
    expect(made.status, await made.clone().text()).toBe(200);
  };
  await manage('/integrations', {
    name: slug,
    slug,
    ai_provider_id: provider,
    key: canary,
    configurations: { custom_host: host },
    create_default_provider: false,
  });
  await manage('/providers', { name: slug, slug, integration_id: slug });
  return `@${slug}`;
}

// Side by side: each waits for looks at a batch of its own.
describe.concurrent('a batch at OpenAI', () => {
  it('of which a line is told twice is counted as it is recorded: once', async () => {
    const made = await s.admin<{ id: string; key: string }>('POST', '/api-keys/workspace/service', {
      name: 'told twice',
      scopes: ['completions.write'],
      workspace_id: s.stack.credentials.workspace_id,
      usage_limits: { type: 'tokens', credit_limit: 100_000 },
    });
    const client = clientOf(atOpenAi(), made.key);
    const batch = await client.batches.create({
      input_file_id: await upload(client, [
        asking('same', 'Hi', 'our-half'),
        asking('same', 'Hi', 'our-half'),
        asking('other', 'Hi', 'our-half'),
      ]),
      endpoint: '/v1/chat/completions',
      completion_window: '24h',
    });
    await completed(client, batch.id);
    const output = await get(`/v1/batches/${batch.id}/output`, atOpenAi(), made.key);
    expect(linesIn(await output.text())).toHaveLength(3);
    await eventually(async () => {
      const key = await s.admin<{ usage_limits: { current_usage: number } }>(
        'GET',
        `/api-keys/${made.id}`,
      );
      expect((await batchUse(s, batch.id)).total).toBe(2);
      expect(key.usage_limits.current_usage).toBe(3000);
    }, patient);
  });

  it('has an output of unified lines, and costs once what its list says, or half', async () => {
    const { client, batch } = await run([
      asking('listed-é', 'Hi', 'our-listed'),
      asking('half', 'Hi', 'our-half'),
      asking('failed', 'fail', 'our-half'),
    ]);
    const early = await get(`/v1/batches/${batch.id}/output`, atOpenAi());
    expect(early.status).toBe(409);
    expect(await errorOf(early)).toMatchObject({ code: 'batch.not_finished' });
    await completed(client, batch.id);
    const outputs = await Promise.all(
      Array.from({ length: 10 }, () => outputOf(batch.id, atOpenAi())),
    );
    expect(new Set(outputs).size).toBe(1);
    const lines = linesIn(outputs[0] ?? '');
    expect(lines.map(({ custom_id: id, response }) => [id, response?.status_code])).toEqual([
      ['listed-é', 200],
      ['half', 200],
      ['failed', 400],
    ]);
    await eventually(async () => {
      const { total, cost } = await batchUse(s, batch.id);
      expect(total).toBe(3);
      expect(cost).toBeCloseTo(cents(1, 0.00003, 0.00004) + cents(1, 0.0001, 0.0002) / 2, 9);
    }, patient);
  });

  it('of which one row is too large has all others, and is billed whole', async () => {
    const { client, batch } = await run(
      ['before', 'large', 'after'].map((id) => asking(id, id, 'our-half')),
    );
    await completed(client, batch.id);
    const lines = linesIn(await outputOf(batch.id, atOpenAi()));
    expect(lines.map(({ custom_id: id, response }) => [id, response?.status_code])).toEqual([
      ['before', 200],
      ['large', 502],
      ['after', 200],
    ]);
    expect(lines[1]?.response?.body).toMatchObject({ error: { code: 'batch.answer_too_large' } });
    await eventually(async () => {
      const { total, cost } = await batchUse(s, batch.id);
      expect(total).toBe(3);
      expect(cost).toBeCloseTo(cents(3, 0.0001, 0.0002) / 2, 9);
    }, patient);
  });

  it('of which every line failed is read all the same', async () => {
    const { client, batch } = await run([asking('one', 'fail', 'our-half')]);
    await completed(client, batch.id);
    expect(linesIn(await outputOf(batch.id, atOpenAi()))).toMatchObject([
      { custom_id: 'one', response: { status_code: 400 } },
    ]);
  });

  it('of embeddings is half where nobody lists it, and says that it is a guess', async () => {
    const { client, batch } = await run([embedding('e', 'our-half')], '/v1/embeddings');
    await completed(client, batch.id);
    await outputOf(batch.id, atOpenAi());
    await eventually(async () => {
      const { total, cost } = await batchUse(s, batch.id);
      expect([total, cost]).toEqual([1, 0.05]);
    });
  });

  it('is cancelled, and is nobody else’s on the same credential', async () => {
    const { client, batch } = await run([asking('one', 'Hi', 'our-half')]);
    const stranger = await otherKey();
    for (const path of ['', '/output']) {
      const refused = await get(`/v1/batches/${batch.id}${path}`, atOpenAi(), stranger);
      expect(refused.status).toBe(404);
    }
    const theirs = clientOf(atOpenAi(), stranger);
    await expect(theirs.batches.cancel(batch.id)).rejects.toMatchObject({ status: 404 });
    expect(await client.batches.cancel(batch.id)).toMatchObject({ status: 'cancelling' });
  });

  it('that is cancelled tells the lines that were not run, which cost nothing', async () => {
    const { client, batch } = await run(
      ['done', 'never'].map((id) => asking(id, 'Hi', 'our-half')),
    );
    await client.batches.cancel(batch.id);
    await client.batches.retrieve(batch.id);
    expect(linesIn(await outputOf(batch.id, atOpenAi()))).toMatchObject([
      { custom_id: 'done', response: { status_code: 200 }, error: null },
      { custom_id: 'never', response: null, error: { code: 'batch_cancelled' } },
    ]);
    await eventually(async () => expect((await batchUse(s, batch.id)).total).toBe(1), patient);
  });

  it('is not made of a file that the provider does not have', async () => {
    const file = await upload(clientOf(undefined), [asking('one', 'Hi', 'our-half')]);
    const refused = clientOf(atOpenAi()).batches.create({
      input_file_id: file,
      endpoint: '/v1/chat/completions',
      completion_window: '24h',
    });
    await expect(refused).rejects.toMatchObject({ status: 400, code: 'request.invalid_field' });
  });

  it('is made at one provider alone', async () => {
    const several = { strategy: { mode: 'fallback' }, targets: [atOpenAi(), atClaude()] };
    const refused = clientOf(several).batches.create({
      input_file_id: 'file-of-1',
      endpoint: '/v1/chat/completions',
      completion_window: '24h',
    });
    await expect(refused).rejects.toThrow('Maximum one target is allowed');
    expect((await get('/v1/batches', { targets: [atOpenAi()] })).status).not.toBe(400);
  });

  it('is made by nobody who has none', async () => {
    const config = { ...atOpenAi(), provider: 'deepseek', custom_host: undefined };
    const refused = await get('/v1/batches', config);
    expect(refused.status).toBe(400);
    const { message } = await errorOf(refused);
    expect(message).toContain('openai, ');
    expect(message).toContain('vertex-ai');
  });
});

describe('a batch that nobody polls', () => {
  it('is followed, and its lines are billed once it has ended', async () => {
    const config = { provider: await savedProvider('batching') };
    const client = clientOf(config);
    const batch = await client.batches.create({
      input_file_id: await upload(client, [
        asking('a', 'Hi', 'our-half'),
        asking('b', 'Hi', 'our-half'),
      ]),
      endpoint: '/v1/chat/completions',
      completion_window: '24h',
    });
    const rows = () =>
      inDatabase(s.stack.databaseUrl, async (db) => {
        const of = [batch.id];
        // As if the time between two looks had gone by.
        await db.query(
          `UPDATE followed_work SET look_at = clock_timestamp()
            WHERE object_id = $1 AND state = 'open' AND look_at < clock_timestamp() + interval '10 minutes'`,
          of,
        );
        return (await db.query('SELECT state FROM followed_work WHERE object_id = $1', of)).rows;
      });
    await eventually(async () => expect(await rows()).toEqual([{ state: 'ended' }]));
    await outputOf(batch.id, config);
    await eventually(async () => {
      const { total, cost } = await batchUse(s, batch.id);
      expect(total).toBe(2);
      expect(cost).toBeCloseTo(cents(2, 0.0001, 0.0002) / 2, 9);
    });
  });
});

describe('a batch that the service has a provider run', () => {
  it('is made once, though nobody heard that it was made', async () => {
    const { client, batch, provider, id } = await runUnheard(
      'unheard-openai',
      'openai',
      'our-half',
    );
    const { output_file_id: output } = await eventually(async () => {
      const now = await client.batches.retrieve(batch.id);
      expect([now.status, now.errors]).toEqual(['completed', null]);
      return now;
    }, patient);
    const lines = linesIn(await (await client.files.content(output ?? '')).text());
    expect(lines.map(({ custom_id }) => custom_id)).toEqual([id]);
    const asked = s.upstream.requests
      .filter(({ method, path }) => method === 'POST' && path.endsWith('/batches'))
      .map((request) => request.json() as { input_file_id: string });
    const file = asked.at(-1)?.input_file_id;
    const { data } = await clientOf({ provider }).batches.list({ limit: 100 });
    const there = data.filter(({ input_file_id: id }) => id === file);
    expect(there).toHaveLength(1);
    await eventually(async () => {
      expect(await batchUse(s, there[0]?.id ?? '')).toMatchObject({
        total: 1,
        cost: expect.closeTo(cents(1, 0.0001, 0.0002) / 2, 9),
      });
    }, patient);
  });

  it('fails where nobody can tell whether it was made', async () => {
    const { client, batch, id } = await runUnheard(
      'unheard-claude',
      'anthropic',
      'claude-haiku-4-5',
    );
    const { errors } = await eventually(async () => {
      const now = await client.batches.retrieve(batch.id);
      expect(now.status).toBe('failed');
      return now;
    }, patient);
    expect(errors?.data?.[0]).toMatchObject({
      code: 'provider_failed',
      message: expect.stringMatching(/provider @unheard-claude-\d+ .* It may have been made/),
    });
    const made = claude.requests.filter(({ body }) => body.includes(`"${id}"`));
    expect(made).toHaveLength(1);
  });

  it('that is cancelled has the lines that were not run in its error file, for another try', async () => {
    const lines = ['done', 'never'].map((id) => asking(id, 'Hi', 'our-half'));
    await provesStoppedBatch(s, await savedProvider('stopping'), lines);
  });

  async function runUnheard(slug: string, vendor: string, model: string) {
    const client = clientOf(undefined);
    const id = freshName('unheard');
    const host = vendor === 'openai' ? s.upstream : claude;
    const provider = await savedProvider(slug, vendor, `${host.url}/v1`);
    const batch = await client.batches.create({
      input_file_id: await upload(client, [asking(id, 'Hi', model)]),
      endpoint: '/v1/chat/completions',
      completion_window: '24h',
      ...({ service_options: { provider } } as object),
    });
    return { client, batch, provider, id };
  }
});

describe.concurrent('a batch at Anthropic', () => {
  it('is made of a file of the service, in OpenAI’s words, and billed at half', async () => {
    const client = clientOf(atClaude());
    const file = await upload(clientOf(undefined), [
      asking('a-1', 'Hi', 'claude-haiku-4-5'),
      asking('a-2', 'Hi', 'claude-haiku-4-5'),
    ]);
    const batch = await client.batches.create({
      input_file_id: file,
      endpoint: '/v1/chat/completions',
      completion_window: '24h',
    });
    expect(batch).toMatchObject({ object: 'batch', request_counts: { total: 2 } });
    expect(Math.abs(batch.created_at * 1000 - Date.now())).toBeLessThan(60_000);
    const ended = await completed(client, batch.id);
    expect(ended.request_counts).toEqual({ total: 2, completed: 2, failed: 0 });
    const lines = linesIn(await outputOf(batch.id, atClaude()));
    expect(lines.map(({ custom_id }) => custom_id)).toEqual(['a-1', 'a-2']);
    expect(lines[0]?.response?.body).toMatchObject({
      object: 'chat.completion',
      choices: [{ message: { content: 'Hi there' } }],
    });
    // Read in Anthropic's own words as well, it is the same bill.
    expect(
      await (await get(`/v1/messages/batches/${batch.id}/results`, atClaude())).text(),
    ).toContain('"succeeded"');
    await eventually(async () => {
      const { total, cost } = await batchUse(s, batch.id);
      expect(total).toBe(2);
      expect(cost).toBeCloseTo(cents(2, 0.0001, 0.0005) / 2, 9);
    });
  });

  it('is billed what it says where an answer is in other words than its endpoint’s', async () => {
    const client = clientOf(atClaude());
    const batch = await client.batches.create({
      input_file_id: await upload(clientOf(undefined), [
        asking('odd', 'Answer in other words', 'claude-haiku-4-5'),
      ]),
      endpoint: '/v1/chat/completions',
      completion_window: '24h',
    });
    await completed(client, batch.id);
    expect(linesIn(await outputOf(batch.id, atClaude()))).toMatchObject([
      { custom_id: 'odd', response: { status_code: 502 } },
    ]);
    await eventually(async () => {
      expect((await batchUse(s, batch.id)).cost).toBeCloseTo((1000 * 0.0005) / 2, 9);
    }, patient);
  });

  const anthropicOf = (apiKey = s.stack.credentials.workspace_key) =>
    new Anthropic({
      apiKey,
      baseURL: s.stack.gatewayUrls[0] ?? '',
      maxRetries: 0,
      defaultHeaders: { 'x-service-config': JSON.stringify(atClaude()) },
    });

  it('is made, listed and read by Anthropic’s own client, and is one workspace’s', async () => {
    const client = anthropicOf();
    const params = {
      model: 'claude-haiku-4-5',
      max_tokens: 9,
      messages: [{ role: 'user' as const, content: 'Hi' }],
    };
    const { batches } = client.messages;
    const batch = await batches.create({ requests: [{ custom_id: 'own', params }] });
    const theirs = anthropicOf(await otherKey()).messages.batches;
    await expect(theirs.retrieve(batch.id)).rejects.toMatchObject({ status: 404 });
    await expect(theirs.results(batch.id)).rejects.toMatchObject({ status: 404 });
    await eventually(async () => {
      expect((await batches.retrieve(batch.id)).processing_status).toBe('ended');
    });
    const found: string[] = [];
    for await (const row of await batches.results(batch.id)) found.push(row.custom_id);
    expect(found).toEqual(['own']);
    expect((await batches.list()).data.map(({ id }) => id)).toContain(batch.id);
    await eventually(async () => {
      const { total, cost } = await batchUse(s, batch.id);
      expect(total).toBe(1);
      expect(cost).toBeCloseTo(cents(1, 0.0001, 0.0005) / 2, 9);
    });
  });

  it('tells when to come again, and how much is left, as the provider does', async () => {
    const { batches } = anthropicOf().messages;
    const { headers } = await batches.list().asResponse();
    expect(headers.get('anthropic-ratelimit-requests-remaining')).toBe('41');
    const lists = [batches.list({ limit: 42 }), clientOf(atClaude()).batches.list({ limit: 42 })];
    // Either may be refused while the other is read.
    for (const list of lists) list.catch(() => {});
    for (const refused of lists) {
      const error = await refused.then(
        () => undefined,
        (reason: { status: number; headers: Headers }) => reason,
      );
      expect(error?.status).toBe(429);
      expect(error?.headers.get('retry-after')).toBe('7');
      expect(error?.headers.get('x-should-retry')).toBe('true');
    }
  });

  it('says which line the provider would not take, before anything is sent', async () => {
    const file = await upload(clientOf(undefined), [
      asking('with space', 'Hi', 'claude-haiku-4-5'),
    ]);
    const refused = clientOf(atClaude()).batches.create({
      input_file_id: file,
      endpoint: '/v1/chat/completions',
      completion_window: '24h',
    });
    await expect(refused).rejects.toMatchObject({ status: 400, param: 'line 1.custom_id' });
    const sent = claude.requests.filter(({ body }) => body.includes('with space'));
    expect(sent.every(({ aborted }) => aborted)).toBe(true);
  });
});

describeVendorJobs(
  () => s,
  () =>
    (
      [
        ['openai', `${s.upstream.url}/v1`, 'our-half', cents(1, 0.0001, 0.0002)],
        ['groq', `${s.upstream.url}/v1`, 'our-small', cents(1, 0.0001, 0.0002)],
        ['anthropic', `${claude.url}/v1`, 'claude-haiku-4-5', cents(1, 0.0001, 0.0005)],
      ] as const
    ).map(([vendor, host, model, whole]) => ({
      vendor,
      key: canary,
      configurations: { custom_host: host },
      lines: [asking('m-1', 'Hi', model), asking('m-2', 'Hi', model)],
      cents: whole,
    })),
);

describe('a fine-tune that the service manages', () => {
  provesManagedTuning({
    scenario: () => s,
    upstream: () => s.upstream,
    savedProvider,
    otherKey,
    atUpstream: atOpenAi,
  });
});
