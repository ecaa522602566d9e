import { request } from 'node:http';
import { json, startUpstream, type Upstream } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AgentLab, startAgentLab } from './agent-lab.ts';
import { type SdkAgent, startAgent } from './sdk-agents.ts';

/** Requests that read as one thing to the gateway and as another to the agent behind it. */
let lab: AgentLab;
let agent: Upstream;
let stranger: SdkAgent;
let slug: string;
let strangers: string;
let other: string;
beforeAll(async () => {
  [lab, agent, stranger] = await Promise.all([startAgentLab(), startUpstream(), startAgent()]);
  ({ slug } = await lab.save(`${agent.url}/base`));
  ({ slug: strangers } = await lab.save(stranger.url));
  other = await lab.newKey();
});
afterAll(() => Promise.all([lab?.stop(), agent?.close(), stranger?.close()]));

const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'slow' }] };
const status = { state: 'working' };
const post = (of: string, path: string, body: object) =>
  lab.ask(of, path, { method: 'POST', key: other, body: JSON.stringify(body) });

/** With a body, as `fetch` does not send it. */
function get(path: string, body: object, headers: Record<string, string> = {}) {
  const text = JSON.stringify(body);
  const [base = ''] = lab.scenario.stack.gatewayUrls;
  return new Promise<string>((resolve, reject) => {
    request(
      `${base}/v1/agent/${slug}/${path}`,
      {
        method: 'GET',
        headers: {
          'x-service-api-key': other,
          'content-type': 'application/json',
          'content-length': text.length,
          ...headers,
        },
      },
      async (res) => {
        let said = '';
        for await (const piece of res) said += piece;
        resolve(said);
      },
    )
      .on('error', reject)
      .end(text);
  });
}

describe('another’s tasks', () => {
  it('are not reached in the form of REST by what says that it is JSON-RPC', async () => {
    const asked = JSON.stringify({ message, configuration: { returnImmediately: true } });
    const began = await lab.ask(strangers, 'rest/message:send', {
      method: 'POST',
      body: asked,
      headers: { 'a2a-version': '1.0' },
    });
    const { task } = (await began.json()) as { task: { id: string } };
    expect(task.id).not.toBe('');
    const before = stranger.requests.length;
    const mixed = { jsonrpc: '2.0', id: 1, method: 'message/send', params: {} };
    const sent = { ...mixed, message: { ...message, taskId: task.id } };
    const answer = await post(strangers, 'rest/message:send', sent);
    expect(await answer.text()).toContain('Task not found');
    expect(stranger.requests.length).toBe(before);
    await lab.ask(strangers, `rest/tasks/${task.id}:cancel`, { method: 'POST', body: '{}' });
  });

  it('are listed in no other form either', async () => {
    agent.handle(json(200, { tasks: [{ id: 'of-others', status }], totalSize: 1 }));
    const mixed = { jsonrpc: '2.0', id: 1, method: 'message/send', params: {} };
    expect(await get('tasks', mixed)).toBe('{"tasks":[],"totalSize":0}');
    expect(await (await lab.ask(slug, 'tasks;x=1')).text()).toBe('{"tasks":[],"totalSize":0}');
    agent.handle(
      json(200, { jsonrpc: '2.0', id: 1, result: { tasks: [{ id: 'of-others', status }] } }),
    );
    const answer = await post(slug, '', {
      jsonrpc: '2.0',
      id: 1,
      method: 'Tasks/List',
      params: {},
    });
    expect(await answer.text()).not.toContain('of-others');
  });
});

describe('a request of JSON-RPC', () => {
  it('that names two methods, or parameters by their places, is refused before it is sent', async () => {
    const before = agent.requests.length;
    for (const body of [
      { jsonrpc: '2.0', id: 1, Method: 'message/send', method: 'tasks/list' },
      { jsonrpc: '2.0', id: 1, method: 'tasks/get', params: [{ id: 'of-others' }] },
    ]) {
      const answer = await post(slug, '', body);
      expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining('-326')]);
    }
    expect(agent.requests.length).toBe(before);
  });

  it('calls back nowhere that it may not, wherever the address stands', async () => {
    const before = agent.requests.length;
    const answer = await post(slug, 'message:send', {
      jsonrpc: '2.0',
      id: 1,
      method: 'x',
      message,
      configuration: { taskPushNotificationConfig: { url: 'http://169.254.169.254/' } },
    });
    expect(answer.status).toBe(400);
    expect(agent.requests.length).toBe(before);
  });
});
