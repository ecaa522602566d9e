import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createServiceKey } from './fixture.ts';
import { type Harness, startHarness } from './harness.ts';

let h: Harness;
beforeAll(async () => {
  h = await startHarness();
});
afterAll(() => h.stop());

const admin = () => h.as(h.first.admin_key);

describe('workspaces', () => {
  it('go from created to archived in the published shapes', async () => {
    const owner = await h.db.user.findFirstOrThrow({
      where: { organisationId: h.first.organisation_id },
    });
    const created = await admin().post('/admin/workspaces', {
      name: '🚀 Test Area',
      description: 'd',
      defaults: { metadata: { team: 'a' } },
      users: [owner.id],
      rate_limits: [{ type: 'requests', unit: 'rpm', value: 10 }],
    });
    expect(created.status).toBe(200);
    expect(created.body).toMatchObject({
      id: expect.stringMatching(/^ws-test-a-[0-9a-f]{6}$/),
      name: '🚀 Test Area',
      object: 'workspace',
      defaults: { metadata: { team: 'a' }, is_default: 0, object: 'workspace' },
      usage_limits: [],
      rate_limits: [{ type: 'requests', unit: 'rpm', value: 10 }],
    });
    expect(created.body.slug).toBe(created.body.id);
    const path = `/admin/workspaces/${created.body.id}`;
    const read = await admin().get(`${path}?name_format=plain`);
    expect(read.body).toMatchObject({
      name: 'Test Area',
      users: [
        {
          id: owner.id,
          object: 'workspace-user',
          org_role: 'owner',
          role: 'member',
          status: 'active',
        },
      ],
    });
    expect(
      (await admin().put(path, { name: 'Renamed', defaults: { metadata: { team: 'b' } } })).body,
    ).toEqual({});
    expect((await admin().get(path)).body).toMatchObject({
      name: 'Renamed',
      description: 'd',
      defaults: { metadata: { team: 'b' } },
    });

    const row = await h.db.workspace.findFirstOrThrow({ where: { slug: created.body.id } });
    const key = await createServiceKey(h, row.id, ['configs.list']);
    await h.as(key).get('/configs').expect(200);
    expect((await admin().delete(path)).body).toEqual({});
    await h.as(key).get('/configs').expect(401);
    await admin().put(path, { name: 'x' }).expect(404);
    const slugs = async (query: string) =>
      (await admin().get(`/admin/workspaces?${query}`)).body.data.map(
        (each: { id: string }) => each.id,
      );
    expect(await slugs('')).not.toContain(created.body.id);
    expect(await slugs('status=active,archived')).toContain(created.body.id);
    expect((await admin().get(path)).body.status).toBe('archived');
  });

  it('filter by name, exactly or by part, and by case', async () => {
    await admin().post('/admin/workspaces', { name: 'Alpha One' });
    await admin().post('/admin/workspaces', { name: 'Alpha Two' });
    const names = async (query: string) =>
      (await admin().get(`/admin/workspaces?${query}`)).body.data.map(
        (each: { name: string }) => each.name,
      );
    expect((await names('name=Alpha')).sort()).toEqual(['Alpha One', 'Alpha Two']);
    expect(await names('name=alpha')).toEqual([]);
    expect(await names('exact_name=Alpha')).toEqual([]);
    expect(await names('exact_name=Alpha%20One')).toEqual(['Alpha One']);
    await admin().get('/admin/workspaces?status=gone').expect(400);
  });

  it('are not deleted while they hold anything, nor when they are the default', async () => {
    expect(
      (await admin().delete(`/admin/workspaces/${h.first.workspace_slug}`)).body.data.message,
    ).toContain('default workspace');
    const created = await admin().post('/admin/workspaces', { name: 'Full' });
    const config = await admin().post('/configs', {
      name: 'x',
      config: { provider: '@demo' },
      workspace_id: created.body.id,
    });
    const refused = await admin().delete(`/admin/workspaces/${created.body.id}`);
    expect([refused.status, refused.body.data.message]).toEqual([
      400,
      'The workspace still holds 1 configs.',
    ]);
    await admin().delete(`/configs/${config.body.data.slug}`).expect(200);
    await admin().delete(`/admin/workspaces/${created.body.id}`).expect(200);
  });

  it('name a config of their own as the default of user keys', async () => {
    const path = `/admin/workspaces/${h.first.workspace_slug}`;
    const config = await h
      .as(h.first.workspace_key)
      .post('/configs', { name: 'Pinned', config: { provider: '@demo' } });
    await admin()
      .put(path, { defaults: { user_api_key_config: config.body.data.slug } })
      .expect(200);
    expect((await admin().get(path)).body.defaults.user_api_key_config).toBe(config.body.data.slug);
    await h.as(h.first.workspace_key).delete(`/configs/${config.body.data.slug}`).expect(400);
    await admin()
      .put(path, { defaults: { user_api_key_config: null } })
      .expect(200);
    await h.as(h.first.workspace_key).delete(`/configs/${config.body.data.slug}`).expect(200);
    await admin()
      .put(path, { defaults: { user_api_key_config: 'pc-none' } })
      .expect(400);
  });

  it('show a workspace key its own only', async () => {
    const listed = await h.as(h.first.workspace_key).get('/admin/workspaces');
    expect(listed.body.data.map((each: { id: string }) => each.id)).toEqual([
      h.first.workspace_slug,
    ]);
    const created = await admin().post('/admin/workspaces', { name: 'Foreign' });
    await h.as(h.first.workspace_key).get(`/admin/workspaces/${created.body.id}`).expect(403);
    await h.as(h.first.workspace_key).get('/admin/workspaces?status=archived').expect(403);
  });

  it.each([
    ['no name', {}, 'body.name'],
    [
      'a stranger as user',
      { name: 'x', users: ['183f497a-2a7f-4f47-992e-26213fa863ee'] },
      'body.users[0]',
    ],
    [
      'metadata that is no map',
      { name: 'x', defaults: { metadata: 'a' } },
      'body.defaults.metadata',
    ],
    [
      'a threshold above the limit',
      { name: 'x', usage_limits: [{ credit_limit: 1, alert_threshold: 2 }] },
      'body.usage_limits[0].alert_threshold',
    ],
  ])('refuse %s', async (_case, body, field) => {
    const answer = await admin().post('/admin/workspaces', body);
    expect([answer.status, answer.body.data.field]).toEqual([400, field]);
  });
});
