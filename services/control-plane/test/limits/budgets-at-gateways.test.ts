import { eventually, json, startUpstream, type Upstream } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type GatewayProcess, startGateway } from '../support/gateway-process.ts';
import { type Harness, startHarness } from '../support/harness.ts';

/** What admins set is in force at the next request, and what requests use is shown to admins. */
let h: Harness;
let upstream: Upstream;
let gateway: GatewayProcess;
let provider: string;

beforeAll(async () => {
  upstream = await startUpstream();
  upstream.handle(
    json(200, {
      id: 'x',
      object: 'chat.completion',
      model: 'm',
      choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 20, completion_tokens: 40, total_tokens: 60 },
    }),
  );
  h = await startHarness();
  gateway = await startGateway(h, h.service);
  const made = await workspace().post('/integrations', {
    name: 'Upstream',
    ai_provider_id: 'openai',
    slug: 'upstream',
    key: 'sk-some-key-of-openai',
    configurations: { custom_host: `${upstream.url}/v1` },
  });
  expect(made.status, made.text).toBe(200);
  provider = '@upstream';
});
afterAll(async () => {
  await gateway?.stop();
  await h.stop();
  await upstream.close();
});

const workspace = () => h.as(h.first.workspace_key);

async function ask(key: string, headers: Record<string, string> = {}): Promise<number> {
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'x-service-api-key': key,
      'x-service-provider': provider,
      'content-type': 'application/json',
      ...headers,
    },
    body: JSON.stringify({
      model: 'gpt-4o-mini',
      max_tokens: 40,
      messages: [{ role: 'user', content: 'x' }],
    }),
  });
  await answer.text();
  return answer.status;
}

/** Says it again while the gateway is too busy to confirm it in time: each change here may be made twice. */
async function change(path: string, body?: object): Promise<void> {
  await eventually(async () => {
    const answer = await workspace().put(path, body).expect(200);
    expect(answer.headers['x-service-in-force']).toBe('everywhere');
  });
}

async function makeKey(limits: object) {
  const made = await workspace().post('/api-keys/workspace/service', {
    name: 'spender',
    scopes: ['completions.write'],
    ...limits,
  });
  expect(made.status, made.text).toBe(200);
  const path = `/api-keys/${made.body.id}`;
  return {
    key: made.body.key as string,
    shown: async () => (await workspace().get(path).expect(200)).body,
    change: (body: object) => change(path, body),
  };
}

describe('a budget of a key', () => {
  it('is used by requests, and shown; raised or reset it is open to the next request', async () => {
    const { key, shown, change } = await makeKey({
      usage_limits: { credit_limit: 100, type: 'tokens' },
    });
    expect([await ask(key), await ask(key), await ask(key)]).toEqual([200, 200, 412]);
    await eventually(async () => (await shown()).usage_limits.current_usage === 120);
    expect(await shown()).toMatchObject({
      status: 'exhausted',
      usage_limits: { status: 'exhausted', reserved: 0, overshoot_bound: 0 },
    });
    await change({ usage_limits: { credit_limit: 130, type: 'tokens' } });
    expect([await ask(key), await ask(key)]).toEqual([200, 412]);
    await change({ reset_usage: true });
    expect([await ask(key), await ask(key), await ask(key)]).toEqual([200, 200, 200]);
    await eventually(async () => (await shown()).usage_limits.current_usage === 180);
  });
});

describe('a policy', () => {
  it('has an entity for each group, and one that is reset goes on alone', async () => {
    const { key } = await makeKey({});
    const made = await workspace()
      .post('/policies/usage-limits', {
        conditions: [{ key: 'metadata._user', value: '*' }],
        group_by: [{ key: 'metadata._user' }],
        type: 'requests',
        credit_limit: 2,
      })
      .expect(200);
    const policy = `/policies/usage-limits/${made.body.id}`;
    const as = (user: string) =>
      ask(key, { 'x-service-metadata': JSON.stringify({ _user: user }) });
    for (const user of ['Alice', 'bob@x.com'])
      expect([await as(user), await as(user), await as(user)]).toEqual([200, 200, 412]);
    const entities = async () =>
      (await workspace().get(`${policy}/entities?status=exhausted`).expect(200)).body.data;
    await eventually(async () => (await entities()).length === 2);
    const [alice] = (await entities()).filter((each: { value_key: string }) =>
      each.value_key.includes('alice'),
    );
    expect(alice).toMatchObject({ current_usage: 2, value_key: 'metadata._user:alice' });
    await change(`${policy}/entities/${alice.id}/reset`);
    expect([await as('alice'), await as('bob@x.com')]).toEqual([200, 412]);
    await change(policy, { reset_usage_for_value: 'bob@x.com' });
    expect([await as('bob@x.com'), await as('bob@x.com'), await as('bob@x.com')]).toEqual([
      200, 200, 412,
    ]);
    await workspace().delete(policy).expect(200);
    // On a machine that is busy with others it is in force a little after its answer.
    await eventually(async () => expect(await as('bob@x.com')).toBe(200));
  });
});
