import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createServiceKey } from '../support/fixture.ts';
import { type Harness, startHarness } from '../support/harness.ts';

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
    const config = await admin().post('/configs?allow_missing=true', {
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

  it('are not deleted while prompts, partials or guardrails stand in them', async () => {
    const { id: slug } = (await admin().post('/admin/workspaces', { name: 'Written' })).body;
    const workspace = await h.db.workspace.findFirstOrThrow({
      where: { slug },
      include: { collections: true },
    });
    const [collection] = workspace.collections;
    expect(workspace.collections).toMatchObject([{ slug: 'default', isDefault: true }]);
    const shared = {
      organisationId: h.first.organisation_id,
      workspaceId: workspace.id,
      name: 'x',
      ownerId: workspace.id,
      updatedBy: workspace.id,
    };
    const ids = { prompt: randomUUID(), partial: randomUUID(), guardrail: randomUUID() };
    await h.db.prompt.create({
      data: { ...shared, id: ids.prompt, slug: 'pp-x', collectionId: collection?.id ?? '' },
    });
    await h.db.promptPartial.create({
      data: { ...shared, id: ids.partial, slug: 'pl-x', collectionId: collection?.id ?? '' },
    });
    await h.db.guardrail.create({ data: { ...shared, id: ids.guardrail, slug: `pg-${slug}` } });
    const refused = await admin().delete(`/admin/workspaces/${slug}`);
    expect([refused.status, refused.body.data.message]).toEqual([
      400,
      'The workspace still holds 1 prompts and 1 partials and 1 guardrails.',
    ]);
    await h.db.prompt.delete({ where: { id: ids.prompt } });
    await h.db.promptPartial.delete({ where: { id: ids.partial } });
    await admin().delete(`/admin/workspaces/${slug}`).expect(400);
    await h.db.guardrail.delete({ where: { id: ids.guardrail } });
    await admin().delete(`/admin/workspaces/${slug}`).expect(200);
  });

  it('take what belongs to them with them, and tell the audit log what they were', async () => {
    const { id: slug } = (await admin().post('/admin/workspaces', { name: 'Leaving' })).body;
    await admin()
      .post('/integrations', {
        name: 'x',
        slug: 'leaving',
        ai_provider_id: 'openai',
        workspace_id: slug,
        create_default_provider: false,
      })
      .expect(200);
    await admin().put(`/admin/workspaces/${slug}`, { name: 'Left' }).expect(200);
    await admin().delete(`/admin/workspaces/${slug}`).expect(200);
    await admin().get('/integrations/leaving').expect(404);
    const { id: workspaceId } = await h.db.workspace.findFirstOrThrow({ where: { slug } });
    const entries = await h.db.auditEntry.findMany({
      where: { workspaceId, resourceType: 'workspaces' },
      orderBy: { sequence: 'asc' },
    });
    const name = (text: string | null) => text && JSON.parse(text).name;
    expect(entries.map((entry) => [entry.action, name(entry.before), name(entry.after)])).toEqual([
      ['create', null, 'Leaving'],
      ['update', 'Leaving', 'Left'],
      ['delete', 'Left', null],
    ]);
  });

  it('get what the organisation opens to all: integrations, MCP servers and agents', async () => {
    const shared = {
      organisationId: h.first.organisation_id,
      name: 'x',
      url: 'https://example.org',
      authType: 'none',
      ownerId: h.first.organisation_id,
      sealedConfigurations: new Uint8Array(),
    };
    const open = { globalAccess: { enabled: true } };
    const ids = { mcp: randomUUID(), closed: randomUUID(), agent: randomUUID() };
    await h.db.mcpIntegration.createMany({
      data: [
        { ...shared, ...open, id: ids.mcp, slug: 'mcp-all', transport: 'http' },
        { ...shared, id: ids.closed, slug: 'mcp-some', transport: 'http' },
      ],
    });
    await h.db.agentIntegration.create({
      data: { ...shared, ...open, id: ids.agent, slug: 'agent-all' },
    });
    const { id: slug } = (await admin().post('/admin/workspaces', { name: 'Later' })).body;
    const row = await h.db.workspace.findFirstOrThrow({
      where: { slug },
      include: { mcpGrants: true, agentGrants: true },
    });
    expect(row.mcpGrants).toMatchObject([{ integrationId: ids.mcp, enabled: true }]);
    expect(row.agentGrants).toMatchObject([{ integrationId: ids.agent, enabled: true }]);
    await admin().delete(`/admin/workspaces/${slug}`).expect(200);
    expect(await h.db.mcpIntegrationWorkspace.count()).toBe(0);
  });

  it('name guardrails of their own or of the organisation as defaults, each once', async () => {
    const guardrail = async (slug: string, columns: object = {}) => {
      const row = await h.db.guardrail.create({
        data: {
          id: randomUUID(),
          organisationId: h.first.organisation_id,
          slug,
          name: slug,
          ownerId: h.first.organisation_id,
          ...columns,
        },
      });
      return row.id;
    };
    const path = `/admin/workspaces/${h.first.workspace_slug}`;
    const shared = await guardrail('pg-shared');
    const own = await guardrail('pg-own', { workspaceId: h.first.workspace_id });
    const other = await admin().post('/admin/workspaces', { name: 'Other' });
    const { id: otherId } = await h.db.workspace.findFirstOrThrow({
      where: { slug: other.body.slug },
    });
    await guardrail('pg-elsewhere', { workspaceId: otherId });
    await guardrail('pg-archived', { status: 'archived' });
    await guardrail('pg-foreign', { organisationId: h.other.organisation_id });
    await admin()
      .put(path, {
        defaults: { input_guardrails: [own, 'pg-own', shared], output_guardrails: ['pg-shared'] },
      })
      .expect(200);
    expect((await admin().get(path)).body.defaults).toMatchObject({
      input_guardrails: ['pg-own', 'pg-shared'],
      output_guardrails: ['pg-shared'],
    });
    // The list shows of a workspace what is shown of it alone, but for its members.
    const { users: _, ...alone } = (await admin().get(path)).body;
    const { body: listed } = await admin().get('/admin/workspaces?page_size=1000');
    expect(listed.data.find(({ id }: { id: string }) => id === alone.id)).toEqual(alone);
    for (const slug of ['pg-elsewhere', 'pg-archived', 'pg-foreign', randomUUID()]) {
      const refused = await admin().put(path, {
        defaults: { output_guardrails: ['pg-shared', slug] },
      });
      expect([refused.status, refused.body.data.field]).toEqual([
        400,
        'body.defaults.output_guardrails[1]',
      ]);
    }
    await admin().put(path, { defaults: null }).expect(200);
    expect((await admin().get(path)).body.defaults).toMatchObject({
      metadata: {},
      input_guardrails: [],
      output_guardrails: [],
      user_api_key_config: null,
    });
  });

  it('hold to the organisation’s schema of their metadata', async () => {
    const properties = { team: { type: 'string', enum: ['a', 'b'] }, tier: { default: 'low' } };
    const schema = { type: 'object', properties, required: ['team'], additionalProperties: true };
    const settings = { metadata_schemas: { workspaces: schema } };
    const where = { id: h.first.organisation_id };
    await h.db.organisation.update({ where, data: { settings } });
    const made = await admin().post('/admin/workspaces', {
      name: 'Described',
      defaults: { metadata: { team: 'a' } },
    });
    expect(made.body.defaults.metadata).toEqual({ team: 'a', tier: 'low' });
    const path = `/admin/workspaces/${made.body.id}`;
    for (const send of [
      () => admin().post('/admin/workspaces', { name: 'Undescribed' }),
      () => admin().put(path, { defaults: { metadata: { team: 'c' } } }),
    ]) {
      const refused = await send();
      expect([refused.status, refused.body.data.field]).toEqual([
        400,
        'body.defaults.metadata.team',
      ]);
    }
    // What is not about metadata is not held up by it.
    await admin().put(path, { name: 'Described still' }).expect(200);
    await h.db.organisation.update({ where, data: { settings: {} } });
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
      'a reset in the past',
      {
        name: 'x',
        usage_limits: [{ credit_limit: 1, next_usage_reset_at: '2020-01-01T00:00:00Z' }],
      },
      'body.usage_limits[0].next_usage_reset_at',
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

  it('show when each of their budgets is emptied next, and keep that date while the cadence stays', async () => {
    const made = await admin().post('/admin/workspaces', {
      name: 'Budgeted',
      usage_limits: [
        { credit_limit: 10, type: 'cost', periodic_reset: 'weekly' },
        {
          credit_limit: 500,
          type: 'tokens',
          periodic_reset: 'monthly',
          next_usage_reset_at: '2099-05-05T17:00:00Z',
        },
      ],
    });
    const path = `/admin/workspaces/${made.body.slug}`;
    const dates = async () =>
      (await admin().get(path)).body.usage_limits.map(
        (limits: { next_usage_reset_at: string }) => limits.next_usage_reset_at,
      );
    const [weekly, once] = await dates();
    expect(new Date(weekly).getUTCDay()).toBe(0);
    expect(Date.parse(weekly) - Date.now()).toBeGreaterThan(0);
    expect(once).toBe('2099-05-05T00:00:00.000Z');
    await admin()
      .put(path, {
        usage_limits: [{ credit_limit: 20, type: 'tokens', periodic_reset: 'monthly' }],
      })
      .expect(200);
    expect(await dates()).toEqual([once]);
  });

  it('empty the cache of a namespace, and of all beyond a thousand', async () => {
    const created = await admin().post('/admin/workspaces', { name: 'Kept answers' });
    const where = { slug: created.body.id as string };
    const generations = async () => {
      const row = await h.db.workspace.findFirstOrThrow({ where });
      return row.cacheGenerations as { namespace: string; generation: string }[];
    };
    const empty = async (query = '') => {
      const path = `/admin/workspaces/${created.body.id}/cache${query}`;
      expect((await admin().delete(path)).status).toBe(200);
      return generations();
    };
    const [first] = await empty('?namespace=a');
    expect(first).toEqual({ namespace: 'a', generation: expect.any(String) });
    const both = await empty('?namespace=b');
    expect(both.map(({ namespace }) => namespace)).toEqual(['a', 'b']);
    const [b, again] = await empty('?namespace=a');
    expect([b, again?.namespace]).toEqual([both[1], 'a']);
    expect(again?.generation).not.toBe(first?.generation);
    const [all, ...none] = await empty();
    expect([all?.namespace, none]).toEqual(['', []]);
    const many = Array.from({ length: 1000 }, (_, at) => ({
      namespace: `n${at}`,
      generation: 'g',
    }));
    await h.db.workspace.updateMany({ where, data: { cacheGenerations: many } });
    expect(await empty('?namespace=n5')).toHaveLength(1000);
    const [everything, ...nothing] = await empty('?namespace=another');
    expect([everything?.namespace, nothing]).toEqual(['', []]);
  });
});
