import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { lastEntries } from '../support/audit-trail.ts';
import { createPerson, createServiceKey } from '../support/fixture.ts';
import { type Caller, type Harness, startHarness } from '../support/harness.ts';
import { holdsInClear } from '../support/holds-in-clear.ts';
import { type LocalServer, listenLocally } from '../support/mcp-upstream.ts';

let h: Harness;
const servers: LocalServer[] = [];
beforeAll(async () => {
  h = await startHarness();
});
afterAll(async () => {
  await Promise.all(servers.map((server) => server.close()));
  await h.stop();
});

const admin = () => h.as(h.first.admin_key);
const workspace = () => h.as(h.first.workspace_key);
const idOf = (one: string) => one.split('/').at(-1) ?? '';

const card = {
  name: 'Travel agent',
  url: 'https://agent.example.org/a2a',
  preferredTransport: 'JSONRPC',
  additionalInterfaces: [
    { url: 'https://agent.example.org/a2a/rest', transport: 'HTTP+JSON' },
    { url: 'https://agent.example.org/a2a', transport: 'GRPC' },
    { url: 'https://elsewhere.example.org/a2a', transport: 'JSONRPC' },
    { url: 'https://agent.example.org/a2another', transport: 'JSONRPC' },
  ],
  supportedInterfaces: [{ url: '/a2a/v2?x=1', protocolBinding: 'JSONRPC', tenant: 't' }],
  capabilities: { streaming: true },
  skills: [
    { id: 'book', name: 'Book', description: 'Books trips', tags: ['travel'] },
    { id: 'cancel', name: 'Cancel' },
    { name: 'without an id' },
  ],
  securitySchemes: { own: { type: 'http', scheme: 'bearer' } },
  security: [{ own: [] }],
  signatures: [{ protected: 'x', signature: 'y' }],
};
const cardOfV1 = {
  name: 'Travel agent',
  supportedInterfaces: [{ url: 'https://agent.example.org/a2a', protocolBinding: 'JSONRPC' }],
};
const sealedBelow = (base: string) => new RegExp(`^${base}~[A-Za-z0-9_-]+$`);
const plain = { name: 'Travel', url: 'https://agent.example.org/a2a' };

async function integrate(change: object = {}, caller: Caller = admin()): Promise<string> {
  const answer = await caller.post('/agent-integrations', { ...plain, ...change });
  expect(answer.status, answer.text).toBe(200);
  return `/agent-integrations/${answer.body.id}`;
}

/** A server in the first workspace, made of an integration that is open to it. */
async function serve(change: object = {}): Promise<{ integration: string; server: string }> {
  const integration = await integrate({ agent_card: card, ...change });
  await admin()
    .put(`${integration}/workspaces`, { workspaces: [{ id: h.first.workspace_id, enabled: true }] })
    .expect(200);
  const { body } = await workspace()
    .post('/agent-servers', { name: 'Travel', agent_integration_id: idOf(integration) })
    .expect(200);
  return { integration, server: `/agent-servers/${body.id}` };
}

async function newWorkspace() {
  const { body } = await admin().post('/admin/workspaces', { name: 'Another' }).expect(200);
  const { id } = await h.db.workspace.findFirstOrThrow({ where: { slug: body.slug } });
  return { id, key: await createServiceKey(h, id) };
}

const skills = async (one: string, caller: Caller = workspace()) =>
  (await caller.get(`${one}/skills`).expect(200)).body;

describe('agent integrations', () => {
  it('go from created to deleted; secrets are masked, and sealed at rest', async () => {
    const secret = 'token-1234567890';
    const one = await integrate({
      slug: 'travel',
      auth_type: 'headers',
      configurations: { custom_headers: { Authorization: secret } },
      agent_card: card,
    });
    const { body } = await admin().get('/agent-integrations/travel').expect(200);
    expect(body).toMatchObject({
      ...plain,
      id: idOf(one),
      type: 'organisation',
      auth_type: 'headers',
      configurations: { custom_headers: { Authorization: 'to*******90' } },
      agent_card: card,
      global_workspace_access: null,
    });
    await admin().put(one, { name: 'Trips', configurations: body.configurations }).expect(200);
    expect((await admin().get(one)).body).toMatchObject({
      name: 'Trips',
      configurations: body.configurations,
      agent_card: card,
    });
    expect(await holdsInClear(h, ['agent_integrations', 'audit_entries'], secret)).toBe(false);
    const list = await admin().get('/agent-integrations?search=trips').expect(200);
    expect(list.body).toMatchObject({ total: 1, has_more: false });
    expect(list.body.data[0]).toMatchObject({ id: idOf(one), workspaces_count: 0 });
    expect(list.body.data[0]).not.toHaveProperty('agent_card');
    await admin()
      .post('/agent-integrations', { ...plain, slug: 'travel' })
      .expect(409);
    await h.as(h.other.admin_key).get(one).expect(404);
    await workspace().get(one).expect(403);
    expect((await admin().delete(one)).body).toEqual({});
    await admin().get(one).expect(404);
  });

  it('say by what they are signed in to as it is: headers are sent as long as there are any', async () => {
    const custom_headers = { 'x-team': 'token-1234567890' };
    const { server, integration: one } = await serve({ configurations: { custom_headers } });
    const shown = async () => [
      (await admin().get(one)).body.auth_type,
      (await workspace().get(server)).body.auth_type,
    ];
    expect(await shown()).toEqual(['headers', 'headers']);
    const { body } = await admin().put(one, { auth_type: 'none' }).expect(400);
    expect(body.data).toMatchObject({ code: 'admin.validation', field: 'body.auth_type' });
    expect(body.data.message).toContain('take them away with null');
    const without = { auth_type: 'none', configurations: { custom_headers: null } };
    await admin().put(one, without).expect(200);
    expect(await shown()).toEqual(['none', 'none']);
    await admin().put(one, { configurations: { custom_headers } }).expect(200);
    expect(await shown()).toEqual(['headers', 'headers']);
    // As it was kept by releases before.
    await h.db.agentIntegration.updateMany({ data: { authType: 'none' } });
    expect(await shown()).toEqual(['headers', 'headers']);
  });

  it('are changed in all but their address without their headers, and warn of what nothing reads', async () => {
    const custom_headers = { 'x-team': 'token-1234567890' };
    const one = await integrate({ configurations: { custom_headers } });
    const change = async (configurations: object) =>
      (await admin().put(one, { configurations }).expect(200)).body;
    const user_identity_forwarding = { method: 'claims_header' };
    const known = {
      bill: 'max',
      push_notifications: 'deny',
      timeout_ms: 5,
      forward_headers: ['x'],
    };
    expect(await change({ ...known, user_identity_forwarding })).toEqual({});
    const added = 'is kept, and does nothing yet: nothing here has this name';
    expect(
      await change({
        timeuot_ms: 5,
        user_identity_forwarding: { method: 'bearer', claims: ['x'] },
      }),
    ).toEqual({
      warnings: [
        `body.configurations.timeuot_ms: ${added}; did you mean timeout_ms?`,
        `body.configurations.user_identity_forwarding.claims: ${added}`,
        'body.configurations.user_identity_forwarding.method: does nothing: bearer passes no token on without forward_gateway_token: true, and each call is refused',
      ],
    });
  });

  it('refuse what could not be called', async () => {
    for (const change of [
      { url: 'http://192.168.0.1' },
      { url: 'https://agent.example.org/?token=x' },
      { auth_type: 'oauth_auto' },
      { configurations: { prices: { call: -1 } } },
      { configurations: { prices: { calls: 1 } } },
      { configurations: { prices: { token: '1' } } },
      { configurations: { bill: 'all' } },
      { configurations: { push_notifications: 'sometimes' } },
      { configurations: { idle_timeout_ms: 0 } },
      { agent_card: { name: 'No address' } },
      { agent_card: [] },
    ])
      await admin()
        .post('/agent-integrations', { ...plain, ...change })
        .expect(400);
    await admin()
      .put(await integrate(), {})
      .expect(400);
  });

  it('offer the skills of their card; a new card keeps what was switched off', async () => {
    const one = await integrate({ agent_card: card });
    expect(await skills(one, admin())).toMatchObject({
      total: 2,
      has_more: false,
      counts: { skills: { total: 2, enabled: 2 } },
      data: [
        { id: 'book', name: 'Book', description: 'Books trips', tags: ['travel'], enabled: true },
        { id: 'cancel', name: 'Cancel', description: null, tags: [], enabled: true },
      ],
    });
    await admin()
      .put(`${one}/skills`, { skills: [{ id: 'cancel', enabled: false }] })
      .expect(200);
    const enabled = async () =>
      (await skills(one, admin())).data.map((skill: { id: string; enabled: boolean }) => [
        skill.id,
        skill.enabled,
      ]);
    await admin()
      .put(one, { agent_card: { ...card, skills: [{ id: 'pay', name: 'Pay' }] } })
      .expect(200);
    expect(await enabled()).toEqual([
      ['cancel', false],
      ['pay', true],
    ]);
    await admin().put(one, { agent_card: null }).expect(200);
    expect((await admin().get(one)).body.agent_card).toBeNull();
    expect(await enabled()).toEqual([['cancel', false]]);
  });

  it('open to workspaces, and to new ones where access is global', async () => {
    const one = await integrate();
    await admin()
      .put(`${one}/workspaces`, { workspaces: [], global_workspace_access: { enabled: true } })
      .expect(200);
    const area = await newWorkspace();
    expect((await admin().get(`${one}/workspaces?version=1`)).body).toMatchObject({
      data: [{ id: area.id, enabled: true }],
      total: 1,
      global_workspace_access: { enabled: true },
    });
  });
});

describe('POST /agent-integrations/fetch-agent-card', () => {
  const fetchCard = (url: string) => admin().post('/agent-integrations/fetch-agent-card', { url });
  async function agent(pages: Record<string, string | Buffer | undefined>): Promise<LocalServer> {
    const server = await listenLocally((req, res) => {
      const page = pages[req.url ?? ''];
      res.writeHead(page === undefined ? 404 : 200).end(page ?? 'secret of the agent');
    });
    servers.push(server);
    return server;
  }
  const shown = JSON.stringify(card);

  it.each([
    ['below the address', '/a2a', '/a2a/.well-known/agent-card.json'],
    ['under its former name', '/a2a/', '/a2a/.well-known/agent.json'],
    ['at the root of the host', '/a2a', '/.well-known/agent-card.json'],
    ['where it was named itself', '/.well-known/agent.json', '/.well-known/agent.json'],
  ])('finds the card %s', async (_where, below, place) => {
    const { url } = await agent({ [place]: shown });
    const answer = await fetchCard(`${url}${below}`);
    expect([answer.status, answer.body]).toEqual([200, card]);
  });

  it('prefers the present name, and the place nearest to the address', async () => {
    const { url, seen } = await agent({
      '/a/.well-known/agent-card.json': shown,
      '/a/.well-known/agent.json': '{}',
      '/.well-known/agent-card.json': '{}',
    });
    await fetchCard(`${url}/a`).expect(200);
    expect(seen.map((req) => req.url)).toEqual(['/a/.well-known/agent-card.json']);
  });

  it.each([
    ['is nowhere', undefined, /no agent card/],
    ['is no JSON', 'secret of the agent', /no JSON$/],
    ['is no object', '["secret of the agent"]', /no JSON object/],
    ['has no name', '{"url":"https://a.example.org"}', /without name/],
    ['has no address', '{"name":"secret of the agent"}', /without url/],
    ['is larger than 1 MB', Buffer.alloc(1024 * 1024 + 1, '1'), /1 MB/],
    ['cannot be stored', '{"name":"a\\u0000","url":"b"}', /no JSON/],
  ])('refuses a card that %s, and repeats nothing of it', async (_what, page, message) => {
    const { url } = await agent({ '/.well-known/agent-card.json': page });
    const answer = await fetchCard(url);
    expect([answer.status, answer.body.data.field]).toEqual([400, 'body.url']);
    expect(answer.body.data.message).toMatch(message);
    expect(answer.text).not.toContain('secret of the agent');
  });

  it('calls no address of the inside, and follows nobody there', async () => {
    for (const url of [
      'http://10.0.0.1',
      'http://169.254.169.254',
      'http://2130706433',
      'file:///etc',
    ])
      await fetchCard(url).expect(400);
    const server = await listenLocally((_, res) =>
      res.writeHead(302, { location: 'http://169.254.169.254/' }).end(),
    );
    servers.push(server);
    expect((await fetchCard(server.url)).body.data.message).toMatch(/status 302/);
    await server.close();
    expect((await fetchCard(server.url)).body.data.message).toMatch(/not be reached/);
  });
});

describe('agent servers', () => {
  it('are listed with the address that callers use', async () => {
    const { integration, server } = await serve();
    const { body } = await workspace()
      .get(`/agent-servers?id=${idOf(server)}`)
      .expect(200);
    expect(body).toMatchObject({
      total: 1,
      data: [
        {
          id: idOf(server),
          agent_integration_id: idOf(integration),
          auth_type: 'none',
          workspace_id: h.first.workspace_id,
          url: `http://127.0.0.1:${h.service.httpPort}/v1/agent/${body.data[0].slug}/`,
        },
      ],
    });
    expect((await workspace().get(server)).body).toEqual(body.data[0]);
    await workspace().put(server, { name: 'Trips' }).expect(200);
    expect((await workspace().get(server)).body.name).toBe('Trips');
    const [entry] = await lastEntries(h, 1);
    const behind = {
      agent_integration_id: idOf(integration),
      agent_integration_slug: body.data[0].agent_integration_slug,
    };
    expect(entry).toMatchObject({ resourceId: idOf(server), before: behind, after: behind });
    const area = await newWorkspace();
    await h.as(area.key).get(server).expect(403);
    await h.as(h.other.admin_key).get(server).expect(404);
    const closed = await h
      .as(area.key)
      .post('/agent-servers', { name: 'Mine', agent_integration_id: idOf(integration) });
    expect([closed.status, closed.body.data.field]).toEqual([400, 'body.agent_integration_id']);
    await workspace().delete(server).expect(200);
    await workspace().get(server).expect(404);
  });

  it('show the card with every address behind the gateway, and the skills that are on', async () => {
    const { integration, server } = await serve();
    const { slug } = (await workspace().get(server)).body;
    await admin()
      .put(`${integration}/skills`, { skills: [{ id: 'cancel', enabled: false }] })
      .expect(200);
    const base = `http://127.0.0.1:${h.service.httpPort}/v1/agent/${slug}/`;
    const { securitySchemes, security, signatures, ...kept } = card;
    const expected = {
      ...kept,
      url: base,
      // What is not below the registered address has a sub-path that says nothing of it.
      additionalInterfaces: [
        { url: `${base}rest`, transport: 'HTTP+JSON' },
        { url: expect.stringMatching(sealedBelow(base)), transport: 'JSONRPC' },
        { url: expect.stringMatching(sealedBelow(base)), transport: 'JSONRPC' },
      ],
      supportedInterfaces: [{ url: `${base}v2?x=1`, protocolBinding: 'JSONRPC', tenant: 't' }],
      skills: [card.skills[0], card.skills[2]],
      // In the words of both generations, as the card is one of both.
      securitySchemes: {
        gateway: {
          type: 'apiKey',
          in: 'header',
          name: 'x-service-api-key',
          apiKeySecurityScheme: { location: 'header', name: 'x-service-api-key' },
        },
        bearer: {
          type: 'http',
          scheme: 'bearer',
          httpAuthSecurityScheme: { scheme: 'Bearer' },
        },
      },
      security: [{ gateway: [] }, { bearer: [] }],
      securityRequirements: [
        { schemes: { gateway: { list: [] } } },
        { schemes: { bearer: { list: [] } } },
      ],
    };
    expect((await workspace().get(`${server}/agent-card`)).body).toEqual(expected);
    await workspace()
      .put(`${server}/skills`, { skills: [{ id: 'book', enabled: false }] })
      .expect(200);
    expect((await workspace().get(`${server}/agent-card`)).body.skills).toEqual([card.skills[2]]);
    expect((await skills(server)).data).toMatchObject([
      { id: 'book', enabled: false, integration_enabled: true },
      { id: 'cancel', enabled: false, integration_enabled: false },
    ]);
    expect((await admin().get(integration)).body.agent_card).toEqual(card);
    const later = await serve({ agent_card: cardOfV1 });
    const shown = (await workspace().get(`${later.server}/agent-card`)).body;
    expect(shown).not.toHaveProperty('url');
    expect(shown.supportedInterfaces[0].url).toMatch(/\/v1\/agent\/[^/]+\/$/);
    const unknown = await serve({ agent_card: null });
    await workspace().get(`${unknown.server}/agent-card`).expect(404);
  });

  it('may be called by whom their access says', async () => {
    const { server } = await serve();
    const { userId } = await createPerson(h, 'member', h.first.workspace_id);
    await workspace()
      .put(`${server}/user-access`, {
        default_user_access: 'deny',
        user_access: [{ user_id: userId, enabled: true }],
      })
      .expect(200);
    const { body } = await workspace().get(`${server}/user-access?page_size=1`);
    expect(body).toMatchObject({ default_user_access: 'deny', has_more: true });
    const one = await workspace().get(`${server}/user-access?search=${userId}`);
    expect(one.body.data).toEqual([
      { user_id: userId, first_name: null, last_name: null, enabled: true, has_override: true },
    ]);
  });
});
