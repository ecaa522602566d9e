import { createHash } from 'node:crypto';
import { hostileUrls, neverTrustedUrls } from '@sluice/outbound';
import { json, sse, startUpstream, type Upstream, type UpstreamReply } from '@sluice/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isFull, tell } from '../mcp/proof-form.ts';
import { type AgentLab, type SavedAgent, startAgentLab } from './agent-lab.ts';
import { describeStrangers } from './strangers.ts';

let lab: AgentLab;
let agent: Upstream;
let saved: SavedAgent;

beforeAll(async () => {
  [lab, agent] = await Promise.all([startAgentLab(), startUpstream()]);
  saved = await lab.save(`${agent.url}/base`, {
    auth_type: 'headers',
    configurations: { custom_headers: { authorization: 'Bearer of-the-agent', 'x-own': 'admin' } },
  });
});
afterAll(() => Promise.all([lab.stop(), agent.close()]));
beforeEach(() => agent.handle(json(200, {})));

const result = (value: unknown) => json(200, { jsonrpc: '2.0', id: 'call-1', result: value });
const status = { state: 'completed' };
let tasks = 0;
/** A task that the caller has begun. */
async function begin(slug = saved.slug, key?: string): Promise<string> {
  const id = `task-${++tasks}`;
  agent.handle(result({ kind: 'task', id, contextId: `context-of-${id}`, status }));
  const answer = await lab.rpc(slug, 'message/send', message(), key === undefined ? {} : { key });
  expect(answer.status).toBe(200);
  await answer.text();
  return id;
}
const message = (more: object = {}) => ({
  message: {
    kind: 'message',
    messageId: 'm',
    role: 'user',
    parts: [{ kind: 'text', text: 'Hi' }],
    ...more,
  },
});
const rpcError = async (answer: Response) => {
  const body = (await answer.json()) as { id: unknown; error?: { code: number; message: string } };
  return [answer.status, body.id, body.error?.code];
};
const recordOf = async (answer: Response) => {
  await answer.text().catch(() => '');
  const [record, ...more] = await lab.records.of(
    answer.headers.get('x-service-request-id') ?? '',
    1,
  );
  expect(more).toEqual([]);
  return record;
};

describe('agents and clients of strangers', () => describeStrangers(() => lab));

describe('A5: what of a call goes on', () => {
  it('sends the agent no credential, cookie or header of ours, whoever names what', async () => {
    const { workspace_key: key } = lab.scenario.stack.credentials;
    await lab.rpc(saved.slug, 'message/send', message(), {
      headers: {
        authorization: 'Bearer of-the-caller',
        cookie: 'a=b',
        'x-api-key': 'k',
        'x-own': 'caller',
        'x-service-metadata': '{"a":"b"}',
        'x-service-provider': 'openai',
        'x-service-custom-host': 'https://evil.example',
        'x-service-forward-headers': 'cookie,x-secret',
        'x-secret': 's',
        'user-agent': 'a client',
        origin: 'https://page.example',
        'a2a-version': '1.0',
        'a2a-extensions': 'https://e.example',
        traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
        'x-request-id': 'r1',
      },
    });
    const { headers, path, rawHeaders } = agent.requests.at(-1) ?? expect.fail();
    expect(path).toBe('/base');
    expect(JSON.stringify(rawHeaders)).not.toContain(key);
    const { host, connection, ...sent } = headers;
    expect(sent).toMatchObject({
      authorization: 'Bearer of-the-agent',
      'x-own': 'admin',
      'a2a-version': '1.0',
      'a2a-extensions': 'https://e.example',
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      'x-request-id': 'r1',
    });
    expect(Object.keys(sent).sort()).toEqual([
      'a2a-extensions',
      'a2a-version',
      'accept',
      'accept-encoding',
      'authorization',
      'content-length',
      'content-type',
      'traceparent',
      'x-forwarded-for',
      'x-own',
      'x-request-id',
      'x-service-trace-id',
    ]);
  });

  it('forwards what an admin names, under a name that is allowed', async () => {
    const other = await lab.save(`${agent.url}/other`, {
      configurations: {
        forward_headers: [
          'authorization',
          { from: 'x-user', to: 'x-caller' },
          { from: 'x-user', to: 'cookie' },
          'cookie',
          { from: 'x-api-key', to: 'x-k' },
        ],
        user_identity_forwarding: { method: 'claims_header' },
      },
    });
    const headers = {
      authorization: 'Bearer mine',
      'x-user': 'u1',
      cookie: 'a=b',
      'x-api-key': 'k',
      'x-user-claims': 'forged',
    };
    await lab.ask(other.slug, 'x', { headers });
    const sent = agent.requests.at(-1)?.headers ?? {};
    expect([sent.authorization, sent['x-caller'], sent.cookie, sent['x-k']]).toEqual([
      'Bearer mine',
      'u1',
      undefined,
      undefined,
    ]);
    expect(JSON.parse(String(sent['x-user-claims']))).toMatchObject({
      workspace_id: lab.scenario.stack.credentials.workspace_id,
    });
    // The service key is not passed on where it came as a bearer.
    const { workspace_key: key } = lab.scenario.stack.credentials;
    await lab.ask(other.slug, 'x', { headers: { authorization: `Bearer ${key}` } });
    expect(agent.requests.at(-1)?.headers.authorization).toBeUndefined();
  });

  it('keeps what an agent says of itself: cookies, challenges, pages that may call, links', async () => {
    agent.handle(
      json(
        200,
        {},
        {
          'set-cookie': 'a=b',
          'www-authenticate': 'Bearer',
          'access-control-allow-origin': '*',
          link: '<x>',
          'x-service-cost': '9',
          'x-kept': 'yes',
        },
      ),
    );
    const { headers } = await lab.ask(saved.slug, 'x');
    for (const name of [
      'set-cookie',
      'www-authenticate',
      'access-control-allow-origin',
      'link',
      'x-service-cost',
    ])
      expect(headers.get(name), name).toBeNull();
    expect(headers.get('x-kept')).toBe('yes');
  });

  it('sends on the path as it came, and none that steps upwards', async () => {
    agent.handle(json(200, {}));
    const at = async (path: string, query = '') => {
      const before = agent.requests.length;
      const answer = await rawPath(`/v1/agent/${saved.slug}${path}${query}`);
      return [answer, agent.requests.length > before ? agent.requests.at(-1)?.path : undefined];
    };
    expect(await at('')).toEqual([200, '/base']);
    expect(await at('/')).toEqual([200, '/base']);
    expect(await at('/a%20b/c:d', '?q=%2f')).toEqual([200, '/base/a%20b/c:d?q=%2f']);
    for (const path of [
      '/..',
      '/../x',
      '/%2e%2e/x',
      '/x/%2E./y',
      '/a%2fb',
      '/a%5cb',
      '/..;/x',
      '/%00',
    ])
      expect(await at(path), path).toEqual([400, undefined]);
  });

  it('passes no agent’s path to a provider, whatever the headers name', async () => {
    const elsewhere = await startUpstream(json(200, { leaked: true }));
    const headers = { 'x-service-provider': 'openai', 'x-service-custom-host': elsewhere.url };
    for (const path of [
      '/v1/agent',
      '/v1/agent/',
      '/v1/agent/none',
      '/v1/agent/none/x',
      '/v1/agent?x',
    ])
      expect(await rawPath(path, headers), path).toBe(404);
    expect(elsewhere.requests).toEqual([]);
    await elsewhere.close();
  });

  it('follows no redirect, and tells of none that leads elsewhere', async () => {
    const to = (location: string): UpstreamReply => ({
      send: (res) => void res.writeHead(307, { location }).end(),
    });
    agent.handle(to('https://evil.example/'));
    expect((await lab.ask(saved.slug, 'x')).status).toBe(502);
    agent.handle(to('/base/x/'));
    const own = await lab.ask(saved.slug, 'x');
    expect([own.status, own.headers.get('location')]).toEqual([307, `${saved.url}x/`]);
  });

  /** As fetch would not send it. */
  async function rawPath(path: string, headers: Record<string, string> = {}): Promise<number> {
    const { request } = await import('node:http');
    const { hostname, port } = new URL(lab.scenario.stack.gatewayUrls[0] ?? '');
    const { workspace_key: key } = lab.scenario.stack.credentials;
    return new Promise((resolve, reject) => {
      const req = request(
        { hostname, port, path, headers: { 'x-service-api-key': key, ...headers } },
        (res) => {
          res.resume();
          resolve(res.statusCode ?? 0);
        },
      );
      req.on('error', reject).end();
    });
  }
});

describe('A3: cards', () => {
  const card = (more: object = {}) => ({
    name: '<script>alert(1)</script>',
    url: `${agent.url}/base`,
    preferredTransport: 'JSONRPC',
    supportedInterfaces: [
      { url: `${agent.url}/base/rest`, protocolBinding: 'HTTP+JSON' },
      { url: 'https://evil.example/rpc', protocolBinding: 'JSONRPC' },
      { url: '/beside', protocolBinding: 'JSONRPC' },
      { url: 'javascript:alert(1)', protocolBinding: 'JSONRPC' },
      { url: 'localhost:1', protocolBinding: 'GRPC' },
    ],
    skills: [{ id: 'a' }],
    signatures: [{}],
    ...more,
  });
  const shown = async (path = '.well-known/agent-card.json', over = {}) => {
    const answer = await lab.ask(saved.slug, path, over);
    return {
      status: answer.status,
      headers: answer.headers,
      body: (await answer.json()) as ReturnType<typeof card>,
    };
  };

  it('lead through the gateway alone, by every way to them', async () => {
    agent.handle(({ path }) =>
      path.endsWith('.json') || path.endsWith('/card') ? json(200, card()) : result(card()),
    );
    const rpc = await (await lab.rpc(saved.slug, 'GetExtendedAgentCard', {})).json();
    for (const one of [
      (await shown()).body,
      (await shown('.well-known/agent.json')).body,
      (await shown('.well-known/agent-card.json', { method: 'POST', body: '{}' })).body,
      (await shown('v1/card')).body,
      (await shown('at/another/place.json')).body,
      (rpc as { result: ReturnType<typeof card> }).result,
    ]) {
      expect(JSON.stringify(one)).not.toContain('evil.example');
      const urls = [one.url, ...one.supportedInterfaces.map(({ url }) => url)];
      expect(urls).toHaveLength(4);
      for (const url of urls) expect(url.startsWith(saved.url), url).toBe(true);
      expect(one).not.toHaveProperty('signatures');
    }
  });

  it('have an ETag of ours, and are for nobody else', async () => {
    agent.handle(json(200, card(), { etag: '"theirs"', 'cache-control': 'public, max-age=9' }));
    const { headers } = await shown();
    const etag = headers.get('etag') ?? '';
    expect(etag).not.toContain('theirs');
    expect(headers.get('cache-control')).toBe('private, no-cache');
    expect(headers.get('vary')).toContain('A2A-Version');
    const again = await lab.ask(saved.slug, '.well-known/agent-card.json', {
      headers: { 'if-none-match': etag },
    });
    expect([again.status, await again.text()]).toEqual([304, '']);
  });

  it('give addresses elsewhere that work for what may be called, without the admin’s headers', async () => {
    const beside = await startUpstream(json(200, { beside: true }));
    agent.handle(
      json(
        200,
        card({
          supportedInterfaces: [
            { url: `${beside.url}/rpc?v=1`, protocolBinding: 'JSONRPC' },
            { url: `${agent.url}/sideways` },
          ],
        }),
      ),
    );
    const [far, near] = (await shown()).body.supportedInterfaces.map(({ url }) =>
      url.slice(saved.url.length),
    );
    agent.handle(json(200, { near: true }));
    const answers = [];
    for (const path of [`${far}/x?q=1`, `${near}/x`])
      answers.push(await (await lab.ask(saved.slug, path)).json());
    expect(answers).toEqual([{ beside: true }, { near: true }]);
    const sent = beside.requests.at(-1);
    expect([sent?.path, sent?.headers.authorization, sent?.headers['x-own']]).toEqual([
      '/rpc/x?v=1&q=1',
      undefined,
      undefined,
    ]);
    const own = agent.requests.at(-1);
    expect([own?.path, own?.headers.authorization]).toEqual(['/sideways/x', 'Bearer of-the-agent']);
    // Of another server it is a path like any other.
    const other = await lab.save(`${agent.url}/other`);
    await lab.ask(other.slug, String(far));
    expect(agent.requests.at(-1)?.path).toBe(`/other/${far}`);
    await beside.close();
  });

  it('never lead to addresses of the inside', async () => {
    agent.handle(
      json(
        200,
        card({
          supportedInterfaces: [
            'http://169.254.169.254/latest',
            'http://10.0.0.1/',
            'http://2130706433/',
          ].map((url) => ({ url })),
        }),
      ),
    );
    const urls = (await shown()).body.supportedInterfaces.map(({ url }) =>
      url.slice(saved.url.length),
    );
    expect(urls).toHaveLength(3);
    const statuses = [];
    for (const url of urls.slice(0, 2)) statuses.push((await lab.ask(saved.slug, url)).status);
    expect(statuses).toEqual([400, 400]);
  });

  it('that cannot be read are a clear error, or the one that was saved', async () => {
    const fallback = await lab.save(`${agent.url}/base`, {
      agent_card: { name: 'Saved', url: `${agent.url}/base` },
    });
    for (const reply of [
      json(200, '<html>'),
      json(200, `{"name":"n","url":"u","x":"${'x'.repeat(1024 * 1024)}"}`),
      json(200, `{"name":"n","url":"u","x":${'['.repeat(3000)}${']'.repeat(3000)}}`),
      json(200, []),
      json(404, {}),
    ]) {
      agent.handle(reply);
      const answer = await lab.ask(saved.slug, '.well-known/agent-card.json');
      expect([
        answer.status,
        ((await answer.json()) as { error: { code: string } }).error.code,
      ]).toEqual([502, 'agent.bad_card']);
      const other = await lab.ask(fallback.slug, '.well-known/agent-card.json');
      expect(await other.json()).toMatchObject({ name: 'Saved', url: fallback.url });
    }
  });

  it('are not beside the agents: a hint says where they are', async () => {
    const answer = await fetch(
      `${lab.scenario.stack.gatewayUrls[0]}/v1/agent/.well-known/agent-card.json`,
    );
    expect([answer.status, await answer.text()]).toEqual([
      404,
      expect.stringContaining('ends in a slash'),
    ]);
  });
});

describe('tasks', () => {
  it('belong to who began them: to all others they are not found, in the agent’s own words', async () => {
    const id = await begin();
    const key = await lab.newKey();
    const before = agent.requests.length;
    for (const [method, params] of [
      ['tasks/get', { id }],
      ['tasks/cancel', { id }],
      ['tasks/resubscribe', { id }],
      ['GetTask', { id }],
      ['GetTask', { name: `tasks/${id}` }],
      ['SubscribeToTask', { ID: id }],
      ['tasks/pushNotificationConfig/get', { id }],
      ['CreateTaskPushNotificationConfig', { taskId: id, url: 'https://callback.example' }],
      ['message/send', message({ taskId: id })],
      ['message/send', message({ task_id: id })],
      ['message/send', message({ contextId: `context-of-${id}` })],
      ['message/stream', message({ referenceTaskIds: [id] })],
      ['SomethingNew', { id }],
    ] as const) {
      const answer = await lab.rpc(saved.slug, method, params, { key });
      expect(await rpcError(answer), method).toEqual([200, 'call-1', -32001]);
    }
    for (const [httpMethod, path] of [
      ['GET', `tasks/${id}`],
      ['GET', `v1/tasks/${id}`],
      ['GET', `acme/TASKS/${id}`],
      ['GET', `tasks/%74${id.slice(1)}`],
      ['POST', `tasks/${id}:cancel`],
      ['POST', `tasks/${id}:subscribe`],
      ['GET', `tasks/${id}/pushNotificationConfigs`],
    ] as const)
      expect((await lab.ask(saved.slug, path, { key, method: httpMethod })).status, path).toBe(404);
    const rest = await lab.ask(saved.slug, 'message:send', {
      key,
      method: 'POST',
      body: JSON.stringify(message({ taskId: id })),
    });
    expect([rest.status, await rest.json()]).toMatchObject([
      404,
      { error: { code: 404, status: 'NOT_FOUND' } },
    ]);
    expect(agent.requests.length).toBe(before);
    agent.handle(result({ kind: 'task', id, status }));
    expect((await lab.rpc(saved.slug, 'tasks/get', { id })).status).toBe(200);
    expect(agent.requests.length).toBe(before + 1);
  });

  it('of one agent are not those of another', async () => {
    const id = await begin();
    const other = await lab.save(`${agent.url}/other`);
    expect(await rpcError(await lab.rpc(other.slug, 'tasks/get', { id }))).toEqual([
      200,
      'call-1',
      -32001,
    ]);
  });

  it('are listed to who began them alone', async () => {
    const key = await lab.newKey();
    const [mine, theirs] = [await begin(), await begin(saved.slug, key)];
    agent.handle(
      result({
        tasks: [
          { id: mine, status },
          { id: theirs, status },
          { id: 'nobodys', status },
        ],
        totalSize: 3,
        nextPageToken: 'n',
      }),
    );
    const listed = await (await lab.rpc(saved.slug, 'ListTasks', {}, { key })).json();
    expect(listed).toMatchObject({
      result: { tasks: [{ id: theirs }], totalSize: 1, nextPageToken: 'n' },
    });
    agent.handle(
      json(200, {
        tasks: [
          { id: mine, status },
          { id: theirs, status },
        ],
      }),
    );
    expect(await (await lab.ask(saved.slug, 'tasks')).json()).toEqual({
      tasks: [{ id: mine, status }],
    });
    agent.handle(json(200, 'no JSON'));
    expect((await lab.ask(saved.slug, 'tasks')).status).toBe(502);
  });

  it('that a stream names are known before the caller hears of them', async () => {
    const id = `task-${++tasks}`;
    const event = (value: object) => ({ jsonrpc: '2.0', id: 1, result: value });
    agent.handle(
      sse(
        [
          event({ kind: 'task', id, contextId: 'c', status: { state: 'working' } }),
          event({ kind: 'status-update', taskId: id, status }),
        ],
        { delayMs: 20 },
      ),
    );
    const answer = await lab.rpc(saved.slug, 'message/stream', message());
    expect(answer.headers.get('content-type')).toContain('text/event-stream');
    expect(await answer.text()).toContain('"state":"completed"');
    agent.handle(result({ kind: 'task', id, status }));
    expect((await rpcError(await lab.rpc(saved.slug, 'tasks/get', { id })))[2]).toBeUndefined();
  });

  it('call back where callers’ hosts may be called, and nowhere where an admin says so', async () => {
    const before = agent.requests.length;
    const push = (url: unknown) => ({
      ...message(),
      configuration: { pushNotificationConfig: { url } },
    });
    for (const url of [
      'http://169.254.169.254/',
      'http://10.0.0.1/',
      'file:///etc/passwd',
      'https://u:p@x.example/',
      7,
    ])
      expect(
        await rpcError(await lab.rpc(saved.slug, 'message/send', push(url))),
        String(url),
      ).toEqual([400, 'call-1', expect.any(Number)]);
    const closed = await lab.save(`${agent.url}/base`, {
      configurations: { push_notifications: 'deny' },
    });
    expect(
      await rpcError(await lab.rpc(closed.slug, 'message/send', push('https://callback.example/'))),
    ).toEqual([400, 'call-1', -32003]);
    expect(agent.requests.length).toBe(before);
    expect(
      (await lab.rpc(saved.slug, 'message/send', push('https://callback.example/'))).status,
    ).toBe(200);
  });
});

describe('hosts that must not be reached', () => {
  /** This machine is trusted here, as it is written plainly, and all below its name. */
  const isTrusted = (url: string) =>
    URL.canParse(url) &&
    /^(?:127\.0\.0\.1|(?:.*\.)?localhost|\[::1\])$/.test(new URL(url).hostname);
  const corpus = [
    ...new Set([...neverTrustedUrls, ...hostileUrls.filter((url) => !isTrusted(url))]),
  ].filter((_, at) => isFull || at % 12 === 0);

  it('proof 8: are none by an integration’s address, a card’s interface or a callback', async () => {
    const before = agent.requests.length;
    const { workspace_id, admin_key } = lab.scenario.stack.credentials;
    const origin = lab.scenario.stack.gatewayUrls[0];
    const open: unknown[] = [];
    const save = async (kind: 'agent' | 'mcp', url: string) => {
      const answer = await fetch(`${origin}/v1/${kind}-integrations`, {
        method: 'POST',
        headers: { 'x-service-api-key': admin_key, 'content-type': 'application/json' },
        body: JSON.stringify({
          name: 'hostile',
          url,
          auth_type: 'none',
          workspace_id,
          ...(kind === 'mcp' && { transport: 'http' }),
        }),
      });
      const body = (await answer.json()) as { id: string };
      if (answer.status === 400) return;
      // The admin API may let it pass: whoever calls it is refused.
      const server = await lab.scenario.admin<{ id: string; slug: string }>(
        'POST',
        `/${kind}-servers`,
        { name: 'hostile', [`${kind}_integration_id`]: body.id, workspace_id },
      );
      const message = { jsonrpc: '2.0', id: 1, method: 'initialize', params: {} };
      const called = await fetch(
        kind === 'agent' ? `${origin}/v1/agent/${server.slug}/x` : `${origin}/${server.slug}/mcp`,
        {
          method: kind === 'agent' ? 'GET' : 'POST',
          headers: {
            'x-service-api-key': lab.scenario.stack.credentials.workspace_key,
            accept: 'application/json, text/event-stream',
            ...(kind === 'mcp' && { 'content-type': 'application/json' }),
          },
          ...(kind === 'mcp' && { body: JSON.stringify(message) }),
        },
      );
      const text = await called.text();
      if (!/host\.(?:invalid|not_allowed)|host/.test(text)) open.push({ kind, url, text });
    };
    for (const url of corpus) {
      await save('agent', url);
      await save('mcp', url);
      const callback = await lab.rpc(saved.slug, 'message/send', {
        ...message(),
        configuration: { pushNotificationConfig: { url } },
      });
      if ((await rpcError(callback))[0] !== 400) open.push({ callback: url });
    }
    const asked = agent.requests.length;
    expect(asked).toBe(before);
    for (let at = 0; at < corpus.length; at += 20) {
      // What names no host leads to the agent itself.
      const some = corpus.slice(at, at + 20).filter((url) => /^https?:\/\/[^/?]/i.test(url));
      const interfaces = some.map((url) => ({ url, protocolBinding: 'JSONRPC' }));
      agent.handle(json(200, { name: 'A', url: saved.url, supportedInterfaces: interfaces }));
      const shown = await lab.ask(saved.slug, '.well-known/agent-card.json');
      const text = await shown.text();
      const { supportedInterfaces: left = [] } = JSON.parse(text) as {
        supportedInterfaces?: { url: string }[];
      };
      for (const { url } of left) {
        const path = url.slice(saved.url.length);
        // One that no address can be made of is below the agent itself, or left out.
        if (!path.startsWith('~')) continue;
        const answer = await lab.ask(saved.slug, path);
        // What is read as a host that is trusted here, or as one that nobody has, ends there.
        if (answer.status < 400) open.push({ interface: some, path, status: answer.status });
        await answer.text();
      }
    }
    tell(`hosts: ${corpus.length} at 4 places, ${open.length} open`);
    expect(open).toEqual([]);
  }, 600_000);
});

describe('A4: usage', () => {
  const usage = (n: number) => ({ usage: { prompt_tokens: n, completion_tokens: n } });
  const tokens = (record: Awaited<ReturnType<typeof recordOf>>) => [
    Number(record?.inputTokens),
    Number(record?.outputTokens),
  ];

  it('is counted once, however often a task is looked at', async () => {
    const id = await begin();
    const counted: number[][] = [];
    for (const told of [10, 10, 10, 25, 25, 20, 25, 25, 25, 40]) {
      agent.handle(result({ kind: 'task', id, status, metadata: usage(told) }));
      counted.push(tokens(await recordOf(await lab.rpc(saved.slug, 'tasks/get', { id }))));
    }
    expect(counted).toEqual([
      [10, 10],
      [0, 0],
      [0, 0],
      [15, 15],
      [0, 0],
      [0, 0],
      [0, 0],
      [0, 0],
      [0, 0],
      [15, 15],
    ]);
  });

  it('of a stream is its last, and of messages their sum; the record tells task, state and version', async () => {
    const id = `task-${++tasks}`;
    const event = (value: object) => ({ jsonrpc: '2.0', id: 1, result: value });
    const update = (n: number, state: string) =>
      event({
        statusUpdate: { taskId: id, contextId: 'c1', status: { state }, metadata: usage(n) },
      });
    agent.handle(
      sse(
        [
          event({ task: { id, contextId: 'c1', status: { state: 'TASK_STATE_WORKING' } } }),
          update(3, 'TASK_STATE_WORKING'),
          update(8, 'TASK_STATE_COMPLETED'),
        ],
        { chunking: [7, 300, 2] },
      ),
    );
    const record = await recordOf(
      await lab.rpc(saved.slug, 'SendStreamingMessage', message(), {
        headers: { 'a2a-version': '1.0' },
      }),
    );
    expect(tokens(record)).toEqual([8, 8]);
    expect(record).toMatchObject({
      provider: 'agent',
      providerSlug: saved.slug,
      model: saved.id,
      endpoint: 'agent:stream_message',
      rpcMethod: 'SendStreamingMessage',
      protocolVersion: '1.0',
      taskId: id,
      contextId: 'c1',
      taskState: 'TASK_STATE_COMPLETED',
      stream: true,
      usageReported: true,
    });
  });

  it('has a price, which budgets see', async () => {
    const priced = await lab.save(`${agent.url}/base`, {
      configurations: { prices: { call: 10, token: 1 } },
    });
    const key = await lab.newKey({ usage_limits: { credit_limit: 1, type: 'cost' } });
    const id = await begin(priced.slug, key);
    agent.handle(result({ kind: 'task', id, status, metadata: usage(45) }));
    const record = await recordOf(await lab.rpc(priced.slug, 'tasks/get', { id }, { key }));
    expect(Number(record?.costNanoUsd)).toBe(90 * 1e7);
    // A dollar is spent: ten cents for the call, ninety for its tokens.
    const refused = await lab.rpc(priced.slug, 'message/send', message(), { key });
    expect(await rpcError(refused)).toEqual([412, 'call-1', -32603]);
    expect((await lab.rpc(priced.slug, 'tasks/get', { id }, { key })).status).toBe(200);
  });

  it('is not billed twice where the agent’s own calls are', async () => {
    const own = await lab.save(`${agent.url}/base`, { configurations: { bill: 'children' } });
    agent.handle(result({ kind: 'task', id: `task-${++tasks}`, status, metadata: usage(9) }));
    expect(tokens(await recordOf(await lab.rpc(own.slug, 'message/send', message())))).toEqual([
      0, 0,
    ]);
  });
});

describe('refusals', () => {
  it('are told in JSON-RPC with the id, whenever they come', async () => {
    const limited = await lab.newKey({
      rate_limits: [{ type: 'requests', unit: 'rpm', value: 1 }],
    });
    await begin(saved.slug, limited);
    const none = await lab.newKey({ scopes: ['completions.write'] });
    const send = (over: object) => lab.rpc(saved.slug, 'message/send', message(), over);
    expect(await rpcError(await send({ key: 'nonsense' }))).toEqual([401, 'call-1', -32603]);
    expect(await rpcError(await send({ key: none }))).toEqual([403, 'call-1', -32603]);
    expect(await rpcError(await send({ key: limited }))).toEqual([429, 'call-1', -32603]);
    expect(await rpcError(await lab.rpc('none', 'message/send', message()))).toEqual([
      404,
      'call-1',
      -32603,
    ]);
    agent.handle({ send: (res) => void res.destroy() });
    expect(await rpcError(await send({}))).toEqual([502, 'call-1', -32603]);
    const slow = await lab.save(`${agent.url}/base`, { configurations: { timeout_ms: 50 } });
    agent.handle({ send: () => new Promise((resolve) => setTimeout(resolve, 500)) });
    const late = await lab.rpc(slow.slug, 'message/send', message());
    expect(await rpcError(late)).toEqual([504, 'call-1', -32603]);
    // What it cost stands in its record alone.
    expect(late.headers.get('x-service-cost')).toBeNull();
    const plain = await lab.ask('none', 'x');
    expect([
      plain.status,
      ((await plain.json()) as { error: { code: string } }).error.code,
    ]).toEqual([404, 'agent.not_found']);
  });

  it('of bodies that agents could read in two ways come before anything is sent', async () => {
    const before = agent.requests.length;
    const send = async (body: string, headers = {}) =>
      rpcError(await lab.ask(saved.slug, '', { method: 'POST', body, headers }));
    expect(
      await send('{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"id":"a","id":"b"}}'),
    ).toEqual([400, null, -32600]);
    expect(await send('[{"jsonrpc":"2.0"}]')).toEqual([400, null, -32600]);
    expect(await send('{"jsonrpc"')).toEqual([400, null, -32700]);
    expect(await send(`{"a":${'['.repeat(500)}${']'.repeat(500)}}`)).toEqual([400, null, -32600]);
    expect((await send('x=1', { 'content-type': 'application/x-www-form-urlencoded' }))[0]).toBe(
      400,
    );
    expect((await send(`{"method":"x","x":"${'x'.repeat(11 * 1024 * 1024)}"}`))[0]).toBe(413);
    expect(agent.requests.length).toBe(before);
  });

  it('of an agent itself pass as they came', async () => {
    const error = {
      jsonrpc: '2.0',
      id: 'call-1',
      error: { code: -32002, message: 'Not cancelable', data: [1] },
    };
    const id = await begin();
    agent.handle(json(200, error));
    const answer = await lab.rpc(saved.slug, 'tasks/cancel', { id });
    expect([answer.status, await answer.clone().json()]).toEqual([200, error]);
    expect(await recordOf(answer)).toMatchObject({ rpcErrorCode: -32002, taskId: id });
  });

  it('are recorded once, as every call', async () => {
    expect(await recordOf(await lab.rpc(saved.slug, 'tasks/get', { id: 'foreign' }))).toMatchObject(
      { errorCode: 'agent.task_not_found', provider: 'agent', providerSlug: saved.slug },
    );
    expect(await recordOf(await lab.ask(saved.slug, 'a%2fb'))).toMatchObject({
      errorCode: 'agent.path_invalid',
    });
  });
});

describe('bytes', () => {
  it('go through as they are, in both directions', async () => {
    const body =
      '{ "jsonrpc":"2.0",\n "id":1.0, "method":"message/send","params":{"message":{"x":1e3,"é":"\\u00e9"}} }';
    const reply =
      '{ "jsonrpc": "2.0", "id": 1.0,\n"result": {"kind":"message","parts":[],"role":"agent","n":1e400} }';
    agent.handle(json(200, reply));
    const answer = await lab.ask(saved.slug, '', { method: 'POST', body });
    expect(await answer.text()).toBe(reply);
    expect(agent.requests.at(-1)?.body.toString()).toBe(body);
    const raw = await lab.save(`${agent.url}/raw`, { protocol: 'raw' });
    const bytes = Buffer.alloc(200_000, 'é');
    agent.handle({
      send: (res) =>
        void res.writeHead(200, { 'content-type': 'application/octet-stream' }).end(bytes),
    });
    const passed = await lab.ask(raw.slug, 'any', { method: 'PUT', body: bytes.toString() });
    const hash = (data: Uint8Array) => createHash('sha256').update(data).digest('hex');
    expect(hash(new Uint8Array(await passed.arrayBuffer()))).toBe(hash(bytes));
    expect(hash(agent.requests.at(-1)?.body ?? Buffer.alloc(0))).toBe(hash(bytes));
  });

  it('of a stream come one by one, and the agent hears that its caller has left', async () => {
    agent.handle(
      sse(
        Array.from({ length: 100 }, (_, at) => ({ at })),
        { delayMs: 30 },
      ),
    );
    const abort = new AbortController();
    const answer = await lab.rpc(saved.slug, 'message/stream', message(), { signal: abort.signal });
    const reader = answer.body?.getReader();
    const first = await reader?.read();
    expect(Buffer.from(first?.value ?? []).toString()).toBe('data: {"at":0}\n\n');
    const seen = agent.requests.at(-1);
    abort.abort();
    await expect.poll(() => seen?.aborted).toBe(true);
  });
});
