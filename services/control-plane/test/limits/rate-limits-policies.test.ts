import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readBundle } from '../support/bundle.ts';
import { policyBody } from '../support/fixture.ts';
import { type Harness, startHarness } from '../support/harness.ts';

let h: Harness;
beforeAll(async () => {
  h = await startHarness();
});
afterAll(() => h.stop());

const workspace = () => h.as(h.first.workspace_key);
const admin = () => h.as(h.first.admin_key);
const path = '/policies/rate-limits';

describe('rate-limits policies', () => {
  it('go from created to archived in the published shapes', async () => {
    const created = await workspace().post(path, policyBody);
    expect([created.status, created.body]).toEqual([
      200,
      { id: expect.any(String), object: 'policy_rate_limits' },
    ]);
    const one = `${path}/${created.body.id}`;
    const read = await workspace().get(one);
    expect(read.body).toEqual({
      ...policyBody,
      id: created.body.id,
      description: null,
      target: 'llm',
      status: 'active',
      workspace_id: h.first.workspace_id,
      organisation_id: h.first.organisation_id,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      last_updated_at: expect.any(String),
      object: 'policy_rate_limits',
    });
    const conditions = [{ key: 'metadata._user', value: ['a/*', 'b'], excludes: 'c' }];
    expect(
      (await workspace().put(one, { unit: 'rpw', value: 7, name: 'Weekly', conditions })).body,
    ).toEqual({});
    expect((await workspace().get(one)).body).toMatchObject({
      unit: 'rpw',
      value: 7,
      name: 'Weekly',
      conditions,
      type: 'requests',
    });

    expect((await workspace().delete(one)).body).toEqual({});
    await workspace().get(one).expect(404);
    expect((await workspace().get(`${one}?status=archived`)).body).toMatchObject({
      status: 'archived',
      id: created.body.id,
    });
    await workspace().put(one, { value: 1 }).expect(404);
    await workspace().delete(one).expect(404);
  });

  it('filter by status, type, unit and workspace', async () => {
    const second = await admin().post('/admin/workspaces', { name: 'Second' });
    const make = async (change: object) =>
      (
        await admin()
          .post(path, { ...policyBody, ...change })
          .expect(200)
      ).body.id as string;
    const requests = await make({ workspace_id: h.first.workspace_slug, unit: 'rph' });
    const tokens = await make({ workspace_id: h.first.workspace_id, type: 'tokens' });
    const elsewhere = await make({ workspace_id: second.body.id, unit: 'rpw' });
    const ids = async (query: string) => {
      const answer = await admin().get(`${path}?${query}`).expect(200);
      expect(answer.body).toMatchObject({ object: 'list', total: answer.body.data.length });
      return answer.body.data.map((row: { id: string }) => row.id) as string[];
    };
    expect(await ids('type=tokens')).toEqual([tokens]);
    expect(await ids('unit=rph')).toEqual([requests]);
    expect(await ids(`workspace_id=${second.body.id}`)).toEqual([elsewhere]);
    await admin().delete(`${path}/${elsewhere}`).expect(200);
    expect(await ids('unit=rpw')).toEqual([]);
    expect(await ids('status=archived&unit=rpw')).toContain(elsewhere);
    const page = await admin().get(`${path}?page_size=1&current_page=1`);
    expect(page.body.data).toHaveLength(1);
    expect(page.body.total).toBeGreaterThanOrEqual(2);
    await admin().get(`${path}?status=deleted`).expect(400);
    await admin().get(`${path}?unit=rps`).expect(400);
  });

  it.each([
    ['no conditions', { conditions: [] }, 'body.conditions'],
    ['an unknown key', { conditions: [{ key: 'colour', value: '*' }] }, 'body.conditions[0].key'],
    [
      'a bare metadata key',
      { conditions: [{ key: 'metadata.', value: '*' }] },
      'body.conditions[0].key',
    ],
    ['no value', { conditions: [{ key: 'model' }] }, 'body.conditions[0].value'],
    ['a blank', { conditions: [{ key: 'model', value: ' ' }] }, 'body.conditions[0].value'],
    ['no groups', { group_by: [] }, 'body.group_by'],
    ['an unknown type', { type: 'cost' }, 'body.type'],
    ['an unknown unit', { unit: 'rps' }, 'body.unit'],
    ['a value below one', { value: 0 }, 'body.value'],
    ['a value that is text', { value: '5' }, 'body.value'],
    ['a long name', { name: 'n'.repeat(256) }, 'body.name'],
    ['tools where models are meant', { group_by: [{ key: 'mcp_tool' }] }, 'body.group_by[0].key'],
  ])('refuse %s', async (_case, change, field) => {
    const answer = await workspace().post(path, { ...policyBody, ...change });
    expect([answer.status, answer.body.data.errorCode, answer.body.data.field]).toEqual([
      400,
      'AB01',
      field,
    ]);
  });

  it('of tools may have no condition, which means all, and no group; those of models may not', async () => {
    const tools = { ...policyBody, target: 'mcp_tools', conditions: [], group_by: undefined };
    const created = await workspace().post(path, tools).expect(200);
    const read = await workspace().get(`${path}/${created.body.id}`);
    expect(read.body).toMatchObject({ target: 'mcp_tools', conditions: [], group_by: [] });
    const named = { conditions: [{ key: 'mcp_tool', value: ['search', 'fetch'] }] };
    await workspace().put(`${path}/${created.body.id}`, named).expect(200);
    await workspace().put(`${path}/${created.body.id}`, { conditions: [] }).expect(200);
    const models = await workspace().post(path, { ...policyBody, conditions: [] });
    expect([models.status, models.body.data.field]).toEqual([400, 'body.conditions']);
  });

  it('refuse bad changes, and need a workspace from an organisation key', async () => {
    const created = await workspace().post(path, policyBody);
    for (const body of [
      { value: 0 },
      { unit: 'rps' },
      { conditions: [] },
      { conditions: [{ key: 'mcp_tool', value: '*' }] },
    ])
      await workspace().put(`${path}/${created.body.id}`, body).expect(400);
    await workspace().get(`${path}/not-a-uuid`).expect(400);
    expect((await admin().post(path, policyBody)).body.data.field).toBe('body.workspace_id');
    await admin()
      .post(path, { ...policyBody, workspace_id: 'ws-none' })
      .expect(404);
  });
});

describe('policies for all workspaces', () => {
  const forAll = { ...policyBody, name: 'All', all_workspaces: true };

  it('are the organisation’s, in every bundle, and made by its keys alone', async () => {
    const second = await admin().post('/admin/workspaces', { name: 'Elsewhere' }).expect(200);
    const { id } = (await admin().post(path, forAll).expect(200)).body;
    const budget = {
      name: 'All of it',
      conditions: [{ key: 'workspace_id', value: '*' }],
      group_by: [{ key: 'organisation_id' }],
      type: 'cost',
      credit_limit: 5,
      all_workspaces: true,
    };
    const budgetId = (await admin().post('/policies/usage-limits', budget).expect(200)).body.id;
    const shown = (await admin().get(`${path}/${id}`).expect(200)).body;
    expect([shown.all_workspaces, shown.workspace_id]).toEqual([true, undefined]);
    const found = await h.db.workspace.findFirstOrThrow({ where: { slug: second.body.id } });
    const held = async (workspaceId: string) => {
      const { bundle } = await readBundle(h, workspaceId);
      const policies = [bundle?.rateLimitsPolicies ?? [], bundle?.usageLimitsPolicies ?? []].flat();
      return policies.filter((each) => each.allWorkspaces).map((each) => each.id);
    };
    for (const workspaceId of [h.first.workspace_id, found.id])
      expect(await held(workspaceId)).toEqual([id, budgetId]);
    expect(await held(h.other.workspace_id)).toEqual([]);
    // Whom it binds does not change it.
    await workspace().put(`${path}/${id}`, { value: 1 }).expect(403);
    await workspace().post(path, forAll).expect(403);
    const both = await admin().post(path, { ...forAll, workspace_id: h.first.workspace_slug });
    expect([both.status, both.body.data.field]).toEqual([400, 'body.all_workspaces']);
    await admin().delete(`${path}/${id}`).expect(200);
    expect(await held(found.id)).toEqual([budgetId]);
    await admin().delete(`/policies/usage-limits/${budgetId}`).expect(200);
  });
});

describe('names in conditions', () => {
  const post = (key: string, value: unknown, query = '') =>
    workspace().post(`${path}${query}`, { ...policyBody, conditions: [{ key, value }] });

  it('tell a workspace nothing of the others', async () => {
    const other = await admin().post('/admin/workspaces', { name: 'Hidden', slug: 'hidden-place' });
    const prompt = {
      workspace_id: other.body.slug,
      name: 'x',
      slug: 'hidden-prompt',
      collection_id: 'default',
      string: 'Hi',
      parameters: {},
      model: 'm',
    };
    const of = { workspace_id: other.body.slug, name: 'x', ai_provider_id: 'openai', slug: 'x' };
    await admin().post('/integrations', of).expect(200);
    await admin()
      .post('/prompts', { ...prompt, virtual_key: 'x' })
      .expect(200);
    for (const [key, hidden] of [
      ['workspace_id', 'hidden-place'],
      ['prompt', 'hidden-prompt'],
    ] as const) {
      const guessed = await post(key, 'nothing-like-it-at-all');
      expect([guessed.status, guessed.text]).toEqual([400, expect.not.stringContaining('hidden')]);
      const named = (await post(key, hidden)).body.data.message;
      expect(named).toContain(`names no ${key} "${hidden}"`);
    }
    await admin()
      .post(`/prompts/hidden-prompt/share?workspace_id=${other.body.slug}`, {
        workspaces: [h.first.workspace_slug],
      })
      .expect(200);
    // Shared, it may be copied; calls run what is the workspace's own.
    const shared = await post('prompt', 'hidden-prompt').expect(400);
    expect(shared.body.data.message).toContain('names no prompt "hidden-prompt"');
    // Of all workspaces any may be meant.
    const forAll = { ...policyBody, conditions: [{ key: 'workspace_id', value: 'hidden-place' }] };
    await admin()
      .post(path, { ...forAll, all_workspaces: true })
      .expect(200);
  });

  it.each([
    ['api_key', 'nobodys-key', 'nobodys-key'],
    ['virtual_key', 'dmeo', 'did you mean demo?'],
    ['provider', 'opena', 'did you mean openai?'],
    ['endpoint_type', 'chatComplet', 'did you mean chatComplete?'],
    ['config', 'pc-none', 'names no config'],
    ['workspace_id', 'ws-none', 'names no workspace_id'],
    ['organisation_id', randomUUID(), 'names no organisation_id'],
    ['model', '@opneai/gpt-4o', 'names no provider "opneai"; did you mean openai?'],
    ['model', '@dmeo/*', 'names no provider "dmeo"; did you mean demo?'],
  ])('%s that is not there is refused, with what there is', async (key, value, text) => {
    const answer = await post(key, ['*', value]);
    expect([answer.status, answer.body.data?.field]).toEqual([400, 'body.conditions[0].value[1]']);
    expect(answer.body.data.message).toContain(text);
    const allowed = await post(key, value, '?allow_missing=true').expect(200);
    expect(allowed.body.warnings).toEqual([expect.stringContaining(text)]);
  });

  it('are slugs or ids, and kept as gateways know them', async () => {
    const config = { name: 'Named', slug: 'pc-named', config: { provider: '@demo' } };
    const { id } = (await workspace().post('/configs', config).expect(200)).body.data;
    const made = await post('config', [id, 'pc-named', '*']).expect(200);
    const shown = await workspace().get(`${path}/${made.body.id}`);
    expect(shown.body.conditions[0].value).toEqual(['pc-named', 'pc-named', '*']);
    const key = { name: 'Named', slug: 'named-key', scopes: ['configs.list'] };
    await workspace().post('/api-keys/workspace/service', key).expect(200);
    await post('api_key', ['named-key', '*']).expect(200);
    // Any text is a model, and some vendors begin their names with an @.
    const models = ['@DEMO/*', '@openai/gpt-4o', '@cf/meta/llama-3', 'openai/gpt-4o', '@x'];
    const all = await post('model', models).expect(200);
    expect(all.body.warnings).toBeUndefined();
  });
});
