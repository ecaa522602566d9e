import { eventually, json, startUpstream, type Upstream } from '@sluice/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type AgentLab, type SavedAgent, startAgentLab } from './agent-lab.ts';

/** What agents tell at one of two gateways, of work that was begun at the other. */
let lab: AgentLab;
let agent: Upstream;
let hook: Upstream;
let saved: SavedAgent;

beforeAll(async () => {
  [lab, agent, hook] = await Promise.all([
    startAgentLab({ gateways: 2, redis: true }),
    startUpstream(),
    startUpstream(),
  ]);
  saved = await lab.save(`${agent.url}/base`, {
    configurations: { push_notifications: 'relay', prices: { token: 0.001 } },
  });
});
afterAll(() => Promise.all([lab.stop(), agent.close(), hook.close()]));
beforeEach(() => hook.handle(json(202, {})));

let tasks = 0;

/** Begins a task at the first gateway. @returns it, and where the agent is to tell of it at either gateway */
async function begin(key?: string) {
  const id = `elsewhere-${++tasks}`;
  const task = { kind: 'task', id, contextId: `c-${id}`, status: { state: 'working' } };
  agent.handle(json(200, { jsonrpc: '2.0', id: 'call-1', result: task }));
  const pushNotificationConfig = { url: `${hook.url}/hook` };
  const message = { kind: 'message', messageId: 'm', role: 'user', parts: [] };
  const params = { message, configuration: { blocking: false, pushNotificationConfig } };
  const answer = await lab.rpc(saved.slug, 'message/send', params, key ? { key } : {});
  expect(answer.status).toBe(200);
  await answer.text();
  const { configuration } = JSON.parse(String(agent.requests.at(-1)?.body)).params;
  const { pathname } = new URL(configuration.pushNotificationConfig.url);
  const tell = (gateway: 0 | 1, more: object = {}) =>
    fetch(`${lab.scenario.stack.gatewayUrls[gateway]}${pathname}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...task, status: { state: 'completed' }, ...more }),
    });
  return { id, tell };
}

const statusOf = async (answer: Promise<Response>) => {
  const { status, headers } = await answer;
  return [status, headers.get('retry-after')];
};
const taken = [202, null];
const later = [503, '1'];

describe('what an agent tells at another gateway than the one that gave it the address', () => {
  it('reaches the caller, and is billed once however often, and wherever, it is told', async () => {
    const { id, tell } = await begin();
    const before = hook.requests.length;
    const used = { metadata: { usage: { input_tokens: 1000 } } };
    const answers = await Promise.all([1, 0, 1, 1, 0].map((at) => tell(at as 0 | 1, used)));
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 202, 202, 202]);
    expect(hook.requests.length).toBe(before + 5);
    expect(JSON.parse(String(hook.requests.at(-1)?.body))).toMatchObject({ id, ...used });
    const records = await Promise.all(
      answers.map(async ({ headers }) => {
        const [record] = await lab.records.of(headers.get('x-service-request-id') ?? '', 1);
        return record;
      }),
    );
    const total = records.reduce((sum, record) => sum + (record?.inputTokens ?? 0n), 0n);
    const cost = records.reduce((sum, record) => sum + (record?.costNanoUsd ?? 0n), 0n);
    expect([total, cost]).toEqual([1000n, 10_000_000n]);
  });

  it('reaches nobody once the key has ended', async () => {
    const made = await lab.scenario.admin<{ id: string; key: string }>(
      'POST',
      '/api-keys/workspace/service',
      {
        name: 'ends',
        workspace_id: lab.scenario.stack.credentials.workspace_id,
        scopes: ['agents.invoke'],
      },
    );
    const { tell } = await begin(made.key);
    await lab.scenario.admin('DELETE', `/api-keys/${made.id}`);
    const before = hook.requests.length;
    // The one never saw the key, the other held it.
    expect((await tell(1)).status).toBe(401);
    await eventually(async () => expect((await tell(0)).status).toBe(401));
    expect(hook.requests.length).toBe(before);
  });

  it('is to be told again where the control plane is away and the key was never seen', async () => {
    const controlPlane = lab.scenario.stack.part('control-plane');
    const { tell } = await begin(await lab.newKey());
    await controlPlane.stop();
    try {
      expect(await statusOf(tell(0))).toEqual(taken);
      expect(await statusOf(tell(1))).toEqual(later);
    } finally {
      await controlPlane.start();
    }
    await eventually(async () => expect(await statusOf(tell(1))).toEqual(taken));
    await controlPlane.stop();
    try {
      expect(await statusOf(tell(1))).toEqual(taken);
    } finally {
      await controlPlane.start();
    }
  });

  it('is to be told again where Redis is away and the task was never seen', async () => {
    const seen = await begin();
    const { tell } = await begin();
    expect(await statusOf(seen.tell(1))).toEqual(taken);
    await lab.scenario.stack.redis?.kill();
    try {
      expect(await statusOf(tell(0))).toEqual(taken);
      expect(await statusOf(tell(1))).toEqual(later);
      expect(await statusOf(seen.tell(1))).toEqual(taken);
    } finally {
      await lab.scenario.stack.redis?.restart();
    }
  });
});
