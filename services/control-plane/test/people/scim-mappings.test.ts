import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { lastEntries } from '../support/audit-trail.ts';
import { type Harness, startHarness } from '../support/harness.ts';

let h: Harness;
beforeAll(async () => {
  h = await startHarness();
});
afterAll(() => h.stop());

const path = '/scim/workspaces';
const admin = () => h.as(h.first.admin_key);
const groupName = () => `Group ${randomUUID()}`;
const map = (change: object = {}) =>
  admin().post(path, { workspace_id: h.first.workspace_slug, role: 'member', ...change });

describe('SCIM mappings', () => {
  it('make a group that is new, and are the same when they are made again', async () => {
    const name = groupName();
    const made = await map({ scim_group_name: name, role: 'MEMBER' }).expect(200);
    expect(made.body).toEqual({
      id: expect.any(String),
      workspace_id: h.first.workspace_id,
      scim_group: name,
      scim_group_id: expect.any(String),
      role: 'member',
      warnings: [expect.stringMatching(/^body: is kept, and does nothing yet: /)],
    });
    const entries = await lastEntries(h, 2);
    expect(entries.map((entry) => [entry.resourceType, entry.action])).toEqual([
      ['scim_mappings', 'create'],
      ['scim_groups', 'create'],
    ]);
    expect((await map({ scim_group_name: name }).expect(200)).body).toEqual(made.body);
    expect((await map({ scim_group_id: made.body.scim_group_id }).expect(200)).body).toEqual(
      made.body,
    );
    const groups = (await admin().get(`/scim/groups?search=${name.toUpperCase()}`)).body;
    expect(groups).toMatchObject({
      total_count: 1,
      groups: [{ id: made.body.scim_group_id, name }],
    });
  });

  it('give a group one role wherever it is mapped, until no mapping is left', async () => {
    const name = groupName();
    const second = await admin().post('/admin/workspaces', { name: 'Second' }).expect(200);
    const made = await map({ scim_group_name: name }).expect(200);
    const other = { scim_group_name: name, workspace_id: second.body.slug };
    const refused = await map({ ...other, role: 'admin' });
    expect([refused.status, refused.body.data.field]).toEqual([400, 'body.role']);
    expect(refused.body.data.message).toContain('member');
    await map(other).expect(200);
    const all = (await admin().get(`${path}?scim_group_id=${made.body.scim_group_id}`)).body;
    expect(all.total_count).toBe(2);
    for (const { id } of all.mappings)
      expect((await admin().delete(`${path}/${id}`).expect(200)).body).toEqual({ success: true });
    expect((await map({ ...other, role: 'admin' }).expect(200)).body.role).toBe('admin');
  });

  it.each([
    [{}, 'body.scim_group_name'],
    [{ scim_group_name: 'A', scim_group_id: randomUUID() }, 'body.scim_group_id'],
    [{ scim_group_id: randomUUID() }, 'body.scim_group_id'],
    [{ scim_group_name: 'ws-Sales-role-admin' }, 'body.scim_group_name'],
    [{ scim_group_name: 'A', role: 'owner' }, 'body.role'],
    [{ scim_group_name: 'A', workspace_id: undefined }, 'body.workspace_id'],
  ])('are refused with %j', async (change, field) => {
    const answer = await map(change);
    expect([answer.status, answer.body.data.field]).toEqual([400, field]);
  });

  it('are listed by workspace and role in either spelling, and page from 0', async () => {
    const area = await admin().post('/admin/workspaces', { name: 'Area' }).expect(200);
    const made = [];
    for (const role of ['admin', 'manager', 'manager'])
      made.push(
        (
          await map({
            workspace_id: area.body.id,
            scim_group_name: groupName(),
            role,
          }).expect(200)
        ).body,
      );
    for (const each of made) delete each.warnings;
    const list = async (query: string) =>
      (await admin().get(`${path}?${query}`).expect(200)).body.mappings;
    expect(await list(`workspace_id=${area.body.id}`)).toEqual([...made].reverse());
    expect(await list(`workspaceId=${area.body.id}&role=admin`)).toEqual([made[0]]);
    expect(await list(`scimGroupId=${made[1].scim_group_id}`)).toEqual([made[1]]);
    expect(await list(`workspace_id=${area.body.id}&page=0&page_size=2`)).toEqual([
      made[2],
      made[1],
    ]);
    expect(await list(`workspace_id=${area.body.id}&page=1&page_size=2`)).toEqual([made[0]]);
  });

  it('of another organisation do not exist', async () => {
    const made = (await map({ scim_group_name: groupName() }).expect(200)).body;
    const other = h.as(h.other.admin_key);
    await other.delete(`${path}/${made.id}`).expect(404);
    expect((await other.get(path)).body).toEqual({ mappings: [], total_count: 0 });
    expect((await other.get('/scim/groups')).body).toEqual({ groups: [], total_count: 0 });
    const body = { workspace_id: h.other.workspace_id, role: 'member' };
    await other.post(path, { ...body, scim_group_id: made.scim_group_id }).expect(400);
    await other
      .post(path, { ...body, workspace_id: h.first.workspace_id, scim_group_name: 'A' })
      .expect(404);
    await h.as(h.first.workspace_key).get(path).expect(403);
    await admin().delete(`${path}/${made.id}`).expect(200);
    await admin().delete(`${path}/${made.id}`).expect(404);
  });
});
