import { setTimeout as delay } from 'node:timers/promises';
import { jobTokenLifeMs, jobTokenSeal } from '@sluice/contracts';
import { eventually, inDatabase, json, startUpstream, type Upstream } from '@sluice/testkit';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Records } from './records.ts';
import { type CallOptions, errorOf, type Scenario } from './scenario.ts';

interface Following {
  readonly scenario: () => Scenario;
  readonly records: () => Records;
  /** A provider that admins saved, by name and origin. */
  readonly saved: (slug: string, host: string) => Promise<string>;
  /** A target with a credential of the caller's. */
  readonly target: (index: number) => object;
}

/** Work that goes on at providers and that nobody polls is looked at until it has ended, and billed once. */
export function provesFollowing({ scenario, records, saved, target }: Following): void {
  const ask = (path: string, config: object, over: CallOptions = {}) =>
    scenario().call(path, {
      host: null,
      ...over,
      headers: { 'x-service-config': JSON.stringify(config) },
    });
  const idOf = async (response: Response): Promise<string> => {
    const body = (await response.json()) as { id?: string };
    expect(response.status, JSON.stringify(body)).toBe(200);
    return body.id ?? '';
  };
  const used = { input_tokens: 1200, output_tokens: 300, total_tokens: 1500 };
  const asRun = { prompt_tokens: 1200, completion_tokens: 300, total_tokens: 1500 };
  const jobs = {
    videos: { object: 'video', model: 'sora-2', seconds: '8', size: '720x1280' },
    fine_tuning: {
      object: 'fine_tuning.job',
      model: 'gpt-4o-mini-2024-07-18',
      trained_tokens: 5768,
    },
  };
  const states = new Map<string, { status: string; usage: object | null }>();
  let provider: string;
  let upstream: Upstream;
  let looks: string[];
  beforeAll(async () => {
    upstream = await startUpstream();
    let made = 0;
    upstream.handle(({ method, path }) => {
      const [, , root = '', ...rest] = path.split('/');
      if (root === 'models')
        return json(200, { object: 'list', data: [{ id: 'own-1', created: 7 }] });
      const isRun = root === 'threads';
      const job = jobs[root as keyof typeof jobs];
      if (method === 'POST') made += 1;
      const kind = job?.object ?? (isRun ? 'run' : 'resp');
      const id = method === 'POST' ? `${kind}_followed_${made}` : rest.at(-1);
      if (method === 'POST') states.set(id ?? '', { status: 'queued', usage: null });
      else looks.push(path);
      const state = states.get(id ?? '');
      if (state === undefined) return json(404, { error: { message: 'no such thing' } });
      const base = { id, model: 'gpt-4o-mini', created_at: Math.floor(Date.now() / 1000) - 5 };
      if (job !== undefined) return json(200, { ...base, ...job, ...state });
      return json(
        200,
        isRun
          ? { ...base, object: 'thread.run', thread_id: 'thread_7', ...state }
          : { ...base, object: 'response', background: true, output: [], ...state },
      );
    });
    provider = await saved('going-on', upstream.url);
  });
  afterAll(() => upstream.close());
  beforeEach(() => {
    looks = [];
  });

  const newKey = () =>
    scenario().admin<{ id: string; key: string }>('POST', '/api-keys/workspace/service', {
      name: 'Goes on',
      workspace_id: scenario().stack.credentials.workspace_id,
      scopes: ['completions.write'],
    });
  const begin = async (key?: string, path = '/v1/responses') => {
    const body = {
      model: 'gpt-4o-mini',
      input: 'Hi',
      background: true,
      assistant_id: 'asst_x',
    };
    return idOf(await ask(path, { provider }, { body, ...(key === undefined ? {} : { key }) }));
  };
  interface Row {
    state: string;
    reason: string;
    run: number;
    in_ms: number;
  }
  const rowOf = (id: string): Promise<Row | undefined> =>
    inDatabase(scenario().stack.databaseUrl, async (db) => {
      const { rows } = await db.query<Row>(
        `SELECT state, reason, run, (extract(epoch FROM look_at - clock_timestamp()) * 1000)::int AS in_ms
          FROM followed_work WHERE object_id = $1`,
        [id],
      );
      return rows[0];
    });
  /** As if the time between two looks had gone by. */
  const look = async (id: string, isSeen: (row: Row) => boolean) => {
    await eventually(async () => (await rowOf(id)) !== undefined);
    await inDatabase(scenario().stack.databaseUrl, (db) =>
      db.query(`UPDATE followed_work SET look_at = clock_timestamp() WHERE object_id = $1`, [id]),
    );
    let row: Row | undefined;
    await eventually(async () => {
      row = await rowOf(id);
      return row !== undefined && isSeen(row);
    });
    return row;
  };
  const end = (id: string) =>
    states.set(id, {
      status: id.startsWith('fine') ? 'succeeded' : 'completed',
      usage: id.startsWith('run') ? asRun : used,
    });
  const hasEnded = ({ state }: Row) => state !== 'open';

  it.each([
    ['response', '/v1/responses', 'createModelResponse'],
    ['run', '/v1/threads/thread_7/runs', 'createRun'],
    ['video', '/v1/videos', 'createVideo'],
    ['fine-tuning job', '/v1/fine_tuning/jobs', 'createFinetune'],
  ])('is billed once when it ends, and by no poll after that: a %s', async (_, path, endpoint) => {
    const id = await begin(undefined, path);
    const billed = () =>
      records()
        .all()
        .filter((each) => each.endpoint === endpoint && each.costNanoUsd > 0n).length;
    const before = billed();
    const row = await look(id, ({ run, in_ms }) => run === 1 && in_ms < 30_000);
    expect([row?.state, (row?.in_ms ?? 0) > 5_000, billed()]).toEqual(['open', true, before]);
    end(id);
    expect(await look(id, hasEnded)).toMatchObject({
      state: 'ended',
      reason: states.get(id)?.status,
    });
    expect(looks).toEqual([`${path}/${id}`, `${path}/${id}`]);
    await eventually(() => billed() === before + 1);
    const polls = Array.from({ length: 10 }, (_each, at) =>
      ask(`${path}/${id}`, { provider }, { method: 'GET', gateway: at % 2 }),
    );
    for (const { status } of await Promise.all(polls)) expect(status).toBe(200);
    await delay(300);
    expect(billed()).toBe(before + 1);
  });

  it('is billed to a key that was suspended meanwhile, and ends with one that is gone', async () => {
    const [suspended, gone] = [await newKey(), await newKey()];
    const ids = [await begin(suspended.key), await begin(gone.key)] as const;
    for (const id of ids) end(id);
    await scenario().admin('POST', `/api-keys/${suspended.id}/suspend`);
    await scenario().admin('DELETE', `/api-keys/${gone.id}`);
    expect(await look(ids[0], hasEnded)).toMatchObject({ state: 'ended' });
    await eventually(() =>
      records()
        .all()
        .some((each) => each.apiKeyId === suspended.id && each.inputTokens === 1200n),
    );
    expect(await look(ids[1], hasEnded)).toMatchObject({
      state: 'gone',
      reason: 'auth.invalid_key',
    });
  });

  it('is at a provider whose models are those that it lists itself', async () => {
    const { data } = await scenario()
      .call(`/v1/models?provider=${provider.slice(1)}`, { method: 'GET', host: null })
      .then((response) => response.json() as Promise<{ data: object[] }>);
    expect(data).toMatchObject([{ id: `${provider}/own-1`, created: 7 }]);
    expect(upstream.requests.at(-1)?.headers.authorization).toBe('Bearer sk-saved');
  });

  it('is not followed where the caller brought the credential', async () => {
    const config = { ...target(0), custom_host: `${upstream.url}/v1` };
    const body = { model: 'gpt-4o-mini', input: 'Hi', background: true };
    const [own, id] = [await idOf(await ask('/v1/responses', config, { body })), await begin()];
    await look(id, ({ run }) => run === 1);
    expect(await rowOf(own)).toBeUndefined();
  });

  it('is looked at with a token that opens its path alone, for reading', async () => {
    const { id: apiKeyId } = await newKey();
    const id = await begin();
    const path = `/v1/responses/${id}`;
    const seal = jobTokenSeal(scenario().stack.serviceToken);
    const statement = { workId: crypto.randomUUID(), apiKeyId, provider, path, traceId: 'of-it' };
    const send = async (to: string, method = 'GET', over = {}, atMs = Date.now()) => {
      const response = await fetch(`${scenario().stack.gatewayUrls[0]}${to}`, {
        method,
        headers: {
          authorization: `Bearer ${seal.sign({ ...statement, ...over }, atMs)}`,
          'x-service-custom-host': 'http://127.0.0.1:1/v1',
        },
      });
      return [response.status, (await errorOf(response)).code];
    };
    // The one header that is heard says who has it; a host of the sender's does not count.
    expect((await send(path))[0]).toBe(200);
    const refused = [401, 'auth.job_token'];
    expect(await send(`${path}/input_items`)).toEqual(refused);
    expect(await send(`${path}?stream=true`)).toEqual(refused);
    expect(await send(path, 'DELETE')).toEqual(refused);
    expect(await send(`${path}/cancel`, 'POST')).toEqual(refused);
    expect(await send('/v1/models')).toEqual(refused);
    expect(await send(path, 'GET', {}, Date.now() - jobTokenLifeMs)).toEqual(refused);
    expect(await send(path, 'GET', { apiKeyId: crypto.randomUUID() })).toEqual([
      401,
      'auth.invalid_key',
    ]);
  });
}
