import {
  ClientFactory,
  ClientFactoryOptions,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from '@a2a-js/sdk/client';
import { usage } from '@sluice/proto-stubs';
import { eventually, json, startUpstream, type Upstream } from '@sluice/testkit';
import type { Task as OldTask } from 'a2a-sdk-03';
import {
  DefaultAgentCardResolver as OldCardResolver,
  ClientFactory as OldClientFactory,
  ClientFactoryOptions as OldOptions,
  RestTransportFactory as OldRestFactory,
  JsonRpcTransportFactory as OldRpcFactory,
} from 'a2a-sdk-03/client';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type AgentLab, type SavedAgent, startAgentLab } from './agent-lab.ts';
import { startAgent, startOldAgent } from './sdk-agents.ts';
import { asking } from './strangers.ts';

/** Agents whose integration says `push_notifications: relay`. */
let lab: AgentLab;
let agent: Upstream;
let hook: Upstream;
let saved: SavedAgent;

beforeAll(async () => {
  [lab, agent, hook] = await Promise.all([startAgentLab(), startUpstream(), startUpstream()]);
  saved = await lab.save(`${agent.url}/base`, {
    configurations: { push_notifications: 'relay', prices: { token: 0.001 } },
  });
});
afterAll(() => Promise.all([lab.stop(), agent.close(), hook.close()]));
beforeEach(() => {
  agent.handle(json(200, {}));
  hook.handle(json(202, { noted: true }));
});

const result = (value: unknown) => json(200, { jsonrpc: '2.0', id: 'call-1', result: value });
const message = { kind: 'message', messageId: 'm', role: 'user', parts: [] };
const sentTo = (upstream: Upstream) =>
  JSON.parse(String(upstream.requests.at(-1)?.body)) as Record<string, never>;
let tasks = 0;

/** Begins a task that the agent is to tell of; what the agent was told. */
async function begin(over: object = {}, key?: string) {
  const id = `pushed-${++tasks}`;
  agent.handle(result({ kind: 'task', id, contextId: `c-${id}`, status: { state: 'working' } }));
  const given = { url: `${hook.url}/hook?job=1`, token: 'of-the-caller', ...over };
  const configuration = { blocking: false, pushNotificationConfig: given };
  const params = { message, configuration };
  const answer = await lab.rpc(saved.slug, 'message/send', params, key ? { key } : {});
  expect(answer.status).toBe(200);
  await answer.text();
  const { pushNotificationConfig: config, ...rest } = (
    sentTo(agent).params as unknown as {
      configuration: { pushNotificationConfig: { url: string } & Record<string, unknown> };
    }
  ).configuration;
  expect(rest).toEqual({ blocking: false });
  expect(config).toEqual({ ...given, url: expect.any(String) });
  return { id, url: config.url };
}

const tell = (url: string, body: object | string, headers: Record<string, string> = {}) =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    redirect: 'manual',
  });
const update = (id: string, more: object = {}) => ({
  kind: 'task',
  id,
  contextId: `c-${id}`,
  status: { state: 'completed' },
  ...more,
});

describe('an agent that calls back through the gateway', () => {
  it('is given an address of ours, and what it tells there goes to the caller', async () => {
    const { id, url } = await begin();
    expect(url).toMatch(
      new RegExp(`^${lab.scenario.stack.gatewayUrls[0]}/v1/agent/~[A-Za-z0-9_-]+$`),
    );
    const body = `{ "kind":"task", "id":"${id}", "status":{"state":"completed"}, "odd": 1.0 }`;
    const answer = await tell(url, body, {
      authorization: 'Bearer of-the-hook',
      'x-a2a-notification-token': 'of-the-caller',
      cookie: 'a=b',
      'x-forwarded-for': '10.0.0.1',
      'x-service-metadata': '{}',
      'x-service-api-key': 'of-the-agent',
      'x-signature': 'of-the-agent',
      'user-agent': 'an agent',
    });
    expect([answer.status, await answer.text()]).toEqual([202, '']);
    const { method, path, headers, body: came } = hook.requests.at(-1) ?? expect.fail();
    expect([method, path, String(came)]).toEqual(['POST', '/hook?job=1', body]);
    const { host, connection, ...sent } = headers;
    expect(sent).toEqual({
      accept: '*/*',
      'accept-language': '*',
      'user-agent': 'an agent',
      'x-signature': 'of-the-agent',
      'content-type': 'application/json',
      'content-length': String(body.length),
      authorization: 'Bearer of-the-hook',
      'x-a2a-notification-token': 'of-the-caller',
    });
  });

  it('leaves a record of each, which bills what is new of the task', async () => {
    const { id, url } = await begin();
    const used = (total: number) => ({ metadata: { usage: { input_tokens: total } } });
    const recordOf = async (answer: Response) => {
      expect(answer.status).toBe(202);
      const requestId = answer.headers.get('x-service-request-id') ?? '';
      const [record, ...more] = await lab.records.of(requestId, 1);
      expect(more).toEqual([]);
      return record;
    };
    const first = await recordOf(await tell(url, update(id, used(1000))));
    const again = await recordOf(await tell(url, update(id, used(1500))));
    expect(first).toMatchObject({
      endpoint: 'agent:callback',
      taskId: id,
      taskState: 'completed',
      inputTokens: 1000n,
    });
    expect(again).toMatchObject({ inputTokens: 500n, costNanoUsd: 5_000_000n });
  });

  it('shows callers the addresses that they gave', async () => {
    const { id } = await begin();
    const given = `${hook.url}/other`;
    agent.handle(async (request) => {
      const { id: rpcId, params } = JSON.parse(String(request.body));
      return json(200, { jsonrpc: '2.0', id: rpcId, result: params });
    });
    const config = { taskId: id, pushNotificationConfig: { id: 'p', url: given } };
    const answer = await lab.rpc(saved.slug, 'tasks/pushNotificationConfig/set', config);
    expect((await answer.json()) as object).toMatchObject({ result: config });
    expect(JSON.stringify(sentTo(agent))).not.toContain(given);
    const newer = { taskId: id, id: 'p', url: given, token: 't' };
    const path = `tasks/${id}/pushNotificationConfigs`;
    agent.handle(async (request) => json(200, { configs: [JSON.parse(String(request.body))] }));
    const byRest = await lab.ask(saved.slug, path, { method: 'POST', body: JSON.stringify(newer) });
    expect(await byRest.json()).toEqual({ configs: [newer] });
    expect(JSON.stringify(sentTo(agent))).not.toContain(given);
  });

  it('shows them beside a task as well', async () => {
    const { id, url } = await begin();
    const told = (at: string) =>
      update(id, { metadata: { pushNotificationConfigs: [{ url: at }] } });
    agent.handle(result(told(url)));
    const answer = await lab.rpc(saved.slug, 'tasks/get', { id });
    expect(((await answer.json()) as { result: object }).result).toEqual(
      told(`${hook.url}/hook?job=1`),
    );
  });

  it('passes on nothing to addresses that it made up, or of tasks of others', async () => {
    const { url } = await begin();
    const before = hook.requests.length;
    const status = async (answer: Promise<Response>) => (await answer).status;
    expect(await status(tell(`${url.slice(0, -4)}AAAA`, {}))).toBe(404);
    expect(await status(tell(`${url}/below`, {}))).toBe(404);
    expect(await status(fetch(url))).toBe(405);
    const others = await begin({}, await lab.newKey());
    expect(await status(tell(url, update(others.id)))).toBe(404);
    const sealed = url.slice(url.lastIndexOf('~'));
    expect(await status(lab.ask(saved.slug, sealed, { method: 'POST', body: '{}' }))).toBe(200);
    expect(agent.requests.at(-1)?.path).toBe(`/base/${sealed}`);
    expect(hook.requests.length).toBe(before);
  });

  it('is told what its caller would be told: errors, silence and redirects', async () => {
    const { id, url } = await begin();
    const told = async () => (await tell(url, update(id))).status;
    hook.handle(json(503, {}));
    expect(await told()).toBe(503);
    hook.handle(json(302, {}, { location: 'http://169.254.169.254/' }));
    const sentOn = await tell(url, update(id));
    expect(sentOn.status).toBe(502);
    const [redirect] = await lab.records.of(sentOn.headers.get('x-service-request-id') ?? '', 1);
    // Who redirects is not the agent.
    expect([redirect?.outcome, redirect?.errorCode]).toEqual([
      usage.Outcome.UPSTREAM_ERROR,
      'agent.callback_redirected',
    ]);
    const closed = await startUpstream();
    await closed.close();
    const gone = await begin({ url: `${closed.url}/none` });
    const answer = await tell(gone.url, update(gone.id));
    expect(answer.status).toBe(502);
    const [record] = await lab.records.of(answer.headers.get('x-service-request-id') ?? '', 1);
    expect([record?.outcome, record?.errorCode]).toEqual([
      usage.Outcome.UPSTREAM_FAILURE,
      'agent.callback_unreachable',
    ]);
    expect(JSON.stringify(await answer.json())).toContain('The receiver of the callback');
  });

  it('is not heard any more once the key, or the setting, is gone', async () => {
    const made = await lab.scenario.admin<{ id: string; key: string }>(
      'POST',
      '/api-keys/workspace/service',
      {
        name: 'goes',
        workspace_id: lab.scenario.stack.credentials.workspace_id,
        scopes: ['agents.invoke'],
      },
    );
    const { id, url } = await begin({}, made.key);
    expect((await tell(url, update(id))).status).toBe(202);
    await lab.scenario.admin('DELETE', `/api-keys/${made.id}`);
    const before = hook.requests.length;
    await eventually(async () => expect((await tell(url, update(id))).status).toBe(401));
    const own = await begin();
    await lab.scenario.admin('PUT', `/agent-integrations/${saved.integrationId}`, {
      configurations: { push_notifications: 'deny' },
    });
    expect((await tell(own.url, update(own.id))).status).toBe(400);
    expect(hook.requests.length).toBe(before);
  });
});

describe.each(['JSONRPC', 'HTTP+JSON'])('agents and clients of strangers, by %s', (protocol) => {
  const withKey: typeof fetch = (input, init) => {
    const headers = new Headers(init?.headers);
    headers.set('x-service-api-key', lab.scenario.stack.credentials.workspace_key);
    return fetch(input, { ...init, headers });
  };
  const save = (url: string) => lab.save(url, { configurations: { push_notifications: 'relay' } });
  const path = '.well-known/agent-card.json';
  /** All that came for a task, once its end was told. */
  const heardOf = (id: string) =>
    eventually(() => {
      const heard = hook.requests.filter(({ body }) => String(body).includes(id));
      expect(String(heard.at(-1)?.body)).toMatch(/completed/i);
      return heard;
    });

  it('find their way with @a2a-js/sdk 1.3', async () => {
    const own = await startAgent(true);
    const { url } = await save(own.url);
    const client = await new ClientFactory(
      ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
        transports: [
          new JsonRpcTransportFactory({ fetchImpl: withKey }),
          new RestTransportFactory({ fetchImpl: withKey }),
        ],
        preferredTransports: [protocol],
        cardResolver: new DefaultAgentCardResolver({ fetchImpl: withKey }),
      }),
    ).createFromUrl(url, path);
    const config = {
      tenant: '',
      id: 'here',
      taskId: '',
      url: `${hook.url}/newer?${protocol}`,
      token: 'shown-to-the-hook',
      authentication: { scheme: 'Bearer', credentials: 'of-the-hook' },
    };
    const { configuration, ...message } = asking('hello');
    const task = (await client.sendMessage({
      ...message,
      configuration: { ...configuration!, taskPushNotificationConfig: config },
    })) as { id: string };
    const heard = await heardOf(task.id);
    expect(heard.every(({ path: to }) => to === `/newer?${protocol}`)).toBe(true);
    expect(heard[0]?.headers.authorization).toBe('Bearer of-the-hook');
    const other = { ...config, id: 'there', taskId: task.id, url: `${hook.url}/there` };
    const made = await client.createTaskPushNotificationConfig(other);
    expect(made).toMatchObject({ id: 'there', url: other.url });
    const asked = { tenant: '', id: 'there', taskId: task.id };
    expect((await client.getTaskPushNotificationConfig(asked)).url).toBe(other.url);
    const { configs } = await client.listTaskPushNotificationConfig({
      tenant: '',
      taskId: task.id,
      pageSize: 10,
      pageToken: '',
    });
    expect(configs.map((one) => one.url).sort()).toEqual([config.url, other.url].sort());
    await client.deleteTaskPushNotificationConfig(asked);
    await own.close();
  });

  it('find their way with @a2a-js/sdk 0.3.14', async () => {
    const own = await startOldAgent(true);
    const { url } = await save(own.url);
    const client = await new OldClientFactory(
      OldOptions.createFrom(OldOptions.default, {
        transports: [
          new OldRpcFactory({ fetchImpl: withKey }),
          new OldRestFactory({ fetchImpl: withKey }),
        ],
        preferredTransports: [protocol],
        cardResolver: new OldCardResolver({ fetchImpl: withKey }),
      }),
    ).createFromUrl(url, path);
    const pushNotificationConfig = { id: 'here', url: `${hook.url}/older?${protocol}`, token: 't' };
    const task = (await client.sendMessage({
      message: {
        kind: 'message',
        messageId: crypto.randomUUID(),
        role: 'user',
        parts: [{ kind: 'text', text: 'hello' }],
      },
      configuration: { pushNotificationConfig },
    })) as OldTask;
    const heard = await heardOf(task.id);
    expect(heard[0]?.path).toBe(`/older?${protocol}`);
    expect(heard[0]?.headers['x-a2a-notification-token']).toBe('t');
    // By REST this client's configurations are none that its own server takes.
    if (protocol !== 'JSONRPC') return own.close();
    const other = { ...pushNotificationConfig, id: 'there', url: `${hook.url}/there` };
    const made = await client.setTaskPushNotificationConfig({
      taskId: task.id,
      pushNotificationConfig: other,
    });
    expect(made.pushNotificationConfig.url).toBe(other.url);
    const asked = { id: task.id, pushNotificationConfigId: 'there' };
    const shown = await client.getTaskPushNotificationConfig(asked);
    expect(shown.pushNotificationConfig.url).toBe(other.url);
    await own.close();
  });
});
