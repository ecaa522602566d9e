import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bytes, eventually, json, temporaryFolder } from '@sluice/testkit';
import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { line, question } from './batch-lines.ts';
import { type Lab, startLab, type Trial } from './lab.ts';
import { chatReply } from './scenario.ts';

/** What is billed after its answer – batches of providers, responses in the background – and what limits have of it. */

const dayMs = 24 * 60 * 60_000;
const today = new Date().toISOString().slice(0, 10);
const tokens = (price: number) => ({
  pricing_config: {
    pay_as_you_go: { request_token: { price }, response_token: { price: 2 * price } },
  },
});

async function pricesThatRoseToday(): Promise<string> {
  const folder = await temporaryFolder('late-prices');
  writeFileSync(join(folder, 'openai.json'), JSON.stringify({ 'our-model': tokens(0.0001) }));
  mkdirSync(join(folder, today));
  writeFileSync(
    join(folder, today, 'openai.json'),
    JSON.stringify({ 'our-model': tokens(0.0003) }),
  );
  return folder;
}

async function newLab(options: Parameters<typeof startLab>[0]): Promise<Lab> {
  const environment = { PRICE_FILES_DIR: await pricesThatRoseToday() };
  return startLab({
    promptLedger: true,
    processes: ['gateway'],
    ...options,
    environment: { gateway: environment, 'gateway-2': environment, 'control-plane': environment },
  });
}

interface Key {
  id: string;
  key: string;
}

async function limitedKey(lab: Lab): Promise<Key> {
  return lab.scenario.admin<Key>('POST', '/api-keys/workspace/service', {
    name: `late ${crypto.randomUUID().slice(0, 8)}`,
    scopes: ['completions.write'],
    workspace_id: lab.scenario.stack.credentials.workspace_id,
    usage_limits: { type: 'cost', credit_limit: 100 },
  });
}

/** In nano-dollars, as the admin API tells it. */
async function usedOf(lab: Lab, { id }: Key): Promise<number> {
  const { usage_limits } = await lab.scenario.admin<{ usage_limits: { current_usage: number } }>(
    'GET',
    `/api-keys/${id}`,
  );
  return Math.round(usage_limits.current_usage * 1e9);
}

/** A budget of `our-model` as this key uses it; what it came to, by the model that it is counted for, in nano-dollars. */
async function budgetOfModel(lab: Lab, key: Key) {
  const { id } = await lab.scenario.admin<{ id: string }>('POST', '/policies/usage-limits', {
    name: `of a model ${key.id}`,
    type: 'cost',
    credit_limit: 100,
    conditions: [
      { key: 'model', value: 'our-model' },
      { key: 'api_key', value: key.id },
    ],
    group_by: [{ key: 'model' }],
    workspace_id: lab.scenario.stack.credentials.workspace_id,
  });
  return async () => {
    const { data } = await lab.scenario.admin<{ data: { current_usage: number }[] }>(
      'GET',
      `/policies/usage-limits/${id}/entities`,
    );
    return data.map(({ current_usage }) => Math.round(current_usage * 1e9));
  };
}

/** A vendor with one batch of two lines that has ended, as OpenAI tells it: rows, and the batch, name the version that answered. */
function batchVendor(createdAt: number, answering = 'our-model') {
  const id = `batch_${crypto.randomUUID()}`;
  const rows = ['a', 'b'].map((each) =>
    JSON.stringify({
      id: `l-${each}`,
      custom_id: each,
      response: { status_code: 200, request_id: 'r', body: { ...chatReply, model: answering } },
      error: null,
    }),
  );
  const linesUp = askedLines();
  const batch = (status: string) => ({
    id,
    object: 'batch',
    endpoint: '/v1/chat/completions',
    errors: null,
    input_file_id: `file-${id}`,
    completion_window: '24h',
    status,
    output_file_id: `out-${id}`,
    error_file_id: null,
    created_at: createdAt,
    model: answering,
    request_counts: { total: 2, completed: 2, failed: 0 },
    metadata: null,
  });
  return {
    id,
    answer: (trial: Trial) =>
      trial.upstreamThat('batches', ({ method, path }) => {
        if (path.startsWith('/v1/files') && method === 'POST')
          return json(200, { id: `file-${id}`, object: 'file', purpose: 'batch' });
        if (path.startsWith(`/v1/files/file-${id}`)) return bytes(200, Buffer.from(linesUp));
        if (path.startsWith('/v1/files/')) return bytes(200, Buffer.from(rows.join('\n')));
        return json(200, batch(method === 'POST' ? 'validating' : 'completed'));
      }),
  };
}

/** What an answer cost until yesterday, and its half in a batch. */
const before = 1000 * 1000 + 500 * 2000;
const yesterday = Math.floor((Date.now() - dayMs) / 1000);

/** Of a batch: two questions to `our-model`. */
const askedLines = () =>
  ['a', 'b'].map((id) => line(id, { ...question('Hi'), model: 'our-model' })).join('\n');

/** Makes a batch of two lines at a vendor where it is over at once. */
async function madeBatch(lab: Lab, trial: Trial, { key }: Key, answering?: string) {
  const vendor = batchVendor(yesterday, answering);
  const config = (await vendor.answer(trial)).target();
  const client = new OpenAI({
    apiKey: key,
    baseURL: `${lab.scenario.stack.gatewayUrls[0]}/v1`,
    maxRetries: 0,
    defaultHeaders: { 'x-service-config': JSON.stringify(config) },
  });
  const file = await toFile(Buffer.from(askedLines()), 'lines.jsonl');
  const { id: input_file_id } = await client.files.create({ file, purpose: 'batch' });
  const { id } = await client.batches.create({
    input_file_id,
    endpoint: '/v1/chat/completions',
    completion_window: '24h',
  });
  const read = (gateway = 0) =>
    eventually(async () => {
      const output = await trial.ask({
        key,
        config,
        gateway,
        method: 'GET',
        path: `/v1/batches/${id}/output`,
      });
      expect([output.answer.status, output.answer.wasCut]).toEqual([200, false]);
    });
  const records = () => lab.records.all().filter(({ decisionJson }) => decisionJson.includes(id));
  return { id, read, records };
}

describe('two gateways with one Redis', () => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await newLab({ gateways: 2, redis: true });
  });
  afterAll(() => lab?.stop());

  it('bill a batch once, at the price of the day on which it was made, and the ledger has what limits counted', async () => {
    const trial = lab.trial();
    const key = await limitedKey(lab);
    const batch = await madeBatch(lab, trial, key);
    await Promise.all(Array.from({ length: 10 }, (_, index) => batch.read(index % 2)));
    await expect.poll(() => usedOf(lab, key)).toBe(before);
    await expect.poll(() => batch.records().length).toBe(2);
    const records = batch.records();
    expect(records.map(({ costNanoUsd }) => Number(costNanoUsd))).toEqual([before / 2, before / 2]);
    const counted = records.flatMap(({ countersSettled }) => Object.values(countersSettled));
    expect(counted.reduce((sum, count) => sum + Number(count), 0)).toBe(before);
    await trial.close();
  });

  it.each(['our-model', 'our-model-2026-08-06'])(
    'count a batch with budgets of the model that was asked, where %s answered',
    async (answering) => {
      const trial = lab.trial();
      const key = await limitedKey(lab);
      const used = await budgetOfModel(lab, key);
      const batch = await madeBatch(lab, trial, key, answering);
      await batch.read();
      await expect.poll(used).toEqual([before]);
      const named = batch.records().map(({ model, responseModel }) => [model, responseModel]);
      expect(named).toEqual(Array(2).fill(['our-model', answering]));
      await trial.close();
    },
  );

  it('count on from it when Redis was emptied', async () => {
    const trial = lab.trial();
    const key = await limitedKey(lab);
    const batch = await madeBatch(lab, trial, key);
    await batch.read();
    await expect.poll(() => usedOf(lab, key)).toBe(before);
    await lab.records.stored();
    await lab.scenario.stack.redis?.restart();
    const upstream = await trial.upstream('chat', json(200, { ...chatReply, model: 'our-model' }));
    await eventually(async () => {
      const { answer } = await trial.ask({ key: key.key, config: upstream.target() });
      expect([answer.status, answer.own('limits-degraded')]).toEqual([200, null]);
    });
    const asked = upstream.requests.length;
    // Three times what it was.
    await expect.poll(() => usedOf(lab, key)).toBe(before + 3 * before * asked);
    await trial.close();
  });

  it.each(['our-model', 'our-model-2026-08-06', 'our-latest'])(
    'bill a response in the background at the price of when it was made, with budgets of the model that was asked, where %s answered',
    async (answering) => {
      const trial = lab.trial();
      const key = await limitedKey(lab);
      const usedOfModel = await budgetOfModel(lab, key);
      const id = `resp_${crypto.randomUUID()}`;
      const response = (status: string, usage: object | null) => ({
        id,
        object: 'response',
        status,
        background: true,
        created_at: yesterday,
        model: answering,
        output: [],
        usage,
      });
      const usage = { input_tokens: 1000, output_tokens: 500, total_tokens: 1500 };
      const upstream = await trial.upstreamThat('vendor', ({ method }) =>
        json(200, method === 'POST' ? response('queued', null) : response('completed', usage)),
      );
      const config = upstream.target();
      await trial.ask({
        key: key.key,
        config,
        path: '/v1/responses',
        body: { model: 'our-model', input: 'Hm?', background: true },
      });
      for (const gateway of [1, 0, 0, 1])
        await trial.ask({
          key: key.key,
          config,
          gateway,
          method: 'GET',
          path: `/v1/responses/${id}`,
        });
      await expect.poll(() => usedOf(lab, key)).toBe(before);
      await expect.poll(usedOfModel).toEqual([before]);
      const records = () => lab.records.all().filter(({ apiKeyId }) => apiKeyId === key.id);
      const sum = () => records().reduce((all, { costNanoUsd }) => all + Number(costNanoUsd), 0);
      await expect.poll(sum).toBe(before);
      const [bill] = records().filter(({ costNanoUsd }) => costNanoUsd > 0n);
      expect([bill?.model, bill?.responseModel]).toEqual(['our-model', answering]);
      await trial.close();
    },
  );
});

describe('a gateway without Redis', () => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await newLab({});
  });
  afterAll(() => lab?.stop());

  it('counts a batch once, though it is started anew before its output is read again', async () => {
    const trial = lab.trial();
    const key = await limitedKey(lab);
    const batch = await madeBatch(lab, trial, key);
    await batch.read();
    await expect.poll(() => usedOf(lab, key)).toBe(before);
    await lab.records.stored();
    const gateway = lab.scenario.stack.part('gateway');
    await gateway.stop();
    await gateway.start();
    await batch.read();
    await new Promise((resolve) => setTimeout(resolve, 2000));
    expect(await usedOf(lab, key)).toBe(before);
    await trial.close();
  });
});
