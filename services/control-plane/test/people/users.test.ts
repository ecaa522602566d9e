import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { lastEntries } from '../support/audit-trail.ts';
import { createPerson } from '../support/fixture.ts';
import { listen, resolved } from '../support/gateway-view.ts';
import { type Harness, startHarness } from '../support/harness.ts';

let h: Harness;
beforeAll(async () => {
  h = await startHarness();
});
afterAll(() => h.stop());

const path = '/admin/users';
const admin = () => h.as(h.first.admin_key);

async function createUser(role: 'admin' | 'member' = 'member') {
  const id = randomUUID();
  const email = `${id}@example.org`;
  const organisationId = h.first.organisation_id;
  await h.db.user.create({ data: { id, organisationId, email, role, firstName: 'Ann' } });
  return { id, email };
}

async function owner() {
  return h.db.user.findFirstOrThrow({
    where: { organisationId: h.first.organisation_id, role: 'owner' },
  });
}

describe('users', () => {
  it('are listed by role and address, whatever its case, and paged in either spelling', async () => {
    const { id, email } = await createUser();
    await createUser('admin');
    const listed = await admin().get(`${path}?email=${email.toUpperCase()}`).expect(200);
    expect(listed.body).toEqual({
      object: 'list',
      total: 1,
      data: [
        {
          object: 'user',
          id,
          first_name: 'Ann',
          last_name: '',
          role: 'member',
          email,
          created_at: expect.stringMatching(/Z$/),
          last_updated_at: expect.stringMatching(/Z$/),
          workspace_ids: [],
        },
      ],
    });
    const members = (await admin().get(`${path}?role=member`)).body;
    expect(new Set(members.data.map((user: { role: string }) => user.role))).toEqual(
      new Set(['member']),
    );
    const all = (await admin().get(path)).body;
    expect(all.total).toBeGreaterThan(2);
    for (const query of ['currentPage=1&pageSize=1', 'current_page=1&page_size=1'])
      expect((await admin().get(`${path}?${query}`)).body).toEqual({
        ...all,
        data: all.data.slice(1, 2),
      });
  });

  it('show where they are members, and owners and admins all workspaces', async () => {
    await admin().post('/admin/workspaces', { name: 'Another' }).expect(200);
    const person = await createPerson(h, 'member', h.first.workspace_id);
    const workspacesOf = async (id: string) =>
      (await admin().get(`${path}/${id}`).expect(200)).body.workspace_ids;
    expect(await workspacesOf(person.userId)).toEqual([h.first.workspace_id]);
    const all = await h.db.workspace.findMany({
      where: { organisationId: h.first.organisation_id },
    });
    expect((await workspacesOf((await owner()).id)).sort()).toEqual(all.map(({ id }) => id).sort());
  });

  it('who become members lose at the gateways what admins may', async () => {
    const { id } = await createUser('admin');
    const made = await admin()
      .post('/api-keys/workspace/user', {
        name: 'x',
        workspace_id: h.first.workspace_id,
        user_id: id,
        scopes: ['completions.write', 'configs.create'],
      })
      .expect(200);
    expect((await resolved(h, made.body.key))?.scopes).toContain('configs.create');
    const gateway = await listen(h);
    await admin().put(`${path}/${id}`, { role: 'member' }).expect(200);
    await gateway.hears(made.body.id);
    gateway.stop();
    expect((await resolved(h, made.body.key))?.scopes).toEqual([]);
    const [entry] = await lastEntries(h, 1);
    expect([entry?.resourceId, entry?.before.role, entry?.after.role]).toEqual([
      id,
      'admin',
      'member',
    ]);
  });

  it('who are removed take their memberships and user keys along, and leave service keys', async () => {
    const person = await createPerson(h, 'manager', h.first.workspace_id);
    const key = await h.db.apiKey.findFirstOrThrow({ where: { userId: person.userId } });
    const service = await h.db.apiKey.findFirstOrThrow({
      where: { workspaceId: h.first.workspace_id, type: 'workspace-service' },
    });
    await h.db.apiKey.update({
      where: { id: service.id },
      data: { createdByUserId: person.userId },
    });
    const gateway = await listen(h);
    expect((await admin().delete(`${path}/${person.userId}`).expect(200)).body).toEqual({});
    await gateway.hears(key.id);
    gateway.stop();
    expect(await resolved(h, person.key)).toBeUndefined();
    await h.as(person.key).get('/configs').expect(401);
    await h.as(h.first.workspace_key).get('/configs').expect(200);
    expect(await h.db.workspaceMember.count({ where: { userId: person.userId } })).toBe(0);
    await admin().get(`${path}/${person.userId}`).expect(404);
    const entries = await h.db.auditEntry.findFirstOrThrow({
      where: { resourceId: person.userId, action: 'delete' },
    });
    expect(JSON.parse(entries.detail ?? '')).toEqual({ removed_api_key_ids: [key.id] });
  });

  it('who own the organisation are neither demoted nor removed, and nobody is made an owner', async () => {
    const { id } = await owner();
    await admin().put(`${path}/${id}`, { role: 'member' }).expect(400);
    await admin().delete(`${path}/${id}`).expect(400);
    expect((await owner()).id).toBe(id);
    await admin()
      .put(`${path}/${(await createUser()).id}`, { role: 'owner' })
      .expect(400);
  });

  it('are no admins’ business once the person behind a key is none any more', async () => {
    const former = await createUser('admin');
    const made = await admin()
      .post('/api-keys/organisation/service', {
        name: 'Of a former admin',
        scopes: ['organisation_users.update', 'organisation_users.delete'],
      })
      .expect(200);
    await h.db.apiKey.update({
      where: { id: made.body.id },
      data: { createdByUserId: former.id },
    });
    await admin().put(`${path}/${former.id}`, { role: 'member' }).expect(200);
    const [member, chief] = [await createUser(), await createUser('admin')];
    const theirs = h.as(made.body.key);
    await theirs.put(`${path}/${member.id}`, { role: 'admin' }).expect(403);
    await theirs.delete(`${path}/${chief.id}`).expect(403);
    await theirs.delete(`${path}/${member.id}`).expect(200);
  });

  it('of another organisation do not exist, and no workspace key asks for users', async () => {
    const { id } = await createUser();
    for (const [method, body] of [['get'], ['put', { role: 'admin' }], ['delete']] as const)
      await h.as(h.other.admin_key)[method](`${path}/${id}`, body).expect(404);
    await h.as(h.first.workspace_key).get(path).expect(403);
    await admin().get(`${path}/nobody`).expect(400);
  });
});
