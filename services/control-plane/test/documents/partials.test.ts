import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createServiceKey } from '../support/fixture.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { whenNotBusy } from '../support/when-not-busy.ts';

let h: Harness;
let secondKey: string;
beforeAll(async () => {
  h = await startHarness();
  const made = await h.as(h.first.admin_key).post('/admin/workspaces', { name: 'Second' });
  const row = await h.db.workspace.findFirstOrThrow({ where: { slug: made.body.slug } });
  secondKey = await createServiceKey(h, row.id);
});
afterAll(() => h.stop());

const workspace = () => h.as(h.first.workspace_key);
const base = '/prompts/partials';

async function make(change: object = {}) {
  const created = await workspace().post(base, { name: 'Example', string: 'One', ...change });
  expect(created.status, created.text).toBe(200);
  return { ...created.body, path: `${base}/${created.body.slug}` } as Record<string, string> & {
    path: string;
  };
}
const read = async (path: string) => (await workspace().get(path).expect(200)).body;

describe('partials', () => {
  it('are no prompts, although their paths look like it', async () => {
    const { id, slug, version_id: versionId } = await make({ version_description: 'First' });
    expect(slug).toMatch(/^pl-exampl-[0-9a-f]{6}$/);
    const partial = await read(`${base}/${id}`);
    expect(partial).toMatchObject({
      id,
      slug,
      name: 'Example',
      string: 'One',
      version: 1,
      version_description: 'First',
      prompt_partial_version_id: versionId,
      status: 'active',
    });
    const list = await read(`${base}?collection_id=default`);
    expect(list).toContainEqual({
      id,
      slug,
      name: 'Example',
      collection_id: partial.collection_id,
      workspace_id: h.first.workspace_id,
      created_at: expect.any(String),
      last_updated_at: expect.any(String),
      status: 'active',
      object: 'partial',
    });
    await workspace().get(`/prompts/${slug}`).expect(404);
  });

  it('get a version when their text changes, live once it is published', async () => {
    const { path, id, version_id: first } = await make();
    const put = async (body: object) => (await workspace().put(path, body).expect(200)).body;
    expect(await put({ name: 'Renamed', description: 'Said later', string: 'One' })).toEqual({
      prompt_partial_version_id: first,
    });
    const { prompt_partial_version_id: next } = await put({ string: 'Two', description: 'New' });
    expect(next).not.toBe(first);
    expect(await read(path)).toMatchObject({
      name: 'Renamed',
      string: 'One',
      version: 1,
      version_description: 'Said later',
      latest_version: 2,
    });
    await workspace().put(`${path}/makeDefault`, { version: 2 }).expect(200, {});
    expect(await read(path)).toMatchObject({ string: 'Two', version: 2 });
    expect(await read(`${path}/versions`)).toEqual(
      [
        { prompt_partial_version_id: next, version: '2', string: 'Two', description: 'New' },
        {
          prompt_partial_version_id: first,
          version: '1',
          string: 'One',
          description: 'Said later',
        },
      ].map((version) => ({
        ...version,
        prompt_partial_id: id,
        slug: path.slice(base.length + 1),
        created_at: expect.any(String),
        prompt_version_status: 'active',
        object: 'partial',
      })),
    );
    await workspace().put(`${path}/makeDefault`, { version: 9 }).expect(404);
    const entry = await h.db.auditEntry.findFirstOrThrow({
      where: { resourceId: id ?? '', action: 'publish', responseStatusCode: 200 },
    });
    expect(JSON.parse(entry.before ?? '')).toMatchObject({ string: 'One', published_version: 1 });
    expect(JSON.parse(entry.after ?? '')).toMatchObject({ string: 'Two', published_version: 2 });
  });

  it('keep every one of 50 changes that are made at once', async () => {
    const { path } = await make();
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        whenNotBusy(() => workspace().put(path, { string: `Text ${index}` })),
      ),
    );
    expect(answers.map((answer) => answer.status)).toEqual(Array(50).fill(200));
    const versions: { version: string; string: string }[] = await read(`${path}/versions`);
    expect(versions.map((version) => version.version)).toEqual(
      Array.from({ length: 51 }, (_, index) => String(51 - index)),
    );
    expect(new Set(versions.map((version) => version.string)).size).toBe(51);
  });

  it('refuse text that could never be rendered', async () => {
    const { path } = await make();
    for (const answer of [
      await workspace().post(base, { name: 'x', string: '{{#a}}' }),
      await workspace().put(path, { string: '{{/a}}' }),
    ]) {
      expect([answer.status, answer.body.data.field]).toEqual([400, 'body.string']);
    }
    await workspace().put(path, { status: 'gone' }).expect(400);
  });

  it('can be put away, moved and removed, and tell gateways so', async () => {
    const { path, id } = await make();
    const revision = async () =>
      (await h.db.workspace.findUniqueOrThrow({ where: { id: h.first.workspace_id } })).revision;
    const before = await revision();
    const { body: collection } = await workspace().post('/collections', { name: 'Elsewhere' });
    await workspace().put(path, { status: 'archived', collection_id: collection.slug }).expect(200);
    expect(await read(path)).toMatchObject({
      status: 'archived',
      collection_id: collection.id,
      latest_version: 1,
    });
    await workspace().delete(path).expect(200, {});
    expect(await revision()).toBe(before + 2n);
    await workspace().get(path).expect(404);
    expect(await h.db.promptPartialVersion.count({ where: { partialId: id ?? '' } })).toBe(0);
  });

  it('name who goes on without them, when they are put away or removed', async () => {
    const { path, slug, id } = await make();
    const provider = { name: 'x', slug: 'for-partials', ai_provider_id: 'openai', key: 'k' };
    await workspace().post('/integrations', provider).expect(200);
    const prompt = async (name: string, text: string) => {
      const body = {
        name,
        slug: name,
        collection_id: 'default',
        string: JSON.stringify([{ role: 'user', content: text }]),
        parameters: {},
        virtual_key: provider.slug,
      };
      await workspace().post('/prompts', body).expect(200);
    };
    await prompt('names-it', `{{#a}}{{> ${slug}@latest }}{{/a}}`);
    await prompt('names-its-id', `{{>${id}}}`);
    await prompt('speaks-of-it', `${slug}, and {{>${slug}-too}}`);
    await make({ name: 'Nested', slug: 'nests-it', string: `{{>${slug}}}` });
    const warnings = [
      `The partial ${slug} is named by partial nests-it, prompt names-it, prompt names-its-id, whose requests fail now.`,
    ];
    const put = (status: string) => workspace().put(path, { status }).expect(200);
    expect((await put('archived')).body.warnings).toEqual(warnings);
    expect((await put('archived')).body.warnings).toBeUndefined();
    expect((await put('active')).body.warnings).toBeUndefined();
    expect((await workspace().delete(path).expect(200)).body).toEqual({ warnings });
  });

  it('belong to one workspace, are shared with others, and copied by them', async () => {
    const { path, id } = await make({ string: 'Be {{how}}.' });
    const second = h.as(secondKey);
    await second.get(`${base}/${id}`).expect(403);
    await second.post(`${base}/${id}/fork`).expect(403);
    await h.as(h.other.admin_key).get(`${base}/${id}`).expect(404);
    await workspace().post(`${path}/share`, { workspaces: 'all' }).expect(200, {});
    const { body: shared } = await second.get(`${base}?type=shared&show_prompt_share=1`);
    expect(shared).toEqual([expect.objectContaining({ id, share: { workspaces: 'all' } })]);
    expect((await second.get(path).expect(200)).body.string).toBe('Be {{how}}.');
    await second.put(`${base}/${id}`, { name: 'x' }).expect(403);
    const fork = await second.post(`${path}/fork`, { name: 'Ours' }).expect(200);
    const copy = await second.get(`${base}/${fork.body.slug}`).expect(200);
    expect(copy.body).toMatchObject({ name: 'Ours', string: 'Be {{how}}.', version: 1 });
    await workspace().delete(`${path}/share`).expect(200, {});
    await second.get(`${base}/${id}`).expect(403);
  });
});
