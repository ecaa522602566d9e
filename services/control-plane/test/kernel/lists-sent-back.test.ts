import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Harness, startHarness } from '../support/harness.ts';

/** Lists that are shown under `data` and sent under another name: what was read may be sent back, and says nothing new. */
let h: Harness;
let server: string;
let integration: string;
beforeAll(async () => {
  h = await startHarness();
  const { body: made } = await api()
    .post('/mcp-integrations', {
      name: 'Lists',
      url: 'https://mcp.example.com/mcp',
      auth_type: 'none',
      transport: 'http',
    })
    .expect(200);
  integration = `/mcp-integrations/${made.id}`;
  const { body } = await api()
    .post('/mcp-servers', { name: 'Lists', mcp_integration_id: made.id })
    .expect(200);
  server = `/mcp-servers/${body.id}`;
});
afterAll(() => h.stop());

const api = (key: 'workspace_key' | 'admin_key' = 'workspace_key') => h.as(h.first[key]);

type Fields = Record<string, unknown>;
type Item = { enabled: boolean; last_updated_at?: string } & Fields;

async function read(path: string): Promise<{ data: Item[] } & Fields> {
  return (await api().get(path).expect(200)).body;
}

const put = (path: string, body: object) => api().put(path, body);

const switches = (items: Item[]) => items.map(({ last_updated_at: _at, ...item }) => item);

async function offer(...capabilities: object[]) {
  await put(`${integration}/capabilities`, { capabilities }).expect(200);
}

it('an empty list names nothing', async () => {
  for (const path of [integration, server]) {
    expect((await read(`${path}/capabilities`)).data).toEqual([]);
    await put(`${path}/capabilities`, { capabilities: [] }).expect(200);
    await put(`${path}/capabilities`, { data: [] }).expect(200);
    await put(`${path}/capabilities`, {}).expect(400);
  }
  await put(`${server}/user-access`, { user_access: [] }).expect(200);
  await put(`${integration}/pins`, { pins: [] }).expect(400);
  const { body: connection } = await api('admin_key')
    .post('/integrations', { name: 'Lists', ai_provider_id: 'openai', key: 'sk-lists' })
    .expect(200);
  const path = `/integrations/${connection.slug}/workspaces`;
  const { body: shown } = await api('admin_key').get(path).expect(200);
  expect(shown).toEqual({ total: 0, workspaces: [] });
  await api('admin_key').put(path, { workspaces: shown.workspaces }).expect(200);
  expect((await api('admin_key').get(path).expect(200)).body).toEqual(shown);
  const none = await api('admin_key').put(path, {});
  expect([none.status, none.body.data.field]).toEqual([400, 'body.workspaces']);
});

it('may go by the name under which they are shown', async () => {
  await offer({ type: 'tool', name: 'look', enabled: true });
  const path = `${integration}/capabilities`;
  const shown = await read(path);
  const off = shown.data.map((item) => ({ ...item, enabled: false }));
  await put(path, { data: off }).expect(200);
  expect((await read(path)).data).toMatchObject([{ name: 'look', enabled: false }]);
  await put(path, { ...shown })
    .set('x-service-lenient-input', 'true')
    .expect(200);
  expect((await read(path)).data).toMatchObject([{ name: 'look', enabled: true }]);
  const both = await put(path, { data: off, capabilities: off });
  expect([both.status, both.body.data.field]).toEqual([400, 'body.data']);
});

it('may hold what is shown only, and nothing that nobody knows', async () => {
  await offer({ type: 'tool', name: 'look', enabled: true });
  const { data } = await read(`${server}/capabilities`);
  const back = await put(`${server}/capabilities`, { capabilities: data }).expect(200);
  expect(back.body.warnings).toContain(
    'body.capabilities[0].input_schema: is shown only, and was left out',
  );
  const mistyped = await put(`${server}/capabilities`, {
    capabilities: [{ ...data[0], renamed_too: 'see' }],
  });
  expect([mistyped.status, mistyped.body.data.field]).toEqual([
    400,
    'body.capabilities[0].renamed_too',
  ]);
  const { body: members } = await api().get(`/admin/workspaces/${h.first.workspace_slug}/users`);
  const added = await api().post(`/admin/workspaces/${h.first.workspace_slug}/users`, {
    users: [{ id: members.data[0]?.id ?? h.first.organisation_id, role: 'member', rolle: 'x' }],
  });
  expect([added.status, added.body.data.field]).toEqual([400, 'body.users[0].rolle']);
});

it('of a server decide nothing that its integration decided', async () => {
  await offer(
    { type: 'tool', name: 'look', enabled: false },
    { type: 'tool', name: 'jump', enabled: true },
  );
  const path = `${server}/capabilities`;
  const { data } = await read(path);
  await put(path, { capabilities: data }).expect(200);
  expect(switches((await read(path)).data)).toEqual(switches(data));
  await offer({ type: 'tool', name: 'look', enabled: true });
  expect((await read(path)).data.map(({ enabled }) => enabled)).toEqual([true, true]);
  await put(path, { capabilities: [{ type: 'tool', name: 'look', enabled: false }] }).expect(200);
  await offer({ type: 'tool', name: 'look', enabled: false });
  await put(path, { capabilities: (await read(path)).data }).expect(200);
  await offer({ type: 'tool', name: 'look', enabled: true });
  expect((await read(path)).data).toMatchObject([{ enabled: true }, { enabled: false }]);
});

it('make no exceptions of users for whom the default counts', async () => {
  const path = `${server}/user-access`;
  const before = await read(path);
  expect(before.data.length).toBeGreaterThan(0);
  await put(path, { user_access: before.data }).expect(200);
  expect(await read(path)).toEqual(before);
  // Only the default is edited.
  await put(path, { ...before, default_user_access: 'deny' })
    .set('x-service-lenient-input', 'true')
    .expect(200);
  const denied = await read(path);
  expect(denied.data).toEqual(before.data.map((user) => ({ ...user, enabled: false })));
  // Of what is edited an exception is made.
  const [first] = denied.data;
  await put(path, { data: [{ ...first, enabled: true }] }).expect(200);
  expect((await read(path)).data[0]).toMatchObject({ enabled: true, has_override: true });
  await put(path, { user_access: [{ user_id: first?.user_id, enabled: false }] }).expect(200);
  expect((await read(path)).data[0]).toMatchObject({ enabled: false, has_override: true });
});

it('settings of a workspace that the organisation decides may be sent back, and not changed', async () => {
  const path = `/admin/workspaces/${h.first.workspace_slug}/settings`;
  const { body: shown } = await api('admin_key').get(path).expect(200);
  const {
    object: _o,
    workspace_id: _w,
    overrides,
    open_sections,
    last_updated_at: _l,
    ...held
  } = shown;
  expect([overrides, open_sections]).toEqual([{}, []]);
  await api('admin_key').put(path, held).expect(200);
  await api('admin_key').put(path, shown).set('x-service-lenient-input', 'true').expect(200);
  const { body: after } = await api('admin_key').get(path).expect(200);
  expect(after).toEqual({ ...shown, last_updated_at: after.last_updated_at });
  for (const logs of [{ ...held.logs, membersViewLogs: false }, { membersViewLogs: null }, null]) {
    const refused = await api('admin_key').put(path, { logs });
    expect([refused.status, refused.body.data.field]).toEqual([400, 'body.logs']);
  }
  const unknown = await api('admin_key').put(path, { logs: { ...held.logs, other: true } });
  expect([unknown.status, unknown.body.data.field]).toEqual([400, 'body.logs.other']);
  await api('admin_key')
    .put('/admin/organisation/settings', { workspace_overrides: { prompts: true } })
    .expect(200);
  await api('admin_key')
    .put(path, { ...held, prompts: { ...held.prompts, membersWritePrompts: true } })
    .expect(200);
  const { body: changed } = await api('admin_key').get(path).expect(200);
  expect(Object.keys(changed.overrides)).toEqual(['prompts']);
  expect(changed.prompts.membersWritePrompts).toBe(true);
});
