import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createServiceKey } from '../support/fixture.ts';
import { type Harness, startHarness } from '../support/harness.ts';

let h: Harness;
let second: { slug: string; key: string };
beforeAll(async () => {
  h = await startHarness();
  const made = await h.as(h.first.admin_key).post('/admin/workspaces', { name: 'Second' });
  const { id, slug } = await h.db.workspace.findFirstOrThrow({ where: { slug: made.body.slug } });
  second = { slug, key: await createServiceKey(h, id) };
});
afterAll(() => h.stop());

const workspace = () => h.as(h.first.workspace_key);
const names = (body: { data: { name: string }[] }) => body.data.map((label) => label.name).sort();

describe('labels', () => {
  it('that are universal are in every workspace, and stay as they are', async () => {
    for (const key of [second.key, h.other.workspace_key]) {
      const list = await h.as(key).get('/labels').expect(200);
      expect(names(list.body)).toEqual(['development', 'production', 'staging']);
    }
    const { body } = await workspace().get('/labels?search=production').expect(200);
    expect(body.data).toEqual([expect.objectContaining({ is_universal: true, status: 'active' })]);
    expect(body.data[0]).not.toHaveProperty('workspace_id');
    const path = `/labels/${body.data[0].id}`;
    await workspace().get(path).expect(200);
    await h.as(h.other.workspace_key).get(path).expect(404);
    for (const key of [h.first.workspace_key, h.first.admin_key]) {
      await h.as(key).put(path, { name: 'mine' }).expect(400);
      await h.as(key).delete(path).expect(400);
    }
    await workspace().post('/labels', { name: 'staging' }).expect(409);
  });

  it('are made, changed and removed, each with its audit entry', async () => {
    const created = await workspace()
      .post('/labels', { name: 'canary', description: 'First', color_code: '#fff' })
      .expect(200);
    expect(created.body).toEqual({ id: expect.any(String) });
    const path = `/labels/${created.body.id}`;
    await workspace().put(path, { name: 'canary-2', description: null }).expect(200, {});
    expect((await workspace().get(path)).body).toMatchObject({
      name: 'canary-2',
      description: '',
      color_code: '#fff',
      is_universal: false,
      workspace_id: h.first.workspace_id,
      organisation_id: h.first.organisation_id,
    });
    const entry = await h.db.auditEntry.findFirstOrThrow({
      where: { resourceId: created.body.id, action: 'update' },
    });
    expect(JSON.parse(entry.before ?? '')).toMatchObject({ name: 'canary', description: 'First' });
    expect(JSON.parse(entry.after ?? '')).toMatchObject({ name: 'canary-2', description: '' });
    await workspace().delete(path).expect(200, {});
    await workspace().get(path).expect(404);
  });

  it.each(['latest', 'default', '12', 'with blank', 'a@b', ''])(
    'are never called %j, which a reference could not tell from something else',
    async (name) => {
      const answer = await workspace().post('/labels', { name }).expect(400);
      expect(answer.body.data.field).toBe('body.name');
    },
  );

  it('have a name once in a workspace, and in each workspace', async () => {
    const { body } = await workspace().post('/labels', { name: 'once' }).expect(200);
    await workspace().post('/labels', { name: 'once' }).expect(409);
    await h.as(second.key).post('/labels', { name: 'once' }).expect(200);
    const other = await workspace().post('/labels', { name: 'twice' }).expect(200);
    await workspace().put(`/labels/${other.body.id}`, { name: 'once' }).expect(409);
    await workspace().put(`/labels/${body.id}`, { name: 'once' }).expect(200);
    const list = await h.as(h.first.admin_key).get(`/labels?workspace_id=${second.slug}`);
    expect(names(list.body)).toEqual(['development', 'once', 'production', 'staging']);
  });

  it('belong to one workspace', async () => {
    const { body } = await workspace().post('/labels', { name: 'private' }).expect(200);
    await h.as(second.key).get(`/labels/${body.id}`).expect(403);
    await h.as(second.key).delete(`/labels/${body.id}`).expect(403);
    await h.as(h.other.admin_key).delete(`/labels/${body.id}`).expect(404);
    await workspace().get('/labels/not-a-uuid').expect(400);
    await h.as(h.first.admin_key).post('/labels', { name: 'nowhere' }).expect(400);
    const foreign = { name: 'foreign', organisation_id: h.other.organisation_id };
    await workspace().post('/labels', foreign).expect(403);
  });
});
