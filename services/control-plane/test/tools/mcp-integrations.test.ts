import { scopesOf } from '@sluice/contracts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCredentialVault } from '../../src/kernel/credentials/envelope.ts';
import { mcpKind } from '../../src/tools/mcp-integrations/kind.ts';
import { openConfigurations } from '../../src/tools/registry/configurations.ts';
import { createPerson, createServiceKey } from '../support/fixture.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { holdsInClear } from '../support/holds-in-clear.ts';

let h: Harness;
beforeAll(async () => {
  h = await startHarness();
});
afterAll(() => h.stop());

const admin = () => h.as(h.first.admin_key);
const workspace = () => h.as(h.first.workspace_key);
const path = '/mcp-integrations';
const plain = {
  name: 'Tickets',
  url: 'https://mcp.example.org/mcp',
  auth_type: 'none',
  transport: 'http',
};

async function make(change: object = {}, caller = admin()): Promise<string> {
  const answer = await caller.post(path, { ...plain, ...change });
  expect(answer.status, answer.text).toBe(200);
  return `${path}/${answer.body.id}`;
}

async function newWorkspace() {
  const { body } = await admin().post('/admin/workspaces', { name: 'Another' }).expect(200);
  const { id } = await h.db.workspace.findFirstOrThrow({ where: { slug: body.slug } });
  return { id, slug: body.slug as string, key: await createServiceKey(h, id) };
}

const ids = (answer: { body: { data: { id: string }[] } }) => answer.body.data.map((row) => row.id);

describe('MCP integrations', () => {
  it('belong to the organisation, or to the workspace that is named or whose key asks', async () => {
    const levels = [
      [await make(), null, 'organisation'],
      [await make({ workspace_id: h.first.workspace_slug }), h.first.workspace_id, 'workspace'],
      [await make({}, workspace()), h.first.workspace_id, 'workspace'],
    ] as const;
    for (const [one, workspaceId, type] of levels) {
      const { body } = await admin().get(one).expect(200);
      expect(body).toMatchObject({ ...plain, type, workspace_id: workspaceId, status: 'active' });
      expect(body).toMatchObject({ global_workspace_access: null, secret_mappings: [] });
    }
  });

  it('are found by slug, which is unique in the organisation and made when none is sent', async () => {
    const { body } = await admin().post(path, { ...plain, slug: 'the-tickets' });
    expect((await admin().get(`${path}/the-tickets`)).body.id).toBe(body.id);
    await workspace()
      .post(path, { ...plain, slug: 'the-tickets' })
      .expect(409);
    const other = await h.as(h.other.admin_key).post(path, { ...plain, slug: 'the-tickets' });
    expect(other.status).toBe(200);
    const generated = await admin().post(path, plain);
    expect(generated.body.slug).toMatch(/^tickets-[0-9a-f]{6}$/);
  });

  it('want the scope of their level', async () => {
    const narrow = await h.as(h.first.admin_key).post('/api-keys/organisation/service', {
      name: 'Narrow',
      scopes: [...scopesOf('organisation-service')].filter(
        (scope) => !scope.startsWith('organisation_mcp_integrations.'),
      ),
    });
    const caller = h.as(narrow.body.key);
    await caller.post(path, plain).expect(403);
    await caller.get(await make()).expect(403);
    const own = await make({ workspace_id: h.first.workspace_id }, caller);
    await caller.put(own, { name: 'Renamed' }).expect(200);
    const { body } = await caller.get(`${path}?page_size=1000`).expect(200);
    expect(new Set(body.data.map((row: { type: string }) => row.type))).toEqual(
      new Set(['workspace']),
    );
  });

  it('list what a workspace has or was granted, newest first, and say whether there is more', async () => {
    const area = await newWorkspace();
    const own = await make({ name: 'Own one' }, h.as(area.key));
    const granted = await make({ name: 'Granted one', slug: `granted-${area.slug}` });
    await make({ name: 'Closed one' });
    await admin()
      .put(`${granted}/workspaces`, { workspaces: [{ id: area.slug, enabled: true }] })
      .expect(200);
    const list = (query: string) => h.as(area.key).get(`${path}?${query}`).expect(200);
    const idOf = (one: string) => one.split('/').at(-1);
    expect(ids(await list(''))).toEqual([idOf(granted), idOf(own)]);
    expect(ids(await list('type=workspace'))).toEqual([idOf(own)]);
    expect(ids(await list('type=organisation'))).toEqual([idOf(granted)]);
    expect(ids(await list('search=OWN'))).toEqual([idOf(own)]);
    expect(ids(await list(`search=granted-${area.slug}`))).toEqual([idOf(granted)]);
    expect(ids(await list('search=%25'))).toEqual([]);
    expect((await list('page_size=1')).body).toMatchObject({ total: 2, has_more: true });
    const last = (await list('page_size=1&current_page=1')).body;
    expect(last).toMatchObject({ total: 2, has_more: false });
    expect(last.data[0]).toMatchObject({ workspaces_count: 1, type: 'workspace' });
    const asAdmin = await admin().get(`${path}?workspace_id=${area.id}`).expect(200);
    expect(ids(asAdmin)).toEqual([idOf(granted), idOf(own)]);
    await admin().get(`${path}?organisation_id=${h.other.organisation_id}`).expect(403);
  });

  it.each([
    ['a URL that is no HTTP', { url: 'ftp://mcp.example.org' }, 'body.url'],
    ['a URL with a password', { url: 'https://a:b@mcp.example.org' }, 'body.url'],
    ['a URL with a credential', { url: 'https://mcp.example.org/?apiKey=s' }, 'body.url'],
    ['a private address', { url: 'http://10.0.0.1/mcp' }, 'body.url'],
    ['the metadata service', { url: 'http://169.254.169.254/mcp' }, 'body.url'],
    ['an unknown way to sign in', { auth_type: 'magic' }, 'body.auth_type'],
    ['a transport nobody speaks', { transport: 'stdio' }, 'body.transport'],
    ['no name', { name: ' ' }, 'body.name'],
    ['a slug with spaces', { slug: 'a b' }, 'body.slug'],
    [
      'a header that ends early',
      { configurations: { custom_headers: { 'x-a': 'b\r\nx-c: d' } } },
      'body.configurations.custom_headers.x-a',
    ],
    [
      'unsigned tokens',
      {
        configurations: {
          jwt_validation: { jwksUri: 'https://id.example.org', algorithms: ['none'] },
        },
      },
      'body.configurations.jwt_validation.algorithms[0]',
    ],
    [
      'a private signing key',
      { configurations: { jwt_validation: { jwks: { keys: [{ kty: 'RSA', d: 'secret' }] } } } },
      'body.configurations.jwt_validation',
    ],
    [
      'redirects of its own',
      { configurations: { oauth_metadata: { redirect_uris: ['https://evil.example.org'] } } },
      'body.configurations.oauth_metadata',
    ],
    [
      'a secret for its address',
      { secret_mappings: [{ target_field: 'key', secret_reference_id: 'none' }] },
      'body.secret_mappings[0].target_field',
    ],
    [
      'a secret nobody has',
      { secret_mappings: [{ target_field: 'configurations.a', secret_reference_id: 'none' }] },
      'body.secret_mappings[0].secret_reference_id',
    ],
  ])('refuse %s, made or changed', async (_what, change, field) => {
    const made = await admin().post(path, { ...plain, ...change });
    expect([made.status, made.body.data.errorCode, made.body.data.field]).toEqual([
      400,
      'AB01',
      field,
    ]);
    if ('slug' in change) return;
    const changed = await admin().put(await make(), change);
    expect([changed.status, changed.body.data.field]).toEqual([400, field]);
  });

  it('keep their slug, and want something to change', async () => {
    const one = await make({ slug: 'fixed-slug' });
    await admin().put(one, { slug: 'new-slug', description: 'Said' }).expect(400);
    await admin().put(one, { name: 'Other', description: 'Said' }).expect(200);
    expect((await admin().get(one)).body).toMatchObject({
      slug: 'fixed-slug',
      name: 'Other',
      description: 'Said',
      url: plain.url,
    });
    await admin().put(one, { description: null }).expect(200);
    expect((await admin().get(one)).body.description).toBeNull();
    await admin().put(one, {}).expect(400);
    await admin().put(one).expect(400);
  });

  it('do not exist for other organisations, nor open for workspaces they were not granted to', async () => {
    const one = await make();
    await h.as(h.other.admin_key).get(one).expect(404);
    await workspace().get(one).expect(403);
    const own = await make({}, workspace());
    const area = await newWorkspace();
    for (const answer of [
      await h.as(area.key).get(own),
      await h.as(area.key).put(own, { name: 'Mine' }),
      await h.as(area.key).delete(own),
    ])
      expect(answer.status).toBe(403);
    const member = await createPerson(h, 'member', h.first.workspace_id);
    await h.as(member.key).get(own).expect(200);
    await h.as(member.key).put(own, { name: 'Mine' }).expect(403);
  });
});

describe('the settings of an MCP integration', () => {
  const secrets = ['token-1234567890', 'team-secret-0987', 'client-secret-42'];
  const configurations = {
    custom_headers: { Authorization: secrets[0], 'X-Team': 'a' },
    passthrough_headers: { 'X-Tenant': secrets[1] },
    oauth_metadata: {
      client_id: 'sluice',
      client_secret: secrets[2],
      authorization_endpoint: 'https://id.example.org/authorize',
    },
    forward_headers: { mode: 'allowlist', headers: ['x-user', { from: 'x-a', to: 'x-b' }] },
    jwt_validation: { jwks: { keys: [{ kty: 'EC', x: 'public' }] }, headerKey: 'x-user-token' },
    a_setting_of_tomorrow: { level: 2 },
  };
  const shown = {
    custom_headers: { Authorization: 'to*******90', 'X-Team': '*******' },
    passthrough_header: { 'X-Tenant': 'te*******87' },
    oauth_metadata: { ...configurations.oauth_metadata, client_secret: 'cl*******42' },
    forward_headers: configurations.forward_headers,
    jwt_validation: configurations.jwt_validation,
    a_setting_of_tomorrow: { level: 2 },
  };
  const inClear = async (one: string) =>
    openConfigurations(
      createCredentialVault(h.env.MASTER_KEY),
      mcpKind,
      await h.db.mcpIntegration.findFirstOrThrow({ where: { id: one.split('/').at(-1) ?? '' } }),
    );

  it('show masks where secrets are, and are kept sealed', async () => {
    const one = await make({ auth_type: 'headers', configurations });
    expect((await admin().get(one)).body.configurations).toEqual(shown);
    const { body } = await admin().get(`${path}?page_size=1`);
    expect(body.data[0].configurations).toEqual(shown);
    for (const secret of secrets)
      expect(await holdsInClear(h, ['mcp_integrations', 'audit_entries'], secret)).toBe(false);
    expect(await inClear(one)).toMatchObject({ custom_headers: configurations.custom_headers });
  });

  it('keep the secret behind a mask that is sent back, and take new ones', async () => {
    const one = await make({ configurations });
    await admin()
      .put(one, {
        configurations: {
          ...shown,
          custom_headers: { ...shown.custom_headers, 'X-New': 'new-value' },
          a_setting_of_tomorrow: null,
        },
      })
      .expect(200);
    expect(await inClear(one)).toMatchObject({
      custom_headers: { Authorization: secrets[0], 'X-Team': 'a', 'X-New': 'new-value' },
      passthrough_header: { 'X-Tenant': secrets[1] },
      oauth_metadata: { client_secret: secrets[2] },
    });
    expect(await inClear(one)).not.toHaveProperty('a_setting_of_tomorrow');
    await admin().put(one, { name: 'Nothing of them' }).expect(200);
    expect(await inClear(one)).toHaveProperty('oauth_metadata.client_secret', secrets[2]);
    await admin().put(one, { configurations: null }).expect(200);
    expect(await inClear(one)).toEqual({});
  });

  it('refuse a mask that stands for nothing', async () => {
    const answer = await admin().post(path, {
      ...plain,
      configurations: { custom_headers: { Authorization: 'to*******90' } },
    });
    expect([answer.status, answer.body.data.field]).toEqual([
      400,
      'body.configurations.custom_headers.Authorization',
    ]);
  });

  it('may take values from secret references that the workspace sees', async () => {
    const area = await newWorkspace();
    const reference = await admin()
      .post('/secret-references', {
        name: 'For one workspace',
        manager_type: 'hashicorp_vault',
        auth_config: {
          vault_auth_type: 'kubernetes',
          vault_addr: 'https://v.example.org',
          vault_role: 'r',
        },
        secret_path: 'a/b',
        allow_all_workspaces: false,
        allowed_workspaces: [area.slug],
      })
      .expect(200);
    const secret_mappings = [
      {
        target_field: 'configurations.custom_headers.Authorization',
        secret_reference_id: reference.body.slug,
      },
    ];
    const one = await make({ secret_mappings }, h.as(area.key));
    expect((await admin().get(one)).body.secret_mappings).toEqual([
      {
        target_field: 'configurations.custom_headers.Authorization',
        secret_reference_id: reference.body.id,
        secret_key: null,
        value_format: null,
      },
    ]);
    await workspace()
      .post(path, { ...plain, secret_mappings })
      .expect(400);
    await admin().delete(`/secret-references/${reference.body.id}`).expect(400);
    await admin().put(one, { secret_mappings: [] }).expect(200);
    await admin().delete(`/secret-references/${reference.body.id}`).expect(200);
  });
});

describe('the workspaces of an MCP integration', () => {
  const accessOf = async (one: string) =>
    Object.fromEntries(
      (await admin().get(`${one}/workspaces?version=2`)).body.data.map(
        (row: { id: string; enabled: boolean }) => [row.id, row.enabled],
      ),
    ) as Record<string, boolean>;

  it('are answered in both published shapes, and by slug to workspace keys', async () => {
    const one = await make();
    await admin()
      .put(`${one}/workspaces`, { workspaces: [{ id: h.first.workspace_slug, enabled: true }] })
      .expect(200);
    const row = {
      id: h.first.workspace_id,
      enabled: true,
      status: 'active',
      created_at: expect.any(String),
      last_updated_at: expect.any(String),
    };
    expect((await admin().get(`${one}/workspaces`)).body).toEqual({
      workspaces: [row],
      global_workspace_access: null,
    });
    expect((await admin().get(`${one}/workspaces?version=v2`)).body).toEqual({
      data: [row],
      total: 1,
      global_workspace_access: null,
    });
    expect((await admin().get(`${path}?page_size=1`)).body.data[0].workspaces_count).toBe(1);
  });

  it('open and close; a bundle that changes is told to gateways', async () => {
    const [one, area] = [await make(), await newWorkspace()];
    const revision = async () =>
      (await h.db.workspace.findUniqueOrThrow({ where: { id: area.id } })).revision;
    const before = await revision();
    await admin()
      .put(`${one}/workspaces`, { workspaces: [{ id: area.id, enabled: true }] })
      .expect(200);
    expect(await accessOf(one)).toEqual({ [area.id]: true });
    expect(await revision()).toBeGreaterThan(before);
    await admin()
      .put(`${one}/workspaces`, { workspaces: [{ id: area.slug, enabled: false }] })
      .expect(200);
    expect(await accessOf(one)).toEqual({ [area.id]: false });
    const entry = await h.db.auditEntry.findFirstOrThrow({
      where: { uri: `/v1${one}/workspaces`, method: 'PUT' },
      orderBy: { sequence: 'desc' },
    });
    const [was, is] = [entry.before, entry.after].map((text) => JSON.parse(text ?? '').workspaces);
    expect([was, is]).toMatchObject([
      [{ id: area.id, enabled: true }],
      [{ id: area.id, enabled: false }],
    ]);
    const unknown = await admin().put(`${one}/workspaces`, {
      workspaces: [
        { id: area.id, enabled: true },
        { id: h.other.workspace_id, enabled: true },
      ],
    });
    expect([unknown.status, unknown.body.data.field]).toEqual([400, 'body.workspaces[1].id']);
    expect(await accessOf(one)).toEqual({ [area.id]: false });
  });

  it('are those of the future where access is global, and all others with an override', async () => {
    const [one, before] = [await make(), await newWorkspace()];
    await admin()
      .put(`${one}/workspaces`, { workspaces: [], global_workspace_access: { enabled: true } })
      .expect(200);
    expect(await accessOf(one)).toEqual({});
    const after = await newWorkspace();
    expect(await accessOf(one)).toEqual({ [after.id]: true });
    await admin()
      .put(`${one}/workspaces`, {
        workspaces: [{ id: after.id, enabled: false }],
        override_existing_workspace_access: true,
      })
      .expect(200);
    expect(await accessOf(one)).toMatchObject({
      [before.id]: true,
      [after.id]: false,
      [h.first.workspace_id]: true,
    });
    expect((await admin().get(one)).body.global_workspace_access).toEqual({ enabled: true });
    await admin()
      .put(`${one}/workspaces`, {
        workspaces: [],
        global_workspace_access: null,
        override_existing_workspace_access: true,
      })
      .expect(200);
    expect(Object.values(await accessOf(one)).some((enabled) => enabled)).toBe(false);
    const last = await newWorkspace();
    expect(await accessOf(one)).not.toHaveProperty(last.id);
  });

  it('cannot be chosen for the integration of one workspace', async () => {
    const one = await make({}, workspace());
    await admin().put(`${one}/workspaces`, { workspaces: [] }).expect(400);
    const here = [{ id: h.first.workspace_id, enabled: true, status: 'active' }];
    const { body } = await admin().get(`${one}/workspaces`).expect(200);
    expect(body.workspaces).toMatchObject(here);
    const other = await admin().get(`${one}/workspaces?version=1&current_page=1`).expect(200);
    expect(other.body).toMatchObject({ data: [], total: 1 });
  });
});

describe('deleting an MCP integration', () => {
  it('takes the servers made of it along, in every workspace, and says which', async () => {
    const [one, area] = [await make({ slug: 'short-lived' }), await newWorkspace()];
    const workspaces = [h.first.workspace_id, area.id].map((id) => ({ id, enabled: true }));
    await admin().put(`${one}/workspaces`, { workspaces }).expect(200);
    const servers = [];
    for (const caller of [workspace(), h.as(area.key)])
      servers.push(
        (await caller.post('/mcp-servers', { name: 'Tickets', mcp_integration_id: 'short-lived' }))
          .body,
      );
    expect((await admin().delete(one)).body).toEqual({});
    await admin().get(one).expect(404);
    for (const server of servers) await admin().get(`/mcp-servers/${server.id}`).expect(404);
    const entry = await h.db.auditEntry.findFirstOrThrow({
      where: { resourceType: 'mcp_integrations', action: 'delete' },
      orderBy: { sequence: 'desc' },
    });
    expect(JSON.parse(entry.detail ?? '')).toEqual({
      slug: 'short-lived',
      servers: servers.map((server) => server.slug),
    });
    expect(JSON.parse(entry.before ?? '')).toMatchObject({ slug: 'short-lived', url: plain.url });
    expect(entry.after).toBeNull();
  });
});
