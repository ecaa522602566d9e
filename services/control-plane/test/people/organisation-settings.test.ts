import { scopesOf } from '@sluice/contracts';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { lastEntries } from '../support/audit-trail.ts';
import { createPerson, createServiceKey } from '../support/fixture.ts';
import { bundleOf, listen, resolved } from '../support/gateway-view.ts';
import { type Harness, startHarness } from '../support/harness.ts';

let h: Harness;
const listeners: { stop(): void }[] = [];
beforeAll(async () => {
  h = await startHarness();
});
afterEach(async () => {
  for (const listener of listeners.splice(0)) listener.stop();
  const all = Object.keys((await read()).workspace_overrides);
  const closed = Object.fromEntries(all.map((name) => [name, false]));
  const cleared = Object.fromEntries(all.map((name) => [name, null]));
  await change({ ...cleared, metadata_schemas: null, joining: null, workspace_overrides: closed });
});
afterAll(() => h.stop());

const path = '/admin/organisation/settings';
const admin = () => h.as(h.first.admin_key);
const read = async () => (await admin().get(path).expect(200)).body;
const change = (body: object) => admin().put(path, body).expect(200);
const ofWorkspace = () => `/admin/workspaces/${h.first.workspace_slug}/settings`;

async function listening() {
  const listener = await listen(h);
  listeners.push(listener);
  return listener;
}

async function idOfKey(userId: string): Promise<string> {
  return (await h.db.apiKey.findFirstOrThrow({ where: { userId } })).id;
}

describe('settings of the organisation', () => {
  it('begin with the documented defaults, and keep only what differs', async () => {
    expect(await read()).toMatchObject({
      prompts: { membersViewPrompts: true, membersWritePrompts: false },
      request_logging: { mode: 'full' },
      workspace_overrides: { prompts: false },
    });
    const changed = await change({
      prompts: { membersWritePrompts: true, managersViewPrompts: true },
      session_settings: { max_session_ttl: 900 },
    });
    expect(changed.body).toEqual({
      warnings: [
        'body.session_settings.max_session_ttl: is kept, and does nothing yet: there are no sessions of people here that it could end',
      ],
    });
    const row = () =>
      h.db.organisation.findUniqueOrThrow({ where: { id: h.first.organisation_id } });
    expect((await row()).settings).toEqual({
      prompts: { membersWritePrompts: true },
      session_settings: { max_session_ttl: 900 },
    });
    const taken = { prompts: { membersWritePrompts: null }, session_settings: null };
    expect((await change(taken)).body).toEqual({});
    expect((await row()).settings).toEqual({});
  });

  it.each([
    [{ prompts: { membersWritePrompts: 'yes' } }, 'body.prompts.membersWritePrompts'],
    [{ session_settings: { max_session_ttl: 899 } }, 'body.session_settings.max_session_ttl'],
    [
      { export_settings: { deniedFields: ['cost', 'csot'] } },
      'body.export_settings.deniedFields[1]',
    ],
    [
      { user_keys: { user_api_key_rotation_period: 366 } },
      'body.user_keys.user_api_key_rotation_period',
    ],
    [{ metadata_schemas: { api_keys: { type: 'array' } } }, 'body.metadata_schemas.api_keys.type'],
    [{ workspace_overrides: { prompts: 1 } }, 'body.workspace_overrides.prompts'],
  ])('refuse %j', async (body, field) => {
    const answer = await admin().put(path, body);
    expect([answer.status, answer.body.data.field]).toEqual([400, field]);
  });

  it('are in the audit log as they were and as they are', async () => {
    await change({ analytics: { membersViewAnalytics: false } });
    const [entry] = await lastEntries(h, 1);
    expect(entry).toMatchObject({ resourceType: 'organisation', action: 'update' });
    expect([
      entry?.before.analytics.membersViewAnalytics,
      entry?.after.analytics.membersViewAnalytics,
    ]).toEqual([true, false]);
  });

  it('are in the audit log with nothing hidden: none of them is a secret', async () => {
    const told = {
      keys: { membersManageKeys: true },
      user_keys: { user_api_key_ttl: 86_400 },
      stored_credentials: { allow_any_custom_host: true },
      metadata_schemas: {
        api_keys: {
          type: 'object',
          additionalProperties: true,
          properties: { team: { type: 'string', enum: ['red'] } },
          required: ['team'],
        },
      },
    };
    await change(told);
    const [entry] = await lastEntries(h, 1);
    expect(entry?.after).toMatchObject(told);
    expect(JSON.parse(entry?.requestBody ?? '')).toEqual(told);
    expect(JSON.stringify(entry?.before)).not.toContain('***');
    await change({ stored_credentials: null });
  });

  it('widen and narrow a member’s key at once, here and at the gateways', async () => {
    const person = await createPerson(h, 'member', h.first.workspace_id);
    const config = { name: 'Theirs', config: { provider: '@demo' } };
    await h.as(person.key).post('/configs', config).expect(403);
    const scopesAtGateway = async () => (await resolved(h, person.key))?.scopes ?? [];
    expect(await scopesAtGateway()).not.toContain('configs.create');

    const { hears } = await listening();
    await change({
      configs: { membersWriteConfigs: true },
      analytics: { membersViewAnalytics: false },
    });
    await hears(await idOfKey(person.userId));
    const created = await h.as(person.key).post('/configs', config).expect(200);
    expect(await scopesAtGateway()).toContain('configs.create');
    expect(await scopesAtGateway()).not.toContain('analytics.view');
    expect((await h.as(person.key).get('/analytics/graphs/requests')).body.data.errorCode).toBe(
      'AB03',
    );

    await change({ configs: null });
    await h.as(person.key).put(`/configs/${created.body.data.slug}`, { name: 'y' }).expect(403);
  });

  it('limit service keys and admins of the workspace in nothing', async () => {
    const boss = await createPerson(h, 'admin', h.first.workspace_id);
    await change({ configs: { managersViewConfigs: false, membersViewConfigs: false } });
    await h.as(boss.key).get('/configs').expect(200);
    await h.as(h.first.workspace_key).get('/configs').expect(200);
    const manager = await createPerson(h, 'manager', h.first.workspace_id);
    await h.as(manager.key).get('/configs').expect(403);
  });

  it('disturb no gateway over a key that can do what it could before', async () => {
    const member = await createPerson(h, 'member', h.first.workspace_id);
    const { heard, hears } = await listening();
    await change({ request_logging: { mode: 'metrics' } });
    await hears(h.first.workspace_id);
    expect(heard).not.toContain(await idOfKey(member.userId));
  });
});

describe('settings of a workspace', () => {
  it('count in the sections that are open to it, and are refused in the others', async () => {
    const refused = await admin().put(ofWorkspace(), { prompts: { membersWritePrompts: true } });
    expect([refused.status, refused.body.data.field]).toEqual([400, 'body.prompts']);
    await change({ workspace_overrides: { prompts: true } });
    const body = { prompts: { membersWritePrompts: true } };
    await admin().put(ofWorkspace(), body).expect(200);
    expect((await admin().get(ofWorkspace())).body).toMatchObject({
      object: 'workspace-settings',
      workspace_id: h.first.workspace_id,
      prompts: { membersWritePrompts: true, membersViewPrompts: true },
      overrides: body,
      open_sections: ['prompts'],
    });
    await admin()
      .put(ofWorkspace(), { joining: { invite_ttl: 3600 } })
      .expect(400);
  });

  it('that are sent back whole stay whose they are, but for what is sent as another', async () => {
    await change({ workspace_overrides: { prompts: true, workspace_management: true } });
    await admin()
      .put(ofWorkspace(), { prompts: { membersViewPrompts: true } })
      .expect(200);
    const { body: shown } = await admin().get(ofWorkspace()).expect(200);
    const { object, workspace_id, overrides, open_sections, last_updated_at, ...whole } = shown;
    const prompts = { ...whole.prompts, membersWritePrompts: true };
    await admin()
      .put(ofWorkspace(), { ...whole, prompts })
      .expect(200);
    const own = async () => (await admin().get(ofWorkspace()).expect(200)).body;
    expect((await own()).overrides).toEqual({
      prompts: { membersViewPrompts: true, membersWritePrompts: true },
    });
    // The organisation goes on to decide the rest.
    await change({
      prompts: { managersWritePrompts: false },
      workspace_management: { managersManageWorkspace: true },
    });
    expect(await own()).toMatchObject({
      prompts: { managersWritePrompts: false, membersWritePrompts: true },
      workspace_management: { managersManageWorkspace: true },
    });
    // Of a part all is decided that is sent.
    await admin()
      .put(ofWorkspace(), { workspace_management: { managersManageWorkspace: true } })
      .expect(200);
    expect((await own()).overrides.workspace_management).toEqual({ managersManageWorkspace: true });
  });

  it('hold for the keys of that workspace alone, and end when the section is closed', async () => {
    await change({ workspace_overrides: { prompts: true } });
    const second = await admin().post('/admin/workspaces', { name: 'Second' }).expect(200);
    const there = await h.db.workspace.findFirstOrThrow({ where: { slug: second.body.slug } });
    const here = await createPerson(h, 'member', h.first.workspace_id);
    const elsewhere = await createPerson(h, 'member', there.id);
    const may = async (key: string) => (await resolved(h, key))?.scopes.includes('prompts.update');

    const { hears, heard } = await listening();
    await admin()
      .put(ofWorkspace(), { prompts: { membersWritePrompts: true } })
      .expect(200);
    await hears(await idOfKey(here.userId));
    expect([await may(here.key), await may(elsewhere.key)]).toEqual([true, false]);
    expect(heard).not.toContain(await idOfKey(elsewhere.userId));

    await change({ workspace_overrides: { prompts: false } });
    expect(await may(here.key)).toBe(false);
    await change({ workspace_overrides: { prompts: true } });
    expect(await may(here.key)).toBe(false);
  });

  it('decide saved-only mode for the bundle of the workspace', async () => {
    const blocks = async () => (await bundleOf(h, h.first.workspace_id))?.blockInlineConfig;
    await change({
      data_plane_security_settings: { block_inline_config: true },
      workspace_overrides: { data_plane_security_settings: true },
    });
    expect(await blocks()).toBe(true);
    await admin()
      .put(ofWorkspace(), { data_plane_security_settings: { block_inline_config: false } })
      .expect(200);
    expect(await blocks()).toBe(false);
    await change({ workspace_overrides: { data_plane_security_settings: false } });
    expect(await blocks()).toBe(true);
  });

  it('are for admins to change; a manager who manages the workspace sets what is logged', async () => {
    await change({
      workspace_management: { managersManageWorkspace: true },
      workspace_overrides: { prompts: true, request_logging: true },
    });
    const manager = await createPerson(h, 'manager', h.first.workspace_id);
    const logging = { request_logging: { mode: 'metrics' } };
    await h.as(manager.key).put(ofWorkspace(), logging).expect(200);
    const { body: shown } = await h.as(manager.key).get(ofWorkspace()).expect(200);
    await h
      .as(manager.key)
      .put(ofWorkspace(), { ...logging, prompts: shown.prompts })
      .expect(200);
    await h
      .as(manager.key)
      .put(ofWorkspace(), { prompts: { ...shown.prompts, managersWritePrompts: false } })
      .expect(403);
    expect((await h.as(manager.key).get(ofWorkspace()).expect(200)).body.overrides).toEqual(
      logging,
    );
    await change({ workspace_management: null });
    await h.as(manager.key).put(ofWorkspace(), logging).expect(403);
  });

  it('are out of reach from another workspace and another organisation', async () => {
    const second = await admin().post('/admin/workspaces', { name: 'Third' }).expect(200);
    const there = await h.db.workspace.findFirstOrThrow({ where: { slug: second.body.slug } });
    const key = await createServiceKey(h, there.id, [...scopesOf('workspace-service')]);
    await h.as(key).get(ofWorkspace()).expect(403);
    await h.as(key).put(ofWorkspace(), {}).expect(403);
    await h.as(h.other.admin_key).get(ofWorkspace()).expect(404);
    await h.as(h.other.admin_key).put(ofWorkspace(), {}).expect(404);
  });
});

describe('the organisation itself', () => {
  it('tells its admins what it is, and takes a new name', async () => {
    const url = '/admin/organisation';
    expect((await admin().get(url)).body).toMatchObject({
      object: 'organisation',
      id: h.first.organisation_id,
      workspaces: expect.any(Number),
      users: expect.any(Number),
    });
    await admin().put(url, { name: 'Renamed' }).expect(200);
    expect((await admin().get(url)).body.name).toBe('Renamed');
    expect((await h.as(h.other.admin_key).get(url)).body.name).toBe('Default organisation');
    await h.as(h.first.workspace_key).get(url).expect(403);
  });
});
