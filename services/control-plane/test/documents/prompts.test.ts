import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createServiceKey } from '../support/fixture.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { whenNotBusy } from '../support/when-not-busy.ts';

let h: Harness;
let second: { id: string; slug: string; key: string };
beforeAll(async () => {
  h = await startHarness();
  const made = await h.as(h.first.admin_key).post('/admin/workspaces', { name: 'Second' });
  const { id, slug } = await h.db.workspace.findFirstOrThrow({ where: { slug: made.body.slug } });
  second = { id, slug, key: await createServiceKey(h, id) };
});
afterAll(() => h.stop());

const workspace = () => h.as(h.first.workspace_key);
const messages = (content: string) => JSON.stringify([{ role: 'user', content }]);

const body = {
  name: 'Blog Outline Generator',
  collection_id: 'default',
  string: messages('One'),
  parameters: { temperature: 0.1 },
  model: 'm-1',
  virtual_key: 'demo',
};

async function make(change: object = {}): Promise<{ path: string; slug: string; id: string }> {
  const created = await workspace().post('/prompts', { ...body, ...change });
  expect(created.status, created.text).toBe(200);
  const { slug, id } = created.body;
  return { path: `/prompts/${slug}`, slug, id };
}
const read = async (path: string) => (await workspace().get(path).expect(200)).body;
const revision = async () => {
  const row = await h.db.workspace.findUniqueOrThrow({ where: { id: h.first.workspace_id } });
  return row.revision;
};

describe('prompts', () => {
  it('begin with a version that is published, in the published shapes', async () => {
    const created = await workspace().post('/prompts', body).expect(200);
    expect(created.body).toEqual({
      id: expect.any(String),
      slug: expect.stringMatching(/^pp-blog-outli-[0-9a-f]{6}$/),
      version_id: expect.any(String),
      object: 'prompt',
    });
    const prompt = await read(`/prompts/${created.body.id}`);
    expect(prompt).toMatchObject({
      id: created.body.id,
      slug: created.body.slug,
      string: body.string,
      parameters: body.parameters,
      virtual_key: 'demo',
      model: 'm-1',
      is_raw_template: false,
      prompt_version: 1,
      prompt_version_id: created.body.version_id,
      prompt_version_status: 'active',
      prompt_version_label_ids: [],
    });
    for (const absent of ['functions', 'tools', 'tool_choice', 'template_metadata'])
      expect(prompt).not.toHaveProperty(absent);
    const list = await read(`/prompts?search=BLOG&collection_id=default`);
    expect(list.data).toContainEqual({
      id: created.body.id,
      slug: created.body.slug,
      name: body.name,
      collection_id: prompt.collection_id,
      workspace_id: h.first.workspace_id,
      model: 'm-1',
      status: 'active',
      created_at: expect.any(String),
      last_updated_at: expect.any(String),
      object: 'prompt',
    });
    expect(list.total).toBe(list.data.length);
  });

  it('get a version with each change of content, live once it is published', async () => {
    const { path, slug, id } = await make();
    const before = await revision();
    const updated = await workspace()
      .put(path, { patch: true, string: messages('Two'), version_description: 'Better' })
      .expect(200);
    expect(updated.body).toEqual({ id, slug, prompt_version_id: expect.any(String) });
    expect(await revision()).toBe(before + 1n);
    expect(await read(path)).toMatchObject({
      prompt_version: 1,
      published_version: 1,
      latest_version: 2,
    });
    expect(await read(`${path}@latest`)).toMatchObject({
      prompt_version: 2,
      string: messages('Two'),
      parameters: body.parameters,
      model: 'm-1',
      prompt_version_description: 'Better',
    });
    const versions = await read(`${path}/versions`);
    expect(versions.map((each: { prompt_version: number }) => each.prompt_version)).toEqual([2, 1]);
    expect(versions[0]).toMatchObject({
      id: updated.body.prompt_version_id,
      prompt_id: id,
      prompt_template: { string: messages('Two'), virtual_key: 'demo' },
      prompt_description: 'Better',
      status: 'active',
      object: 'prompt',
    });
    await workspace().put(`${path}/makeDefault`, { version: 2 }).expect(200, {});
    expect(await read(path)).toMatchObject({ prompt_version: 2, published_version: 2 });
    expect((await read(`${path}@1`)).string).toBe(body.string);
    await workspace().put(`${path}/makeDefault`, { version: 3 }).expect(404);
    await workspace().put(`${path}/makeDefault`, { version: '2' }).expect(400);
  });

  it('take a version whole, unless the change is a patch', async () => {
    const { path } = await make({ tools: [{ type: 'function' }], version_description: 'First' });
    for (const missing of ['string', 'parameters', 'virtual_key'] as const) {
      const { [missing]: _left, ...rest } = {
        string: messages('Two'),
        parameters: {},
        virtual_key: 'demo',
        model: 'm-2',
      };
      const refused = await workspace().put(path, rest).expect(400);
      expect(refused.body.data.field).toBe(`body.${missing}`);
    }
    const whole = { string: messages('Two'), parameters: {}, virtual_key: '@demo' };
    await workspace().put(path, whole).expect(200);
    const latest = await read(`${path}@latest`);
    expect(latest).toMatchObject({ prompt_version: 2, parameters: {}, virtual_key: 'demo' });
    for (const gone of ['model', 'tools', 'prompt_version_description'])
      expect(latest).not.toHaveProperty(gone);
    await workspace()
      .put(path, { patch: true, model: 'm-3', tool_choice: 'auto', prompt_metadata: { a: 1 } })
      .expect(200);
    await workspace().put(path, { patch: true, model: null, prompt_metadata: null }).expect(200);
    expect(await read(`${path}@3`)).toMatchObject({
      model: 'm-3',
      tool_choice: 'auto',
      template_metadata: { a: 1 },
    });
    const cleared = await read(`${path}@4`);
    expect(cleared).toMatchObject({ tool_choice: 'auto', string: messages('Two') });
    expect(cleared).not.toHaveProperty('model');
    expect(cleared).not.toHaveProperty('template_metadata');
  });

  it('get no version when only name, collection, description or provider change', async () => {
    const { path, slug } = await make();
    const { body: integration } = await workspace().post('/integrations', {
      name: 'Second provider',
      ai_provider_id: 'openai',
      key: 'sk-of-the-second-provider',
    });
    const { body: collection } = await workspace().post('/collections', { name: 'Elsewhere' });
    const updated = await workspace()
      .put(path, {
        name: 'Renamed',
        collection_id: collection.slug,
        version_description: 'Said later',
        virtual_key: integration.slug,
      })
      .expect(200);
    const prompt = await read(path);
    expect(prompt).toMatchObject({
      name: 'Renamed',
      slug,
      collection_id: collection.id,
      latest_version: 1,
      prompt_version_id: updated.body.prompt_version_id,
      prompt_version_description: 'Said later',
      virtual_key: integration.slug,
    });
    expect(await read(`/prompts?collection_id=${collection.id}`)).toMatchObject({ total: 1 });
  });

  it('keep every one of 50 changes that are made at once', async () => {
    const { path } = await make();
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        whenNotBusy(() =>
          workspace().put(path, { patch: true, string: messages(`Text ${index}`) }),
        ),
      ),
    );
    expect(answers.map((answer) => answer.status)).toEqual(Array(50).fill(200));
    const versions: { prompt_version: number; prompt_template: { string: string } }[] = await read(
      `${path}/versions`,
    );
    expect(versions.map((version) => version.prompt_version)).toEqual(
      Array.from({ length: 51 }, (_, index) => 51 - index),
    );
    expect(new Set(versions.map((version) => version.prompt_template.string)).size).toBe(51);
    const page = await read(`${path}/versions?page_size=2&current_page=1`);
    expect(page.map((version: { prompt_version: number }) => version.prompt_version)).toEqual([
      49, 48,
    ]);
  });

  it('carry a label on one version at a time, by which it is found', async () => {
    const { path, id } = await make();
    const { body: update } = await workspace().put(path, { patch: true, model: 'm-2' });
    const first = (await read(path)).prompt_version_id;
    const { data } = await read('/labels?search=production');
    const { body: own } = await workspace().post('/labels', { name: 'beta' }).expect(200);
    const put = (versionId: string, labelId: string | null) =>
      workspace().put(`${path}/versions/${versionId}`, { label_id: labelId });
    await put(first, data[0].id).expect(200, {});
    await put(first, own.id).expect(200, {});
    expect(await read(`${path}@production`)).toMatchObject({
      prompt_version: 1,
      prompt_version_label_id: own.id,
      prompt_version_label_ids: [own.id, data[0].id],
    });
    const before = await revision();
    await put(update.prompt_version_id, data[0].id).expect(200);
    expect(await revision()).toBe(before + 1n);
    expect((await read(`/prompts/${id}@production`)).prompt_version).toBe(2);
    expect((await read(`${path}@beta`)).prompt_version_label_ids).toEqual([own.id]);
    expect((await read(`${path}/versions/${update.prompt_version_id}`)).prompt_version).toBe(2);

    await workspace().delete(`/labels/${own.id}`).expect(200);
    await workspace().get(`${path}@beta`).expect(404);
    await put(update.prompt_version_id, null).expect(200);
    await workspace().get(`${path}@production`).expect(404);
    const stranger = await h.as(second.key).post('/labels', { name: 'theirs' });
    const refused = await put(first, stranger.body.id).expect(400);
    expect(refused.body.data.field).toBe('body.label_id');
    const otherPrompt = await make();
    await workspace().get(`${otherPrompt.path}/versions/${first}`).expect(404);
  });

  it.each([
    ['a section that is not closed', { string: messages('{{#a}}x') }, 'body.string'],
    ['messages that are no JSON', { string: '[{"role":"user"' }, 'body.string'],
    ['a message without a role', { string: '[{"content":"x"}]' }, 'body.string'],
    [
      'text where chat is meant',
      { string: 'text', template_metadata: { template_type: 'chat' } },
      'body.string',
    ],
    ['an unknown provider', { virtual_key: 'nobody' }, 'body.virtual_key'],
    ['an unknown collection', { collection_id: 'nowhere' }, 'body.collection_id'],
    ['an unknown flag', { is_raw_template: 2 }, 'body.is_raw_template'],
  ])('refuse %s', async (_case, change, field) => {
    const created = await workspace()
      .post('/prompts', { ...body, ...change })
      .expect(400);
    expect([created.body.data.errorCode, created.body.data.field]).toEqual(['AB01', field]);
    const { path } = await make();
    const updated = await workspace()
      .put(path, { patch: true, ...change })
      .expect(400);
    expect(updated.body.data.field).toBe(field);
    expect((await read(path)).latest_version).toBe(1);
  });

  it('take text, and raw templates that are JSON only once they are rendered', async () => {
    const { path } = await make({ string: 'Tell {{name}} about {{&topic}} [' });
    expect((await read(path)).is_raw_template).toBe(false);
    await make({ string: '[{{#list}}{"role":"user","content":"{{.}}"},{{/list}}]' });
    const raw = await make({ string: '{{{messages}}}', is_raw_template: 1 });
    expect((await read(raw.path)).is_raw_template).toBe(true);
  });

  it('are saved with what is not there yet, and with what does nothing, which are told', async () => {
    const call = (text: string) => messages(`{{#a}}${text}{{/a}}`);
    const partial = { name: 'x', slug: 'there', string: '{{>later}}' };
    const nested = await workspace().post('/prompts/partials', partial).expect(200);
    expect(nested.body.warnings).toEqual([expect.stringContaining('workspace: later. Requests')]);
    const named = '{{>there}}{{>there@1}}{{>there@latest}}{{>>of_variable}}';
    const { slug } = (await workspace().post('/prompts', { ...body, string: call(named) })).body;
    const change = async (fields: object) =>
      (
        await workspace()
          .put(`/prompts/${slug}`, { patch: true, ...fields })
          .expect(200)
      ).body.warnings;
    expect(await change({ model: '@demo/m' })).toBeUndefined();
    expect(await change({ string: call('{{>there@2}}{{>thre}}{{>thre}}') })).toEqual([
      'body.string: names no partial of the workspace: there@2, thre. Requests with this prompt fail until there is one.',
    ]);
    expect(await change({ string: call('Hi'), model: '@dmeo/m' })).toEqual([
      'body.model: names no provider of the workspace, "@dmeo"; did you mean @demo?',
      'body.virtual_key: does nothing: the model says that @dmeo is asked',
    ]);
    expect(await change({ parameters: { model: '@demo/m', stream: true } })).toEqual([
      'body.parameters.stream: does nothing: a saved one is never used: each call says it',
      'body.model: does nothing: parameters.model is asked',
    ]);
    expect(await change({ string: call('{{>there}}'), name: 'Again' })).toBeUndefined();
  });

  it('go with all their versions and labels', async () => {
    const { path, id } = await make();
    const version = (await read(path)).prompt_version_id;
    const { data } = await read('/labels?search=staging');
    await workspace().put(`${path}/versions/${version}`, { label_id: data[0].id }).expect(200);
    await workspace().delete(path).expect(200, {});
    await workspace().get(path).expect(404);
    await workspace().delete(path).expect(404);
    expect(await h.db.promptVersion.count({ where: { promptId: id } })).toBe(0);
    expect(await h.db.promptVersionLabel.count({ where: { promptId: id } })).toBe(0);
    const entry = await h.db.auditEntry.findFirstOrThrow({
      where: { resourceId: id, action: 'delete', responseStatusCode: 200 },
    });
    expect(entry).toMatchObject({ resourceType: 'prompts', workspaceId: h.first.workspace_id });
    expect(JSON.parse(entry.before ?? '')).toMatchObject({ slug: path.slice('/prompts/'.length) });
  });

  it('are written down as they were and as they are, without what only looks like text', async () => {
    const { path, id } = await make({ parameters: { api_key: 'sk-in-a-parameter-123' } });
    await workspace().put(path, { patch: true, model: 'm-2' }).expect(200);
    await workspace().put(`${path}/makeDefault`, { version: 2 }).expect(200);
    const entries = await h.db.auditEntry.findMany({
      where: { resourceId: id },
      orderBy: { sequence: 'asc' },
    });
    expect(entries.map((entry) => entry.action)).toEqual(['create', 'update', 'publish']);
    expect(JSON.parse(entries[1]?.before ?? '')).toMatchObject({ model: 'm-1', prompt_version: 1 });
    expect(JSON.parse(entries[1]?.after ?? '')).toMatchObject({ model: 'm-2', prompt_version: 2 });
    expect(JSON.parse(entries[2]?.before ?? '')).toMatchObject({ published_version: 1 });
    expect(JSON.parse(entries[2]?.after ?? '')).toMatchObject({ published_version: 2 });
    expect(JSON.stringify(entries.map((entry) => [entry.requestBody, entry.after]))).not.toContain(
      'sk-in-a-parameter',
    );
  });

  it('belong to one workspace, which stays while it holds any', async () => {
    const { path, id } = await make();
    await h.as(second.key).get(`/prompts/${id}`).expect(403);
    await h.as(second.key).put(`/prompts/${id}`, { name: 'x' }).expect(403);
    await h.as(second.key).get(path).expect(404);
    await h.as(h.other.admin_key).get(`/prompts/${id}`).expect(404);
    await h.as(h.first.admin_key).get(`/prompts/${id}?workspace_id=${second.slug}`).expect(404);
    const { data } = await read('/collections');
    const stolen = { ...body, collection_id: data[0].id };
    await h.as(second.key).post('/prompts', stolen).expect(400);
    await h.as(second.key).post('/prompts', body).expect(400); // `demo` is a provider of the first.
    const made = await h.as(h.first.admin_key).post('/prompts', stolen).expect(200);
    expect((await read(`/prompts/${made.body.id}`)).workspace_id).toBe(h.first.workspace_id);
    const admin = h.as(h.first.admin_key);
    const third = await admin.post('/admin/workspaces', { name: 'Third' }).expect(200);
    const partial = { name: 'Last', string: 'x', workspace_id: third.body.slug };
    const { slug } = (await admin.post('/prompts/partials', partial).expect(200)).body;
    const refused = await admin.delete(`/admin/workspaces/${third.body.slug}`).expect(400);
    expect(refused.body.data.message).toContain('1 partials');
    await admin.delete(`/prompts/partials/${slug}`).expect(200);
    await admin.delete(`/admin/workspaces/${third.body.slug}`).expect(200);
  });
});

describe('sharing of prompts', () => {
  it('lets the workspaces that are named read and list, and nothing else', async () => {
    const { path, id, slug } = await make({ name: 'Shared one' });
    const shared = async (key: string) => {
      const { body: list } = await h.as(key).get('/prompts?type=shared&show_prompt_share=true');
      return list.data.filter((row: { id: string }) => row.id === id);
    };
    await workspace()
      .post(`${path}/share`, { workspaces: [second.slug] })
      .expect(200, {});
    expect(await shared(second.key)).toEqual([
      expect.objectContaining({ slug, share: { workspaces: [second.id] } }),
    ]);
    expect(await shared(h.first.workspace_key)).toEqual([]);
    for (const reference of [id, slug])
      expect((await h.as(second.key).get(`/prompts/${reference}`).expect(200)).body.string).toBe(
        body.string,
      );
    await workspace()
      .put(path, { patch: true, string: messages('Draft') })
      .expect(200);
    for (const version of ['@1', '@2', '@latest', '@production'])
      await h.as(second.key).get(`/prompts/${slug}${version}`).expect(403);
    await h.as(second.key).get(`/prompts/${slug}@default`).expect(200);
    await h.as(second.key).put(`/prompts/${id}`, { name: 'x' }).expect(403);
    await h.as(second.key).delete(`/prompts/${id}`).expect(403);
    await h.as(second.key).post(`/prompts/${id}/share`).expect(403);
    await h.as(h.other.workspace_key).get(`/prompts/${id}`).expect(404);

    await workspace().put(`${path}/share`, {}).expect(200);
    expect((await shared(second.key))[0].share).toEqual({ workspaces: 'all' });
    await workspace().delete(`${path}/share`).expect(200, {});
    expect(await shared(second.key)).toEqual([]);
    await h.as(second.key).get(`/prompts/${id}`).expect(403);
    const foreign = { workspaces: [second.id, h.other.workspace_id] };
    const refused = await workspace().post(`${path}/share`, foreign).expect(400);
    expect(refused.body.data.field).toBe('body.workspaces[1]');
    const entries = await h.db.auditEntry.findMany({
      where: { resourceId: id, action: 'manage', responseStatusCode: 200 },
      orderBy: { sequence: 'asc' },
    });
    expect(entries.map((entry) => JSON.parse(entry.after ?? '').share)).toEqual([
      { workspaces: [second.id] },
      { workspaces: 'all' },
      null,
    ]);
  });

  it('lets them copy what is published, for a provider of their own', async () => {
    const { path, id } = await make({ name: 'To copy', tools: [{ type: 'function' }] });
    await workspace()
      .put(path, { patch: true, string: messages('Draft') })
      .expect(200);
    await h.as(second.key).post(`/prompts/${id}/fork`).expect(403);
    await workspace().post(`${path}/share`).expect(200);
    const refused = await h.as(second.key).post(`/prompts/${id}/fork`).expect(400);
    expect(refused.body.data.field).toBe('body.virtual_key');
    const own = await h.as(second.key).post('/integrations', {
      name: 'Theirs',
      ai_provider_id: 'openai',
      key: 'sk-theirs-123456',
    });
    const fork = await h
      .as(second.key)
      .post(`/prompts/${id}/fork`, { virtual_key: own.body.slug, name: 'Ours' })
      .expect(200);
    expect(fork.body).toMatchObject({ object: 'prompt', version_id: expect.any(String) });
    const copy = await h.as(second.key).get(`/prompts/${fork.body.slug}`).expect(200);
    expect(copy.body).toMatchObject({
      name: 'Ours',
      string: body.string,
      tools: [{ type: 'function' }],
      virtual_key: own.body.slug,
      workspace_id: second.id,
      prompt_version: 1,
    });
    const again = await workspace().post(`${path}/fork`).expect(200);
    expect(await read(`/prompts/${again.body.slug}`)).toMatchObject({
      name: 'To copy',
      virtual_key: 'demo',
    });
    const named = { workspace_id: second.slug, virtual_key: own.body.slug };
    const byAdmin = await h.as(h.first.admin_key).post(`${path}/fork`, named).expect(200);
    await h.as(second.key).get(`/prompts/${byAdmin.body.slug}`).expect(200);
  });

  it('finds a provider of the same integration for a copy', async () => {
    const admin = h.as(h.first.admin_key);
    const integration = await admin.post('/integrations', {
      name: 'For all',
      ai_provider_id: 'openai',
      slug: 'for-all',
      key: 'sk-for-all-123456',
    });
    expect(integration.status, integration.text).toBe(200);
    const workspaces = [
      { id: h.first.workspace_slug, enabled: true, default_provider_slug: 'here' },
      { id: second.slug, enabled: true, default_provider_slug: 'there' },
    ];
    await admin
      .put('/integrations/for-all/workspaces', { workspaces, create_default_provider: true })
      .expect(200);
    const { path, id } = await make({ virtual_key: 'here' });
    await workspace().post(`${path}/share`).expect(200);
    const fork = await h.as(second.key).post(`/prompts/${id}/fork`).expect(200);
    const copy = await h.as(second.key).get(`/prompts/${fork.body.slug}`).expect(200);
    expect(copy.body.virtual_key).toBe('there');
  });
});
