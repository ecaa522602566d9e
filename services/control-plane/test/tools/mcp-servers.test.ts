import type { AnswerOf } from '@sluice/contracts/admin';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPerson, createServiceKey } from '../support/fixture.ts';
import { type Caller, type Harness, startHarness } from '../support/harness.ts';
import { type LocalServer, startMcpServer } from '../support/mcp-upstream.ts';

let h: Harness;
let upstream: LocalServer;
let integration: string;
beforeAll(async () => {
  [h, upstream] = await Promise.all([startHarness(), startMcpServer()]);
  const made = await admin().post('/mcp-integrations', {
    name: 'Calculator',
    slug: 'calculator',
    url: `${upstream.url}/mcp`,
    auth_type: 'headers',
    transport: 'http',
    configurations: { custom_headers: { Authorization: 'token-1234567890' } },
  });
  integration = made.body.id;
  await open(h.first.workspace_id, true);
  await admin().post(`/mcp-integrations/${integration}/test`).expect(200);
});
afterAll(async () => {
  await upstream.close();
  await h.stop();
});

const admin = () => h.as(h.first.admin_key);
const workspace = () => h.as(h.first.workspace_key);
const path = '/mcp-servers';

const open = (id: string, enabled: boolean) =>
  admin()
    .put(`/mcp-integrations/${integration}/workspaces`, { workspaces: [{ id, enabled }] })
    .expect(200);

async function make(change: object = {}, caller: Caller = workspace()): Promise<string> {
  const answer = await caller.post(path, {
    name: 'Sums',
    mcp_integration_id: integration,
    ...change,
  });
  expect(answer.status, answer.text).toBe(200);
  return `${path}/${answer.body.id}`;
}
const idOf = (one: string) => one.split('/').at(-1) ?? '';

async function newWorkspace() {
  const { body } = await admin().post('/admin/workspaces', { name: 'Another' }).expect(200);
  const { id } = await h.db.workspace.findFirstOrThrow({ where: { slug: body.slug } });
  return { id, slug: body.slug as string, key: await createServiceKey(h, id) };
}

const lastEntry = async (one: string) => {
  const entry = await h.db.auditEntry.findFirstOrThrow({
    where: { resourceId: idOf(one) },
    orderBy: { sequence: 'desc' },
  });
  return {
    ...entry,
    before: JSON.parse(entry.before ?? 'null'),
    after: JSON.parse(entry.after ?? 'null'),
  };
};

describe('MCP servers', () => {
  it('are listed with the address that clients use, and what is behind it', async () => {
    const one = await make({ slug: 'my-sums', description: 'Adds' });
    const { body } = await workspace().get(`${path}?id=my-sums`).expect(200);
    expect(body).toEqual({
      total: 1,
      data: [
        {
          id: idOf(one),
          organisation_id: h.first.organisation_id,
          workspace_id: h.first.workspace_id,
          workspace_name: expect.any(String),
          workspace_slug: h.first.workspace_slug,
          slug: 'my-sums',
          name: 'Sums',
          description: 'Adds',
          status: 'active',
          owner_id: expect.any(String),
          url: `http://127.0.0.1:${h.service.httpPort}/my-sums/mcp`,
          mcp_integration_id: integration,
          mcp_integration_slug: 'calculator',
          mcp_integration_url: `${upstream.url}/mcp`,
          auth_type: 'headers',
          members: [],
          prefix: 'on_collision',
          exposure: 'all',
          policy: {},
          created_at: expect.any(String),
          last_updated_at: expect.any(String),
        },
      ],
    });
  });

  it('show service keys the integration with masks, and user keys nothing of it', async () => {
    const one = await make();
    const person = await createPerson(h, 'member', h.first.workspace_id);
    for (const caller of [workspace(), admin()])
      expect((await caller.get(one)).body).toMatchObject({
        workspace_id: h.first.workspace_id,
        mcp_integration_details: {
          slug: 'calculator',
          transport: 'http',
          configurations: { custom_headers: { Authorization: 'to*******90' } },
        },
      });
    expect((await h.as(person.key).get(one)).body).toMatchObject({
      name: 'Sums',
      workspace_id: null,
      mcp_integration_details: null,
    });
  });

  it('filter by id, slug, text and workspace', async () => {
    const area = await newWorkspace();
    await open(area.id, true);
    const caller = h.as(area.key);
    const first = await make({ name: 'First of all', slug: `one-${area.slug}` }, caller);
    const second = await make({ name: 'Second' }, caller);
    const ids = async (query: string, as = caller) =>
      (await as.get(`${path}?${query}`).expect(200)).body.data.map((row: { id: string }) => row.id);
    expect(await ids('')).toEqual([idOf(second), idOf(first)]);
    expect(await ids(`id=${idOf(first)},nobody`)).toEqual([idOf(first)]);
    expect(await ids(`id=one-${area.slug},${idOf(second)}`)).toHaveLength(2);
    expect(await ids('search=FIRST')).toEqual([idOf(first)]);
    expect(await ids(`workspace_id=${area.slug}`, admin())).toEqual([idOf(second), idOf(first)]);
    expect(await ids(`workspace_id=${h.first.workspace_id}`)).toEqual([idOf(second), idOf(first)]);
    const page = await caller.get(`${path}?page_size=1&current_page=1`);
    expect([page.body.total, page.body.data[0].id]).toEqual([2, idOf(first)]);
    await caller.get(`${path}?page_size=101`).expect(400);
    await caller.get(`${path}?search=${'x'.repeat(256)}`).expect(400);
  });

  it('are made only of what is open to their workspace', async () => {
    const area = await newWorkspace();
    const foreign = await workspace().post('/mcp-integrations', {
      name: 'Ours',
      url: upstream.url,
      auth_type: 'none',
      transport: 'http',
    });
    for (const mcp_integration_id of ['calculator', integration, foreign.body.id, 'nothing']) {
      const answer = await h.as(area.key).post(path, { name: 'Sums', mcp_integration_id });
      expect([answer.status, answer.body.data.field]).toEqual([400, 'body.mcp_integration_id']);
    }
    await make({ mcp_integration_id: foreign.body.slug });
    const unnamed = await admin().post(path, { name: 'Sums', mcp_integration_id: integration });
    expect([unnamed.status, unnamed.body.data.field]).toEqual([400, 'body.workspace_id']);
    const named = await make({ workspace_id: h.first.workspace_slug }, admin());
    expect((await admin().get(named)).body.workspace_id).toBe(h.first.workspace_id);
  });

  it.each([
    ['no name', { name: '' }],
    ['a name of 256 characters', { name: 'n'.repeat(256) }],
    ['a description of 501 characters', { description: 'd'.repeat(501) }],
    ['a slug of two characters', { slug: 'ab' }],
    ['a slug of 51 characters', { slug: 'a'.repeat(51) }],
    ['a slug with a slash', { slug: 'a/b' }],
  ])('refuse %s', async (_what, change) => {
    await workspace()
      .post(path, { name: 'Sums', mcp_integration_id: integration, ...change })
      .expect(400);
  });

  it('have a slug that no other server of the organisation has', async () => {
    await make({ slug: 'only-one' });
    await workspace()
      .post(path, { name: 'Sums', mcp_integration_id: integration, slug: 'only-one' })
      .expect(409);
    expect((await admin().get(`${path}/only-one`)).status).toBe(200);
  });

  it('change their name and description, and go; the log holds before and after', async () => {
    const one = await make({ description: 'Adds' });
    const refused = await workspace().put(one, { name: 'Renamed', slug: 'another' }).expect(400);
    expect(refused.body.data.field).toBe('body.slug');
    await workspace().put(one, { name: 'Renamed' }).expect(200);
    expect((await workspace().get(one)).body).toMatchObject({
      name: 'Renamed',
      description: 'Adds',
    });
    expect(await lastEntry(one)).toMatchObject({
      action: 'update',
      workspaceId: h.first.workspace_id,
      before: { name: 'Sums', mcp_integration_id: integration, mcp_integration_slug: 'calculator' },
      after: {
        name: 'Renamed',
        mcp_integration_id: integration,
        mcp_integration_slug: 'calculator',
      },
    });
    await workspace().put(one, { description: null }).expect(200);
    expect((await workspace().get(one)).body.description).toBeNull();
    await workspace().put(one, {}).expect(400);
    expect((await workspace().delete(one)).body).toEqual({});
    await workspace().get(one).expect(404);
    await workspace().delete(one).expect(404);
    expect(await lastEntry(one)).toMatchObject({ action: 'delete', after: null });
  });

  it('are out of reach for other workspaces, and unknown to other organisations', async () => {
    const one = await make({ slug: 'out-of-reach' });
    const area = await newWorkspace();
    for (const name of [one, `${path}/out-of-reach`]) {
      await h.as(area.key).get(name).expect(403);
      await h.as(area.key).delete(name).expect(403);
      await h.as(h.other.admin_key).get(name).expect(404);
    }
  });

  it('ask the server behind them without keeping what it says', async () => {
    const one = await make();
    const before = await h.db.mcpIntegration.findUniqueOrThrow({ where: { id: integration } });
    expect((await workspace().post(`${one}/test`)).body).toMatchObject({
      success: true,
      status_code: 200,
      server_name: 'The Calculator',
    });
    expect(await h.db.mcpIntegration.findUniqueOrThrow({ where: { id: integration } })).toEqual(
      before,
    );
    expect((await workspace().get(`${one}/metadata`)).body).toMatchObject({
      server_version: '3.1.4',
      sync_status: 'synced',
    });
    expect(await lastEntry(one)).toMatchObject({ resourceType: 'mcp_servers', action: 'manage' });
  });
});

describe('the capabilities of an MCP server', () => {
  const tools = async (one: string, caller: Caller = workspace()) =>
    (await caller.get(`${one}/capabilities?type=tool`).expect(200)).body;
  const set = (target: string, name: string, enabled: boolean) =>
    admin()
      .put(`${target}/capabilities`, { capabilities: [{ type: 'tool', name, enabled }] })
      .expect(200);

  it('need a yes of both levels', async () => {
    const [one, another] = [await make(), await make()];
    const settings = async (server: string) =>
      (await tools(server)).data.map(
        (row: { name: string; enabled: boolean; integration_enabled: boolean }) => [
          row.name,
          row.enabled,
          row.integration_enabled,
        ],
      );
    await set(one, 'add', false);
    expect(await settings(one)).toEqual([
      ['add', false, true],
      ['delete_all', true, true],
    ]);
    expect(await settings(another)).toEqual([
      ['add', true, true],
      ['delete_all', true, true],
    ]);
    await set(`/mcp-integrations/${integration}`, 'delete_all', false);
    await set(one, 'delete_all', true);
    expect(await settings(one)).toEqual([
      ['add', false, true],
      ['delete_all', false, false],
    ]);
    expect((await tools(one)).counts.tools).toEqual({ total: 2, enabled: 0 });
    await set(`/mcp-integrations/${integration}`, 'delete_all', true);
    expect((await tools(one)).counts.tools).toEqual({ total: 2, enabled: 1 });
  });

  it('tell user keys only what counts', async () => {
    const person = await createPerson(h, 'member', h.first.workspace_id);
    const { data } = await tools(await make(), h.as(person.key));
    expect(data[0]).toMatchObject({ name: 'add', enabled: true, integration_enabled: null });
  });

  it('can be closed before anybody has seen them', async () => {
    const one = await make();
    await set(one, 'yet_to_come', false);
    expect((await tools(one)).data.at(-1)).toMatchObject({
      name: 'yet_to_come',
      enabled: false,
      integration_enabled: true,
      description: null,
    });
    const onIntegration = await tools(`/mcp-integrations/${integration}`, admin());
    expect(onIntegration.data).toHaveLength(2);
  });

  it('and of its integration are in the audit log as they were and as they are', async () => {
    const states = async (path: string, enabled: boolean) => {
      await set(path, 'audited', enabled);
      const entry = await h.db.auditEntry.findFirstOrThrow({
        where: { uri: `/v1${path}/capabilities`, method: 'PUT' },
        orderBy: { sequence: 'desc' },
      });
      return [entry.before, entry.after].map((text) => JSON.parse(text ?? '').offers);
    };
    const offer = (enabled: boolean) => [{ type: 'tool', name: 'audited', enabled }];
    for (const path of [await make(), `/mcp-integrations/${integration}`]) {
      expect(await states(path, false)).toEqual([[], offer(false)]);
      expect(await states(path, true)).toEqual([offer(false), offer(true)]);
    }
  });
});

describe('the users of an MCP server', () => {
  const access = async (one: string, query = '') =>
    (await workspace().get(`${one}/user-access?${query}`).expect(200)).body;

  it('are the people of its workspace, with the default or an exception from it', async () => {
    const one = await make();
    const [inside, outside] = [
      await createPerson(h, 'member', h.first.workspace_id),
      await createPerson(h, 'member', (await newWorkspace()).id),
    ];
    const of = async (query = '') => {
      const list = await access(one, `page_size=500&${query}`);
      const row = list.data.find((user: { user_id: string }) => user.user_id === inside.userId);
      return [list.default_user_access, row?.enabled, row?.has_override];
    };
    expect(await of()).toEqual(['allow', true, false]);
    const strangers = await workspace().put(`${one}/user-access`, {
      user_access: [{ user_id: outside.userId, enabled: true }],
    });
    expect([strangers.status, strangers.body.data.field]).toEqual([
      400,
      'body.user_access[0].user_id',
    ]);
    const changed = await workspace().put(`${one}/user-access`, {
      default_user_access: 'deny',
      user_access: [{ user_id: inside.userId.toUpperCase(), enabled: true }],
    });
    expect(changed.body).toEqual({ success: true });
    expect(await of()).toEqual(['deny', true, true]);
    expect(await lastEntry(one)).toMatchObject({
      before: { default_user_access: 'allow', user_access: [] },
      after: { default_user_access: 'deny', user_access: [{ user_id: inside.userId }] },
    });
    await workspace()
      .put(`${one}/user-access`, { user_access: [{ user_id: inside.userId, enabled: null }] })
      .expect(200);
    expect(await of()).toEqual(['deny', false, false]);
    const ids = (await access(one, 'page_size=500')).data.map(
      (user: { user_id: string }) => user.user_id,
    );
    expect(ids).not.toContain(outside.userId);
    const found = await access(one, `search=${inside.userId}`);
    expect(found).toMatchObject({ total: 1, has_more: false });
    expect(found.data[0]).toMatchObject({ user_id: inside.userId, first_name: null });
  });

  it('see and revoke their own connections; admins and service keys those of all', async () => {
    const one = await make();
    const [ann, bob] = [
      await createPerson(h, 'member', h.first.workspace_id),
      await createPerson(h, 'member', h.first.workspace_id),
    ];
    const boss = await createPerson(h, 'admin', h.first.workspace_id);
    for (const { userId } of [ann, bob])
      await h.db.mcpConnection.create({
        data: { serverId: idOf(one), userId, sealedTokens: Buffer.from('sealed') },
      });
    const users = async (key: string, query = '') =>
      (await h.as(key).get(`${one}/connections?${query}`).expect(200)).body.data
        .map((row: { user_id: string }) => row.user_id)
        .sort();
    const both = [ann.userId, bob.userId].sort();
    expect(await users(ann.key)).toEqual([ann.userId]);
    expect(await users(boss.key)).toEqual([]);
    expect(await users(boss.key, `user_id=${bob.userId}`)).toEqual([bob.userId]);
    expect(await users(h.first.workspace_key)).toEqual(both);
    expect(await users(h.first.admin_key, `workspace_id=${h.first.workspace_slug}`)).toEqual(both);
    await h.as(ann.key).get(`${one}/connections?user_id=${bob.userId}`).expect(403);
    await h.as(ann.key).delete(`${one}/connections?user_id=${bob.userId}`).expect(403);
    const list = await workspace().get(`${one}/connections?page_size=1`);
    expect(list.body).toMatchObject({ total: 2, has_more: true, data: [{ connected: true }] });
    const status = (await access(one, `search=${bob.userId}`)).data[0].connection_status;
    expect(status).toBe('connected');

    const unnamed = await workspace().delete(`${one}/connections`);
    expect([unnamed.status, unnamed.body.data.field]).toEqual([400, 'query.user_id']);
    expect((await h.as(ann.key).delete(`${one}/connections`)).body).toEqual({ success: true });
    await workspace().delete(`${one}/connections?user_id=${bob.userId}`).expect(200);
    await workspace().delete(`${one}/connections?user_id=${bob.userId}`).expect(200);
    expect(await users(h.first.workspace_key)).toEqual([]);
    const elsewhere = await newWorkspace();
    await admin().get(`${one}/connections?workspace_id=${elsewhere.slug}`).expect(404);
  });
});

type RegistryPage = AnswerOf<'mcp-registry.list'>;

describe('GET /v0.1/servers', () => {
  const root = () => `http://127.0.0.1:${h.service.httpPort}/v0.1/servers`;
  const registry = async (query = '', key = h.first.admin_key) => {
    const answer = await fetch(`${root()}?${query}`, { headers: { 'x-service-api-key': key } });
    return { status: answer.status, body: (await answer.json()) as RegistryPage };
  };
  const namesOf = (page: { body: RegistryPage }) =>
    page.body.servers.map(({ server }) => server.name);
  const listed = async (area: { slug: string }, query = '') =>
    namesOf(await registry(`workspace_id=${area.slug}&${query}`)).map((name) => name.split('/')[1]);

  it('lists servers in the format of the community’s registry', async () => {
    const area = await newWorkspace();
    await open(area.id, true);
    await make({ slug: `listed-${area.slug}`, name: 'N'.repeat(200) }, h.as(area.key));
    const { body } = await registry('', area.key);
    const instant = expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/);
    expect(body).toEqual({
      servers: [
        {
          server: {
            $schema: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json',
            name: `local.sluice.${area.slug}/listed-${area.slug}`,
            title: 'N'.repeat(100),
            description: 'N'.repeat(100),
            version: '3.1.4',
            remotes: [
              {
                type: 'streamable-http',
                url: `http://127.0.0.1:${h.service.httpPort}/listed-${area.slug}/mcp`,
              },
            ],
          },
          _meta: {
            'io.modelcontextprotocol.registry/official': {
              status: 'active',
              publishedAt: instant,
              updatedAt: instant,
              isLatest: true,
            },
          },
        },
      ],
      metadata: { count: 1 },
    });
  });

  it('lists a server only while it, its integration, its workspace and the grant are in force', async () => {
    const area = await newWorkspace();
    await open(area.id, true);
    const own = await h.as(area.key).post('/mcp-integrations', {
      name: 'Own',
      url: upstream.url,
      auth_type: 'none',
      transport: 'http',
    });
    await make({ slug: `granted-${area.slug}` }, h.as(area.key));
    const second = await make(
      { slug: `own-${area.slug}`, mcp_integration_id: own.body.id },
      h.as(area.key),
    );
    const both = [`own-${area.slug}`, `granted-${area.slug}`];
    expect(await listed(area)).toEqual(both);
    await open(area.id, false);
    expect(await listed(area)).toEqual([both[0]]);
    await open(area.id, true);
    const status = (value: string) => ({ data: { status: value } });
    await h.db.mcpIntegration.update({ where: { id: own.body.id }, ...status('archived') });
    expect(await listed(area)).toEqual([both[1]]);
    await h.db.mcpIntegration.update({ where: { id: own.body.id }, ...status('active') });
    await h.db.mcpServer.update({ where: { id: idOf(second) }, ...status('archived') });
    expect(await listed(area)).toEqual([both[1]]);
    await h.db.workspace.update({ where: { id: area.id }, ...status('archived') });
    expect(namesOf(await registry('limit=100')).join()).not.toContain(area.slug);
  });

  it('pages newest first behind a cursor, whatever is added meanwhile', async () => {
    const area = await newWorkspace();
    await open(area.id, true);
    const slugs = ['a', 'b', 'c', 'd', 'e'].map((letter) => `${letter}-${area.slug}`);
    for (const slug of slugs) await make({ slug }, h.as(area.key));
    const found: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await registry(
        `limit=2&workspace_id=${area.id}${cursor === undefined ? '' : `&cursor=${cursor}`}`,
      );
      expect(page.body.metadata.count).toBe(page.body.servers.length);
      found.push(...namesOf(page).map((name) => name.split('/')[1] ?? ''));
      cursor = page.body.metadata.nextCursor;
      await make({}, h.as(area.key));
    } while (cursor !== undefined);
    expect(found).toEqual(slugs.toReversed());
    expect(await listed(area, `search=${area.slug.toUpperCase()}/C-`)).toEqual([slugs[2]]);
    expect(await listed(area, 'search=%25')).toEqual([]);
    expect(await listed(area, 'updated_since=2999-01-01')).toEqual([]);
  });

  it('refuses cursors, limits, keys and workspaces that are not good', async () => {
    const area = await newWorkspace();
    for (const query of ['cursor=nonsense', 'limit=0', 'limit=101', 'updated_since=yesterday'])
      expect((await registry(query)).status).toBe(400);
    expect((await registry('workspace_id=ws-none')).status).toBe(404);
    expect((await registry('workspace_id=ws-none', area.key)).status).toBe(403);
    expect((await registry(`workspace_id=${h.first.workspace_id}`, area.key)).status).toBe(403);
    expect((await registry(`workspace_id=${area.slug}`, area.key)).status).toBe(200);
    expect((await fetch(root())).status).toBe(401);
    const bearer = { authorization: `Bearer ${h.first.admin_key}` };
    for (const headers of [bearer, { ...bearer, 'x-service-api-key': '' }])
      expect((await fetch(root(), { headers })).status).toBe(401);
    const narrow = await createServiceKey(h, area.id, ['prompts.render']);
    expect((await registry('', narrow)).status).toBe(403);
  });
});
