import { setTimeout as delay } from 'node:timers/promises';
import { objectOperations, publishedOperations } from '@sluice/contracts';
import { bytes, eventually, freshName, isLongForm, json, startUpstream } from '@sluice/testkit';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventsOf, kept, kinds, startKeeper, upstreams } from './keepers.ts';
import { describeJobs } from './kept-jobs.ts';
import { provesBilling } from './proves-billing.ts';
import { provesFollowing } from './proves-following.ts';
import { provesLists, refusesUnsureLists } from './proves-lists.ts';
import { type Records, readRecords } from './records.ts';
import { type CallOptions, errorOf, type Scenario, startScenario } from './scenario.ts';

/** What stays at providers: two gateways with one Redis, three targets. */

/** In full with three gateways and as many objects as `OWNED_OBJECTS` says; `npm run test:long` makes more than the suite. */
const count = Number(process.env.OWNED_OBJECTS ?? (isLongForm ? 20 : 6));
const gateways = process.env.OWNED_OBJECTS === undefined ? 2 : 3;

let scenario: Scenario;
let records: Records;
beforeAll(async () => {
  [scenario] = await Promise.all([
    startScenario({
      gateways,
      redis: true,
      nats: true,
      environment: {
        gateway: { SKIP_DATAPLANE_CONFIG_CHECK: 'true', REALTIME_VENDOR_SECRETS: 'true' },
        'gateway-2': { SKIP_DATAPLANE_CONFIG_CHECK: 'true' },
        'data-service': { FOLLOW_LOOK_INTERVAL: '100' },
      },
    }),
    startKeeper(),
    startKeeper(),
    startKeeper(),
  ]);
  records = await readRecords(scenario.stack.nats?.url ?? '');
});
afterAll(async () => {
  await records.close();
  await Promise.all([scenario.stop(), ...upstreams.map((upstream) => upstream.close())]);
});

const target = (index: number, over: object = {}) => ({
  provider: 'openai',
  api_key: `sk-${index}`,
  custom_host: `${upstreams[index]?.url}/v1`,
  ...over,
});

/** Spread over all three, so that a follow-up left to it mostly goes wrong. */
const spread = () => ({
  strategy: { mode: 'loadbalance' },
  targets: [0, 1, 2].map((index) => target(index)),
});

function ask(path: string, config: object | undefined, over: CallOptions = {}): Promise<Response> {
  return scenario.call(path, {
    host: null,
    ...over,
    headers: {
      ...(config === undefined ? {} : { 'x-service-config': JSON.stringify(config) }),
      ...over.headers,
    },
  });
}

const look = (path: string, config: object | undefined, over: CallOptions = {}) =>
  ask(path, config, { method: 'GET', ...over });

async function idOf(response: Response): Promise<string> {
  const body = (await response.json()) as { id?: string };
  expect(response.status, JSON.stringify(body)).toBe(200);
  return body.id ?? '';
}

async function make(path: string, body: object = {}, gateway = 0): Promise<string> {
  return idOf(await ask(path, spread(), { body, gateway }));
}

/** A provider that admins saved. */
async function saved(name: string, host: string, models?: object[]): Promise<string> {
  const slug = freshName(name);
  const manage = async (method: string, path: string, body: object) => {
    const response = await scenario.call(`/v1${path}`, { method, host: null, body });
    expect(response.status, await response.clone().text()).toBe(200);
  };
  await manage('POST', '/integrations', {
    name: slug,
    slug,
    ai_provider_id: 'openai',
    key: 'sk-saved',
    configurations: { custom_host: `${host}/v1` },
    create_default_provider: false,
  });
  if (models !== undefined)
    await manage('PUT', `/integrations/${slug}/models`, { allow_all_models: false, models });
  await manage('POST', '/providers', { name: slug, slug, integration_id: slug });
  return `@${slug}`;
}

describe('what stays at a provider', () => {
  it(`has its follow-ups, from another gateway, right behind its answer (${count})`, async () => {
    for (let index = 0; index < count; index++) {
      const response = await make('/v1/responses', { model: 'gpt-5', input: 'Hello' });
      const [retrieved, next, items] = await Promise.all([
        look(`/v1/responses/${response}`, spread(), { gateway: 1 }),
        ask('/v1/responses', spread(), {
          gateway: 1,
          body: { model: 'gpt-5', input: 'And?', previous_response_id: response },
        }),
        look(`/v1/responses/${response}/input_items`, spread(), { gateway: 1 }),
      ]);
      expect([retrieved.status, next.status, items.status]).toEqual([200, 200, 200]);
      const owner = kept.findIndex((objects) => objects.has(response));
      expect(kept[owner]?.has(await idOf(next)), 'the next one is made where the first is').toBe(
        true,
      );
      const conversation = await make('/v1/conversations', {});
      const said = await ask(`/v1/conversations/${conversation}/items`, spread(), {
        gateway: 1,
        body: { items: [] },
      });
      expect(said.status).toBe(200);
    }
  }, 600_000);

  it('is found by ids in bodies, of every kind', async () => {
    const file = await make('/v1/files', { purpose: 'batch' });
    const fileAt = kept.findIndex((objects) => objects.has(file));
    const store = await idOf(
      await ask('/v1/vector_stores', spread(), { gateway: 1, body: { file_ids: [file] } }),
    );
    const batch = await idOf(
      await ask('/v1/batches', spread(), { gateway: 1, body: { input_file_id: file } }),
    );
    const assistant = await idOf(
      await ask('/v1/assistants', spread(), {
        gateway: 1,
        body: { model: 'gpt-5', tool_resources: { file_search: { vector_store_ids: [store] } } },
      }),
    );
    const response = await idOf(
      await ask('/v1/responses', spread(), {
        gateway: 1,
        body: {
          model: 'gpt-5',
          input: 'Hi',
          tools: [{ type: 'file_search', vector_store_ids: [store] }],
        },
      }),
    );
    for (const id of [store, batch, assistant, response]) expect(kept[fileAt]?.has(id)).toBe(true);
  });

  it('is told of by the first event of a stream, whose bytes are the upstream’s', async () => {
    const answer = await ask('/v1/responses', spread(), {
      body: { model: 'gpt-5', input: 'Hi', stream: true },
    });
    const text = await answer.text();
    const id = /"id":"(response_\d+)"/.exec(text)?.[1] ?? '';
    const owner = kept.find((objects) => objects.has(id));
    expect(text).toBe(eventsOf(owner?.get(id) ?? {}).join(''));
    for (const gateway of [0, 1])
      expect((await look(`/v1/responses/${id}`, spread(), { gateway })).status).toBe(200);
  });

  it('comes as its provider sends it, byte by byte', async () => {
    const id = freshName('vector_store_odd');
    const text = `{ "object":"vector_store" ,\n "id": "${id}", "x":1e2,"y":"\\u00fc" }`;
    const upstream = await startUpstream();
    upstream.handle(() =>
      bytes(200, Buffer.from(text), { 'content-type': 'application/json; charset=utf-8' }),
    );
    const config = { ...target(0), custom_host: `${upstream.url}/v1` };
    const body = '{ "name" : "odd",\t"file_ids":[ ] }';
    expect(await (await ask('/v1/vector_stores', config, { rawBody: body })).text()).toBe(text);
    expect(upstream.requests.at(-1)?.body.toString()).toBe(body);
    expect(await (await look(`/v1/vector_stores/${id}`, config)).text()).toBe(text);
    await upstream.close();
  });

  it('is another workspace’s to nobody, although the credential is the same', async () => {
    const { workspace_id } = await scenario
      .admin<{ workspace_id?: string; id: string }>('POST', '/admin/workspaces', { name: 'Others' })
      .then(({ id, workspace_id = id }) => ({ workspace_id }));
    const { key } = await scenario.admin<{ key: string }>('POST', '/api-keys/workspace/service', {
      name: 'Others',
      workspace_id,
      scopes: ['completions.write'],
    });
    for (const root of Object.keys(kinds)) {
      const id = await make(`/v1/${root}`, { model: 'gpt-5', input: 'Hi' });
      const owner = kept.findIndex((objects) => objects.has(id));
      for (const gateway of [0, 1])
        for (const config of [spread(), target(owner)])
          for (const path of [
            `/v1/${root}/${id}`,
            `/v1/proxy/${root}/${id}`,
            `/v1//${root}/${id}/`,
          ])
            expect((await look(path, config, { key, gateway })).status, path).toBe(404);
      const named = await look(`/v1/${root}/${id}`, undefined, {
        key,
        headers: {
          'x-service-provider': 'openai',
          'x-service-custom-host': `${upstreams[owner]?.url}/v1`,
          authorization: 'Bearer sk-own',
        },
      });
      expect(await errorOf(named)).toMatchObject({ status: 404, code: 'object.owner_unknown' });
      const removed = await ask(`/v1/${root}/${id}`, target(owner), { method: 'DELETE', key });
      expect(removed.status).toBe(404);
      expect(kept[owner]?.has(id), 'it is still there').toBe(true);
    }
    // A voice can be made and removed, and no more.
    const voice = await make('/v1/audio/voices', { name: 'Ours' });
    const voiceAt = kept.findIndex((objects) => objects.has(voice));
    const remove = (gateway: number, as: CallOptions) =>
      ask(`/v1/audio/voices/${voice}`, target(voiceAt), { method: 'DELETE', gateway, ...as });
    for (const gateway of [0, 1]) expect((await remove(gateway, { key })).status).toBe(404);
    expect(kept[voiceAt]?.has(voice), 'it is still there').toBe(true);
    expect((await remove(1, {})).status).toBe(200);
    const file = await idOf(await ask('/v1/files', target(0), { body: {} }));
    const asking = (content: object) => ({
      model: 'gpt-5',
      max_tokens: 9,
      messages: [{ role: 'user', content: [content] }],
    });
    const source = { type: 'file', file_id: file };
    const message = { role: 'user', content: 'Hi', attachments: [{ file_id: file }] };
    const skill = await idOf(await ask('/v1/skills', target(0), { body: {} }));
    const withSkill = (id: string) => ({
      ...asking({ type: 'text', text: 'Hi' }),
      container: { skills: [{ type: 'custom', skill_id: id }] },
    });
    const skills = [{ type: 'skill_reference', skill_id: skill }];
    const shell = { type: 'shell', environment: { type: 'container_auto', skills } };
    const answered = { type: 'function_call_output', call_id: 'c', output: [source] };
    for (const [path, body] of [
      ['/v1/chat/completions', asking({ type: 'file', file: { file_id: file } })],
      ['/v1/messages', asking({ type: 'document', source })],
      ['/v1/messages', asking({ type: 'container_upload', file_id: file })],
      ['/v1/messages', asking({ type: 'tool_result', content: [{ type: 'document', source }] })],
      ['/v1/responses', { model: 'gpt-5', input: [answered] }],
      ['/v1/messages', withSkill(skill)],
      ['/v1/responses', { model: 'gpt-5', input: 'Hi', tools: [shell] }],
      ['/v1/containers', { name: 'c', skills }],
      [`/v1/skills/${skill}/versions`, {}],
      ['/v1/threads/runs', { assistant_id: 'a', thread: { messages: [message] } }],
    ] as const)
      for (const gateway of [0, 1]) {
        const before = upstreams[0]?.requests.length;
        const given = await ask(path, target(0), { body, gateway, key });
        expect([path, given.status], await given.text()).toEqual([path, 404]);
        expect(upstreams[0]?.requests.length, path).toBe(before);
      }
    // The vendor's own are everybody's.
    const common = await ask('/v1/messages', spread(), { body: withSkill('pptx'), key });
    expect(await errorOf(common)).not.toMatchObject({ code: 'object.owner_unknown' });
    const response = await make('/v1/responses', { model: 'gpt-5', input: 'Hi' });
    const owner = kept.findIndex((objects) => objects.has(response));
    for (const path of ['/v1/responses', '/v1/proxy/responses', '/v1/proxy/v1//responses/'])
      for (const over of [{}, { 'content-type': 'text/plain' }] as Record<string, string>[]) {
        const body = { model: 'gpt-5', input: 'Hi', previous_response_id: response };
        const next = await ask(path, target(owner), { key, body, headers: over });
        expect([400, 404], path).toContain(next.status);
      }
  });

  it('is looked for at every target where nobody knows it, and changed by nobody', async () => {
    kept[2]?.set('thread_unseen', { id: 'thread_unseen', object: 'thread' });
    for (const gateway of [0, 1])
      expect((await look('/v1/threads/thread_unseen', spread(), { gateway })).status).toBe(200);
    expect((await look('/v1/threads/thread_nowhere', spread())).status).toBe(404);
    const change = (config: object | undefined, over: CallOptions = {}) =>
      ask('/v1/threads/thread_unseen', config, { body: { metadata: {} }, ...over });
    expect(await errorOf(await change(spread()))).toMatchObject({
      status: 404,
      code: 'object.owner_unknown',
    });
    // There is but one to ask, or the caller says whom.
    expect((await change(target(2))).status).toBe(200);
    expect(await errorOf(await change(undefined))).toMatchObject({
      status: 400,
      code: 'provider.missing',
    });
  });

  it('is asked of the provider that the caller names, whoever made it', async () => {
    const id = await make('/v1/threads', {});
    const owner = kept.findIndex((objects) => objects.has(id));
    const other = (owner + 1) % 3;
    const named = await look(`/v1/threads/${id}`, undefined, {
      headers: {
        'x-service-provider': 'openai',
        'x-service-custom-host': `${upstreams[other]?.url}/v1`,
        authorization: 'Bearer sk-own',
      },
    });
    expect(named.status).toBe(404);
    expect(upstreams[other]?.requests.at(-1)?.path).toBe(`/v1/threads/${id}`);
  });

  it('is of one provider in one request', async () => {
    const ids: string[] = [];
    for (const index of [0, 1])
      ids.push(await idOf(await ask('/v1/files', target(index), { body: {} })));
    const both = await ask('/v1/vector_stores', spread(), { body: { file_ids: ids } });
    expect(await errorOf(both)).toMatchObject({ status: 400, code: 'object.owners_differ' });
    const twice = await ask('/v1/batches', spread(), {
      rawBody: `{"input_file_id":"${ids[0]}","input_file_id":"${ids[1]}"}`,
    });
    expect(await errorOf(twice)).toMatchObject({ status: 400, code: 'request.ambiguous_member' });
  });
});

describe('an operation on what stays at a provider', () => {
  it('may be a client secret of the provider: flagged as not counted, and for nobody with limits', async () => {
    const upstream = await startUpstream();
    upstream.handle(() => json(200, { value: 'ek_of_vendor' }));
    const config = { ...target(0), custom_host: `${upstream.url}/v1` };
    const body = {
      expires_after: { anchor: 'created_at', seconds: 60 },
      session: { type: 'realtime', model: '@x/y', voice: 'marin' },
    };
    const given = await ask('/v1/realtime/client_secrets', config, { body });
    expect(await given.json()).toEqual({ value: 'ek_of_vendor' });
    const sent = JSON.parse(String(upstream.requests.at(-1)?.body));
    expect(sent).toEqual({ ...body, session: { ...body.session, model: 'y' } });
    const flat = { model: 'gpt-realtime', voice: 'marin' };
    expect((await ask('/v1/realtime/sessions', config, { body: flat })).status).toBe(200);
    expect(JSON.parse(String(upstream.requests.at(-1)?.body))).toEqual(flat);
    await eventually(() =>
      expect(records.all()).toContainEqual(
        expect.objectContaining({
          endpoint: 'createRealtimeSecret',
          metadata: expect.objectContaining({ _category: 'realtime', _unmetered: 'true' }),
        }),
      ),
    );
    const { key } = await scenario.admin<{ key: string }>('POST', '/api-keys/workspace/service', {
      name: 'Limited',
      workspace_id: scenario.stack.credentials.workspace_id,
      scopes: ['completions.write'],
      usage_limits: { type: 'cost', credit_limit: 100 },
    });
    const refused = await ask('/v1/realtime/client_secrets', config, { key, body });
    expect(await errorOf(refused)).toMatchObject({ status: 403, code: 'limit.unmetered' });
    expect(upstream.requests).toHaveLength(2);
    await upstream.close();
  });

  it('uses no limit where it only looks: a key with 3 a minute polls on', async () => {
    const { key } = await scenario.admin<{ key: string }>('POST', '/api-keys/workspace/service', {
      name: 'Slow',
      workspace_id: scenario.stack.credentials.workspace_id,
      scopes: ['completions.write'],
      rate_limits: [{ type: 'requests', unit: 'rpm', value: 3 }],
    });
    const id = await idOf(
      await ask('/v1/responses', spread(), { key, body: { model: 'gpt-5', input: 'Hi' } }),
    );
    const polls = Number(process.env.OWNED_POLLS ?? 20);
    for (let poll = 0; poll < polls; poll++) {
      const gateway = poll % 2;
      expect((await look(`/v1/responses/${id}`, spread(), { key, gateway })).status).toBe(200);
    }
    expect((await look('/v1/vector_stores', spread(), { key })).status).toBe(200);
    const cancelled = await ask(`/v1/responses/${id}/cancel`, spread(), { key, rawBody: '' });
    expect(cancelled.status).toBe(200);
    const statuses: number[] = [];
    for (let index = 0; index < 3; index++)
      statuses.push((await ask('/v1/threads', spread(), { key, body: {} })).status);
    expect(statuses).toEqual([200, 200, 429]);
  });

  it('is refused by a provider without it, which says who has it', async () => {
    const refused = await look('/v1/threads/thread_1', undefined, {
      headers: { 'x-service-provider': 'anthropic', authorization: 'Bearer sk' },
    });
    const error = await errorOf(refused);
    expect(error).toMatchObject({ status: 400, code: 'provider.endpoint_unsupported' });
    expect(error.message).toContain('openai, azure-ai, azure-openai');
  });

  it('is sent with the header of its beta, unless the caller has one', async () => {
    await make('/v1/threads', {});
    const sent = () =>
      upstreams
        .flatMap(({ requests }) => requests.slice(-1))
        .map(({ headers }) => headers['openai-beta']);
    expect(sent()).toContain('assistants=v2');
    await ask('/v1/threads', target(0), { body: {}, headers: { 'openai-beta': 'assistants=v9' } });
    expect(upstreams[0]?.requests.at(-1)?.headers['openai-beta']).toBe('assistants=v9');
  });

  it('is judged by a target’s own checks, where it has texts', async () => {
    const config = {
      ...target(0),
      input_guardrails: [
        { 'default.contains': { words: ['forbidden'], operator: 'none' }, deny: true },
      ],
    };
    const thread = await idOf(await ask('/v1/threads', config, { body: {} }));
    const conversation = await idOf(await ask('/v1/conversations', config, { body: {} }));
    const ways: [string, (text: string) => object][] = [
      [`/v1/threads/${thread}/messages`, (content) => ({ role: 'user', content })],
      [
        `/v1/conversations/${conversation}/items`,
        (text) => ({ items: [{ role: 'user', content: [{ type: 'input_text', text }] }] }),
      ],
      ['/v1/threads', (content) => ({ messages: [{ role: 'user', content }] })],
    ];
    for (const [path, body] of ways) {
      const before = upstreams[0]?.requests.length;
      expect((await ask(path, config, { body: body('it is forbidden') })).status, path).toBe(446);
      expect(upstreams[0]?.requests.length, path).toBe(before);
      expect((await ask(path, config, { body: body('it is fine') })).status, path).toBe(200);
    }
  });

  it('makes nothing twice: it is sent again only when it did not arrive', async () => {
    let calls = 0;
    const failing = await startUpstream();
    failing.handle(() => {
      calls++;
      return json(500, { error: { message: 'down' } });
    });
    const config = {
      strategy: { mode: 'fallback' },
      retry: { attempts: 3, on_status_codes: [500] },
      targets: [{ ...target(0), custom_host: `${failing.url}/v1` }, target(1)],
    };
    expect((await ask('/v1/threads', config, { body: {} })).status).toBe(500);
    expect(calls).toBe(1);
    await failing.close();
    // Nobody is there any more.
    const { retry: _, ...once } = config;
    expect((await ask('/v1/threads', once, { body: {} })).status).toBe(200);
  });
});

provesBilling({
  scenario: () => scenario,
  records: () => records,
  ask,
  look,
  idOf,
  spread,
  target,
});

provesLists({ scenario: () => scenario, ask, look, idOf });

describe('work that nobody polls', () =>
  provesFollowing({ scenario: () => scenario, records: () => records, saved, target }));

describeJobs(() => ({ scenario, records }));

it('each published operation is answered as docs/operations.md says', async () => {
  const asked = [
    ...publishedOperations,
    ...objectOperations.map((operation) => ({ at: operation.at, operation, other: undefined })),
  ];
  for (const { at, operation, other } of asked) {
    expect(operation?.id ?? other, at).toBeDefined();
    const [method = '', pattern = ''] = at.split(' ');
    const path = pattern.replaceAll(/:(\w+)/g, 'the-$1');
    const response = await ask(path, target(0), {
      method,
      ...(method === 'DELETE' ? { rawBody: '' } : {}),
      body: {},
    });
    const body = await response.text();
    expect(
      [404, 405].includes(response.status) && body.includes('route_not_found'),
      `${at} ${body}`,
    ).toBe(false);
    if (beginsCall.test(at)) {
      // Read before it is sent: without an offer nothing is. `test/realtime` begins some.
      expect([response.status, body], at).toEqual([400, expect.stringContaining('invalid_field')]);
      continue;
    }
    if (operation?.about === 'object') {
      expect(upstreams[0]?.requests.at(-1)?.method, at).toBe(method);
      // No provider has outputs: the batch is asked where its are.
      const asked = path.replace(/(\/batches\/[^/]+)\/(?:output|results)$/, '$1');
      expect(upstreams[0]?.requests.at(-1)?.path, at).toBe(asked);
    }
  }
});

const beginsCall = /^POST \/v1\/realtime\/(?:translations\/)?calls$/;

describe('an owner that is a saved provider', () => {
  it('is asked though no config and no header names it', async () => {
    const provider = await saved('keeper', upstreams[1]?.url ?? '');
    const id = await idOf(await ask('/v1/threads', { provider }, { body: {} }));
    for (const gateway of [0, 1])
      for (const config of [undefined, spread(), target(0)]) {
        expect((await look(`/v1/threads/${id}`, config, { gateway })).status).toBe(200);
        expect(upstreams[1]?.requests.at(-1)?.headers.authorization).toBe('Bearer sk-saved');
      }
  });

  it('serves a run by its assistant’s model, where it is limited to some', async () => {
    const models = [{ slug: 'gpt-4o-mini', enabled: true }];
    const config = { provider: await saved('limited', upstreams[1]?.url ?? '', models) };
    const assistant = async (model: string) => ask('/v1/assistants', config, { body: { model } });
    expect(await errorOf(await assistant('gpt-5'))).toMatchObject({
      code: 'provider.model_not_allowed',
    });
    const own = await idOf(await assistant('gpt-4o-mini'));
    kept[1]?.set('asst_unseen', { id: 'asst_unseen', object: 'assistant', model: 'gpt-5' });
    const thread = await idOf(await ask('/v1/threads', config, { body: {} }));
    const run = (body: object, gateway: number) =>
      ask(`/v1/threads/${thread}/runs`, config, { body, gateway });
    for (const gateway of [0, 1]) {
      expect((await run({ assistant_id: own }, gateway)).status).toBe(200);
      expect((await run({ assistant_id: own, model: 'gpt-5' }, gateway)).status).toBe(403);
      expect(await errorOf(await run({ assistant_id: 'asst_unseen' }, gateway))).toMatchObject({
        code: 'provider.model_unreadable',
      });
    }
  });
});

/** Some at a time. */
async function eachOf(number: number, work: (at: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async () => {
    for (let at = next++; at < number; at = next++) await work(at);
  };
  await Promise.all(Array.from({ length: 16 }, worker));
}

const mini = { model: 'gpt-4o-mini' };

it(`is found in the ledger with Redis flushed and gateways restarted (${count})`, async () => {
  const forget = async (isLedgerThere = true) => {
    const client = new Redis(scenario.stack.redis?.url ?? '');
    await client.flushall();
    await client.quit();
    const names = (['gateway', 'gateway-2', 'gateway-3'] as const).slice(0, gateways);
    await Promise.all(names.map((name) => scenario.stack.part(name).stop()));
    // What they have sent until their end is all there is to know of what they made.
    if (isLedgerThere) await records.stored();
    await Promise.all(names.map((name) => scenario.stack.part(name).start()));
  };
  const ids: { response: string; conversation: string }[] = [];
  await eachOf(count, async (at) => {
    const gateway = at % gateways;
    const body = { model: 'gpt-5', input: 'Hi' };
    ids.push({
      response: await make('/v1/responses', body, gateway),
      conversation: await make('/v1/conversations', {}, gateway),
    });
  });
  const followUps = async ({ response, conversation }: (typeof ids)[number], gateway: number) => {
    const next = await ask('/v1/responses', spread(), {
      gateway,
      body: { model: 'gpt-5', input: 'And?', previous_response_id: response },
    });
    const added = await ask(`/v1/conversations/${conversation}/items`, spread(), {
      gateway,
      body: { items: [] },
    });
    return [next, added] as const;
  };
  const overnight = await make(
    '/v1/responses',
    { ...mini, input: 'Hi', background: true, background_options: { completion_window: '8h' } },
    0,
  );
  await forget();
  const owner = kept.find((objects) => objects.has(overnight));
  const usage = { input_tokens: 10_001, output_tokens: 0, total_tokens: 10_001 };
  owner?.set(overnight, { ...owner.get(overnight), status: 'completed', usage });
  expect((await look(`/v1/responses/${overnight}`, spread(), { gateway: 1 })).status).toBe(200);
  await eventually(() => {
    const bill = records.all().find(({ inputTokens }) => inputTokens === 10_001n);
    // What it may take hours for is remembered with whose it is.
    expect(bill).toMatchObject({ serviceTier: 'background-8h', costNanoUsd: 900_090n });
  });
  let comeAgain = 0;
  await eachOf(count, async (at) => {
    const each = ids[at] ?? { response: '', conversation: '' };
    let [next, added] = await followUps(each, (at + 1) % gateways);
    // On a machine that is busy with all of this an answer may take longer than its deadline: it says so, and when to come again.
    for (let again = 0; next.status + added.status > 400 && again < 20; again += 1) {
      expect([next.status, added.status]).toContain(503);
      comeAgain += 1;
      await delay(1_000);
      [next, added] = await followUps(each, (at + 1) % gateways);
    }
    const owner = kept.findIndex((objects) => objects.has(each.response));
    expect(kept[owner]?.has(await idOf(next)), 'made where the first is').toBe(true);
    expect(added.status).toBe(200);
  });
  if (gateways > 2) process.stdout.write(`${comeAgain} of ${count} were told to come again\n`);
  const others = await scenario.admin<{ id: string; workspace_id?: string }>(
    'POST',
    '/admin/workspaces',
    {
      name: 'Late',
    },
  );
  const { key } = await scenario.admin<{ key: string }>('POST', '/api-keys/workspace/service', {
    name: 'Late',
    workspace_id: others.workspace_id ?? others.id,
    scopes: ['completions.write'],
  });
  await forget();
  const [first] = ids;
  const theirs = await look(`/v1/responses/${first?.response}`, spread(), { key });
  expect(theirs.status).toBe(404);

  await refusesUnsureLists(scenario, look);
  await forget(false);
  for (const [at, each] of ids.slice(0, 12).entries()) {
    const gateway = at % gateways;
    const seen = await look(`/v1/responses/${each.response}`, spread(), { gateway });
    expect(seen.status).toBe(200);
    for (const refused of await followUps(each, gateway))
      expect(await errorOf(refused)).toMatchObject({
        status: 503,
        code: 'object.owners_unavailable',
      });
  }
  await scenario.stack.part('data-service').start();
  await eventually(
    async () => first !== undefined && (await followUps(first, 0)).every(({ ok }) => ok),
  );
}, 1_800_000);
