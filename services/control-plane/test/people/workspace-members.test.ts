import { randomUUID } from 'node:crypto';
import { scopesOf } from '@sluice/contracts';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { lastEntries } from '../support/audit-trail.ts';
import { createPerson, createServiceKey } from '../support/fixture.ts';
import { listen, resolved } from '../support/gateway-view.ts';
import { type Harness, startHarness } from '../support/harness.ts';

let h: Harness;
beforeAll(async () => {
  h = await startHarness();
});
afterEach(() =>
  admin().put('/admin/organisation/settings', { user_keys: null, prompts: null }).expect(200),
);
afterAll(() => h.stop());

const admin = () => h.as(h.first.admin_key);
const workspace = () => h.as(h.first.workspace_key);
const path = () => `/admin/workspaces/${h.first.workspace_slug}/users`;

async function createUser(): Promise<string> {
  const id = randomUUID();
  const organisationId = h.first.organisation_id;
  await h.db.user.create({
    data: { id, organisationId, email: `${id}@example.org`, role: 'member' },
  });
  return id;
}

/** Another workspace; its UUID and slug. */
async function createWorkspace() {
  const made = await admin().post('/admin/workspaces', { name: 'Area' }).expect(200);
  return h.db.workspace.findFirstOrThrow({ where: { slug: made.body.slug } });
}

describe('members of a workspace', () => {
  it('are users of the organisation, added with a role and shown with what they may do', async () => {
    const id = await createUser();
    expect((await admin().post(path(), { users: [{ id, role: 'manager' }] })).body).toEqual({});
    const shown = (await workspace().get(`${path()}/${id}`).expect(200)).body;
    expect(shown).toEqual({
      object: 'workspace-user',
      id,
      first_name: '',
      last_name: '',
      org_role: 'member',
      role: 'manager',
      created_at: expect.stringMatching(/Z$/),
      last_updated_at: expect.stringMatching(/Z$/),
      status: 'active',
      workspace_id: h.first.workspace_id,
      email: `${id}@example.org`,
      scopes: scopesOf('workspace-user').filter((scope) => scope !== 'workspaces.update'),
      settings: null,
    });
    await admin()
      .put('/admin/organisation/settings', { prompts: { managersWritePrompts: false } })
      .expect(200);
    const { scopes } = (await workspace().get(`${path()}/${id}`)).body;
    expect([scopes.includes('prompts.update'), scopes.includes('prompts.read')]).toEqual([
      false,
      true,
    ]);
    const stranger = await admin().post(path(), { users: [{ id }, { id: randomUUID() }] });
    expect([stranger.status, stranger.body.data.field]).toEqual([400, 'body.users[1].id']);
    expect((await workspace().get(`${path()}/${id}`)).body.role).toBe('manager');
  });

  it('who are added again get the role that is named now', async () => {
    const id = await createUser();
    await admin()
      .post(path(), { users: [{ id }] })
      .expect(200);
    await admin()
      .post(path(), { users: [{ id, role: 'admin' }] })
      .expect(200);
    expect((await admin().get(`${path()}/${id}`)).body.role).toBe('admin');
    const [entry] = await lastEntries(h, 1);
    expect([entry?.before.users[0].role, entry?.after.users[0].role]).toEqual(['member', 'admin']);
  });

  it('are listed by role and address; owners who never joined are not among them', async () => {
    const area = await createWorkspace();
    const person = await createPerson(h, 'manager', area.id);
    await createPerson(h, 'member', area.id);
    const list = async (query = '') =>
      (await admin().get(`/admin/workspaces/${area.slug}/users?${query}`).expect(200)).body;
    expect((await list()).total).toBe(2);
    expect(await list('role=manager')).toMatchObject({ total: 1, data: [{ id: person.userId }] });
    expect((await list(`email=${person.userId}@EXAMPLE.org`)).total).toBe(1);
    expect((await list('page_size=1')).data).toHaveLength(1);
    const owner = await h.db.user.findFirstOrThrow({ where: { role: 'owner' } });
    await admin().get(`/admin/workspaces/${area.slug}/users/${owner.id}`).expect(404);
  });

  it('whose role changes find it changed at the gateways', async () => {
    const person = await createPerson(h, 'member', h.first.workspace_id);
    const { id } = await h.db.apiKey.findFirstOrThrow({ where: { userId: person.userId } });
    const gateway = await listen(h);
    await workspace().put(`${path()}/${person.userId}`, { role: 'manager' }).expect(200);
    await gateway.hears(id);
    gateway.stop();
    expect((await resolved(h, person.key))?.scopes).toContain('configs.update');
  });

  it('who are removed lose their user keys of the workspace, and no others', async () => {
    const area = await createWorkspace();
    const person = await createPerson(h, 'member', h.first.workspace_id);
    await admin()
      .post(`/admin/workspaces/${area.id}/users`, { users: [{ id: person.userId }] })
      .expect(200);
    const elsewhere = await admin()
      .post('/api-keys/workspace/user', {
        name: 'x',
        workspace_id: area.id,
        user_id: person.userId,
        scopes: ['completions.write'],
      })
      .expect(200);
    const { id } = await h.db.apiKey.findFirstOrThrow({
      where: { userId: person.userId, workspaceId: h.first.workspace_id },
    });
    const gateway = await listen(h);
    expect((await workspace().delete(`${path()}/${person.userId}`).expect(200)).body).toEqual({});
    await gateway.hears(id);
    gateway.stop();
    expect(await resolved(h, person.key)).toBeUndefined();
    expect((await resolved(h, elsewhere.body.key))?.scopes).toEqual(['completions.write']);
    await workspace().get(`${path()}/${person.userId}`).expect(404);
    expect((await lastEntries(h, 1))[0]).toMatchObject({
      resourceType: 'workspace_users',
      action: 'delete',
      workspaceId: h.first.workspace_id,
      before: { id: person.userId, role: 'member' },
      detail: { removed_api_key_ids: [id] },
    });
  });

  it('who are managers give and take no role above their own', async () => {
    const manager = await createPerson(h, 'manager', h.first.workspace_id);
    const chief = await createPerson(h, 'admin', h.first.workspace_id);
    const id = await createUser();
    const theirs = h.as(manager.key);
    await theirs.post(path(), { users: [{ id, role: 'admin' }] }).expect(403);
    await theirs.post(path(), { users: [{ id, role: 'manager' }] }).expect(200);
    await theirs.put(`${path()}/${id}`, { role: 'admin' }).expect(403);
    await theirs.put(`${path()}/${chief.userId}`, { role: 'member' }).expect(403);
    await theirs.delete(`${path()}/${chief.userId}`).expect(403);
    await theirs.delete(`${path()}/${id}`).expect(200);
    const member = await createPerson(h, 'member', h.first.workspace_id);
    await h.as(member.key).get(path()).expect(200);
    await h
      .as(member.key)
      .post(path(), { users: [{ id }] })
      .expect(403);
  });

  it('are given no role by a key of a former admin that its maker could not give', async () => {
    const former = await createPerson(h, 'member', (await createWorkspace()).id);
    const body = {
      name: 'Of a former admin',
      scopes: ['workspaces.create', 'workspace_users.create', 'organisation_users.create'],
    };
    const made = await admin().post('/api-keys/organisation/service', body).expect(200);
    await h.db.apiKey.update({
      where: { id: made.body.id },
      data: { createdByUserId: former.userId },
    });
    const theirs = h.as(made.body.key);
    const id = await createUser();
    const give = async (role: string) => [
      (await theirs.post(path(), { users: [{ id, role }] })).status,
      (await theirs.post('/admin/workspaces', { name: 'x', users: [{ id, role }] })).status,
      (
        await theirs.post('/admin/users/invites', {
          email: `${randomUUID()}@example.org`,
          role: 'member',
          workspaces: [{ id: h.first.workspace_id, role }],
        })
      ).status,
    ];
    expect(await give('admin')).toEqual([403, 403, 403]);
    expect(await give('member')).toEqual([200, 200, 200]);
  });

  it('get a key by themselves where the workspace’s settings say so', async () => {
    const area = await createWorkspace();
    await admin()
      .put('/admin/organisation/settings', { user_keys: { user_api_key_auto_create: true } })
      .expect(200);
    const id = await createUser();
    const url = `/admin/workspaces/${area.slug}/users`;
    await admin()
      .post(url, { users: [{ id }] })
      .expect(200);
    await admin()
      .post(url, { users: [{ id }] })
      .expect(200);
    const keys = await h.db.apiKey.findMany({ where: { userId: id } });
    expect(keys).toMatchObject([
      { workspaceId: area.id, type: 'workspace-user', creationMode: 'auto' },
    ]);
    const entry = await h.db.auditEntry.findFirstOrThrow({ where: { resourceId: keys[0]?.id } });
    expect(entry).toMatchObject({ resourceType: 'api_keys', action: 'create' });
  });

  it('are out of reach from another workspace and another organisation', async () => {
    const person = await createPerson(h, 'member', h.first.workspace_id);
    const elsewhere = h.as(await createServiceKey(h, (await createWorkspace()).id));
    await elsewhere.get(path()).expect(403);
    await elsewhere.delete(`${path()}/${person.userId}`).expect(403);
    await h.as(h.other.admin_key).get(path()).expect(404);
    await h.as(h.other.admin_key).delete(`${path()}/${person.userId}`).expect(404);
    const theirs = await h.db.user.findFirstOrThrow({
      where: { organisationId: h.other.organisation_id },
    });
    await admin()
      .post(path(), { users: [{ id: theirs.id }] })
      .expect(400);
  });
});
