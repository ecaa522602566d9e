import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createServiceKey } from '../support/fixture.ts';
import { type Harness, startHarness } from '../support/harness.ts';

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

async function make(name: string, parent?: string): Promise<string> {
  const body = { name, parent_collection_id: parent };
  return (await workspace().post('/collections', body).expect(200)).body.id;
}

describe('collections', () => {
  it('come with every workspace: a default one that can be renamed and not deleted', async () => {
    const before = await h.as(second.key).get('/collections').expect(200);
    expect(before.body).toMatchObject({
      total: 1,
      data: [{ slug: 'default', is_default: true, workspace_id: second.id }],
    });
    await h.as(second.key).put('/collections/default', { name: 'Ours' }).expect(200, {});
    const refused = await h.as(second.key).delete('/collections/default').expect(404);
    expect(refused.body.data.errorCode).toBe('AB08');
    const moved = { name: 'Ours', parent_collection_id: 'default' };
    await h.as(second.key).put('/collections/default', moved).expect(400);
    const after = await h.as(second.key).get('/collections/default').expect(200);
    expect(after.body).toMatchObject({ name: 'Ours', is_default: true, child_collections: [] });
  });

  it('nest, and count what stands in them', async () => {
    const parent = await make('Parent');
    const child = await make('Child', parent);
    await make('Grandchild', child);
    await workspace().post('/prompts', {
      name: 'Inside',
      collection_id: child,
      string: 'Hello',
      parameters: {},
      virtual_key: 'demo',
    });
    const read = await workspace().get(`/collections/${parent}`).expect(200);
    expect(read.body.child_collections).toEqual([
      {
        id: child,
        name: 'Child',
        last_updated_at: expect.any(String),
        collection_details: {
          child_collections_count: 1,
          prompts_count: 1,
          child_collections_last_updated_at: expect.any(String),
          prompts_last_updated_at: expect.any(String),
        },
      },
    ]);
    const found = await workspace().get('/collections?search=PARENT').expect(200);
    expect(found.body).toMatchObject({
      total: 1,
      data: [
        {
          id: parent,
          parent_collection_id: null,
          collection_details: { prompts_count: 0, prompts_last_updated_at: null },
        },
      ],
    });
    await workspace().get('/collections?search=%25').expect(200, { total: 0, data: [] });
  });

  it('move, and never below themselves', async () => {
    const top = await make('Top');
    const below = await make('Below', top);
    const put = (id: string, parent: string | null) =>
      workspace().put(`/collections/${id}`, { name: 'Moved', parent_collection_id: parent });
    for (const parent of [top, below]) {
      const answer = await put(top, parent).expect(400);
      expect(answer.body.data.field).toBe('body.parent_collection_id');
    }
    await put(below, null).expect(200);
    await put(top, below).expect(200);
    const row = await h.db.collection.findUniqueOrThrow({ where: { id: top } });
    expect(row.parentId).toBe(below);
  });

  it('nest ten deep at most', async () => {
    let parent: string | undefined;
    for (let depth = 0; depth < 10; depth += 1) parent = await make(`Depth ${depth}`, parent);
    const body = { name: 'Too deep', parent_collection_id: parent };
    await workspace().post('/collections', body).expect(400);
  });

  it('stay while something stands in them, and go with an audit entry', async () => {
    const parent = await make('Full');
    const child = await make('Inner', parent);
    const refused = await workspace().delete(`/collections/${parent}`).expect(400);
    expect(refused.body.data.message).toContain('1 collections');
    const partial = await workspace().post('/prompts/partials', {
      name: 'Kept',
      string: 'x',
      collection_id: child,
    });
    await workspace().delete(`/collections/${child}`).expect(400);
    await workspace().delete(`/prompts/partials/${partial.body.slug}`).expect(200);
    for (const id of [child, parent])
      await workspace().delete(`/collections/${id}`).expect(200, {});
    await workspace().get(`/collections/${parent}`).expect(404);
    const entry = await h.db.auditEntry.findFirstOrThrow({
      where: { resourceId: parent, action: 'delete', responseStatusCode: 200 },
    });
    expect(JSON.parse(entry.before ?? '')).toMatchObject({ id: parent, name: 'Full' });
  });

  it('belong to one workspace', async () => {
    const own = await make('Own');
    const { slug } = await h.db.collection.findUniqueOrThrow({ where: { id: own } });
    await h.as(second.key).get(`/collections/${own}`).expect(403);
    await h.as(second.key).get(`/collections/${slug}`).expect(404);
    await h.as(h.other.admin_key).get(`/collections/${own}`).expect(404);
    await h.as(second.key).delete(`/collections/${own}`).expect(403);
    const below = { name: 'Stolen', parent_collection_id: own };
    await h.as(second.key).post('/collections', below).expect(404);
    const admin = h.as(h.first.admin_key);
    await admin.get(`/collections/${slug}`).expect(200);
    await admin.get(`/collections/${own}?workspace_id=${second.slug}`).expect(404);
    const ambiguous = await admin.get('/collections/default').expect(400);
    expect(ambiguous.body.data.field).toBe('query.workspace_id');
    await admin.get('/collections').expect(400);
  });
});
