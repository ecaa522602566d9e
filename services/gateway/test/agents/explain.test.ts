import { json, startUpstream, type Upstream } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AgentLab, type SavedAgent, startAgentLab } from './agent-lab.ts';

/** `POST /v1/explain/agent/{agent}/…`: what a request would meet, beside what it meets when it is sent. */
let lab: AgentLab;
let agent: Upstream;
let saved: SavedAgent;

beforeAll(async () => {
  [lab, agent] = await Promise.all([startAgentLab(), startUpstream()]);
  saved = await lab.save(`${agent.url}/base`, {
    configurations: { push_notifications: 'relay', prices: { call: 2, token: 0.5 } },
  });
});
afterAll(() => Promise.all([lab.stop(), agent.close()]));

type Body = Record<string, unknown>;
interface Asked {
  readonly body?: object | string;
  readonly key?: string;
  readonly at?: string;
  readonly below?: string;
}

async function ask(prefix: string, { body = send(), key, at = saved.slug, below = '/' }: Asked) {
  const { credentials, gatewayUrls } = lab.scenario.stack;
  const answer = await fetch(`${gatewayUrls[0]}/v1/${prefix}${at}${below}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-service-api-key': key ?? credentials.workspace_key,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return { status: answer.status, body: (await answer.json()) as Body };
}
const explain = (asked: Asked) => ask('explain/agent/', asked);

function send(configuration?: object): object {
  const message = { kind: 'message', messageId: 'm', role: 'user', parts: [] };
  return {
    jsonrpc: '2.0',
    id: 'call-1',
    method: 'message/send',
    params: { message, ...(configuration && { configuration }) },
  };
}
const rpc = (method: string, params: object) => ({ jsonrpc: '2.0', id: 1, method, params });

describe('POST /v1/explain/agent/{agent}', () => {
  it('tells who would be asked, limits and price of a call that is not made', async () => {
    const { workspace_id } = lab.scenario.stack.credentials;
    const key = await lab.newKey({
      rate_limits: [{ type: 'requests', unit: 'rpd', value: 1 }],
    });
    const before = agent.requests.length;
    const pushNotificationConfig = { url: 'https://hooks.example.com/told' };
    for (let time = 0; time < 3; time++) {
      const { status, body } = await explain({ key, body: send({ pushNotificationConfig }) });
      expect(status).toBe(200);
      expect(body).toMatchObject({
        object: 'explain',
        mode: 'agent:send_message',
        method: 'message/send',
        key: { workspace_id },
        agent: {
          id: saved.id,
          slug: saved.slug,
          host: new URL(agent.url).host,
          protocol: 'a2a',
        },
        callbacks: 'relayed',
        bill: 'reported',
        bill_reason: expect.stringContaining('says nothing else: all that the agent reports'),
        limits: [
          { target: null, type: 'requests', matched: true, remaining: 1, would_refuse: false },
        ],
        price: { call: 2, token: 0.5 },
        estimate: { cost_nano_usd: expect.any(Number) },
      });
      expect(body).not.toHaveProperty('would_fail');
    }
    expect(agent.requests.length).toBe(before);
    agent.handle(json(200, rpc('', {})));
    expect((await ask('agent/', { key })).status).toBe(200);
    const { body } = await explain({ key });
    expect(body).toMatchObject({
      limits: [{ remaining: 0, would_refuse: true }],
      would_fail: { status: 429, rpc_code: -32603 },
    });
  });

  it.each([
    ['reported', /^The integration says so: all that the agent reports is billed/],
    ['children', /^The integration says so: nothing that the agent reports is billed/],
    ['max', /^The integration says so: of what the agent reports .* trace state/],
  ])('tells whose report is billed, and why: %s', async (bill, reason) => {
    const { slug } = await lab.save(`${agent.url}/${bill}`, { configurations: { bill } });
    expect((await explain({ at: slug })).body).toMatchObject({
      bill,
      bill_reason: expect.stringMatching(reason),
    });
  });

  it('refuses as the call itself is refused, whatever for', async () => {
    const noScope = await lab.newKey({ scopes: ['completions.write'] });
    const push = send({ pushNotificationConfig: { url: 'http://169.254.169.254/' } });
    const denied = await lab.save(`${agent.url}/other`, {
      configurations: { push_notifications: 'deny' },
    });
    const off = await lab.save(`${agent.url}/off`);
    await lab.scenario.admin('PUT', `/agent-integrations/${off.integrationId}/workspaces`, {
      workspaces: [{ id: lab.scenario.stack.credentials.workspace_id, enabled: false }],
    });
    const asked: Asked[] = [
      { at: 'nobody' },
      { at: off.slug },
      { below: '/a%2fb' },
      { body: '{"jsonrpc"' },
      { body: [] },
      { body: '{"jsonrpc":"2.0","id":1,"id":2,"method":"message/send"}' },
      { body: rpc('tasks/get', { id: 'of-nobody' }) },
      { body: { id: 'of-nobody' }, below: '/v1/tasks/of-nobody:cancel' },
      { body: rpc('agent/getAuthenticatedExtendedCard', { id: 'of-nobody' }) },
      { body: push },
      { body: push, at: denied.slug },
    ];
    for (const one of asked) {
      const called = await ask('agent/', one);
      const explained = await explain(one);
      expect(explained.status, JSON.stringify(one)).toBe(200);
      const { would_fail: refusal, ...rest } = explained.body as Body & { would_fail: Body };
      expect(refusal, JSON.stringify(one)).toBeDefined();
      expect(refusal.status, JSON.stringify([one, refusal])).toBe(called.status);
      const error = called.body.error as { code?: unknown; message?: string } | undefined;
      if (called.body.jsonrpc === '2.0')
        expect(refusal.rpc_code, JSON.stringify(one)).toBe(error?.code);
      else expect(refusal.rpc_code, JSON.stringify(one)).toBeNull();
      expect(rest).toMatchObject({ object: 'explain' });
    }
    expect((await explain({ key: 'wrong' })).status).toBe(401);
    expect((await explain({ key: noScope })).status).toBe(403);
  });

  it('knows agents that are no A2A, and what costs nothing', async () => {
    const other = await lab.save(`${agent.url}/v1`, { protocol: 'openai' });
    const run = await explain({ at: other.slug, below: '/chat/completions', body: { model: 'm' } });
    expect(run.body).toMatchObject({
      mode: 'agent:call',
      method: 'POST /chat/completions',
      agent: { protocol: 'openai' },
      callbacks: null,
      price: null,
    });
    const card = await explain({ below: '/.well-known/agent-card.json', body: {} });
    expect(card.body).toMatchObject({ mode: 'agent:get_card', limits: [], estimate: null });
    expect([run.body, card.body].some((body) => 'would_fail' in body)).toBe(false);
  });
});
