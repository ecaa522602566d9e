import { randomUUID } from 'node:crypto';
import { forwardedCallerHeader, forwardedCallerSeal } from '@sluice/contracts';
import supertest from 'supertest';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { brokenLink } from '../support/audit-chain.ts';
import { lastEntries, wholeDatabase } from '../support/audit-trail.ts';
import { resolved } from '../support/gateway-view.ts';
import { type Harness, startHarness } from '../support/harness.ts';

let h: Harness;
beforeAll(async () => {
  h = await startHarness();
});
afterEach(async () => {
  h.clock.offsetMs = 0;
  await admin().put('/admin/organisation/settings', { user_keys: null, joining: null });
});
afterAll(() => h.stop());

const path = '/admin/users/invites';
const dayMs = 86_400_000;
const admin = () => h.as(h.first.admin_key);
const nobody = () => h.as(undefined);
const address = () => `${randomUUID()}@example.org`;

async function invite(change: object = {}) {
  const body = { email: address(), role: 'member', workspaces: [], ...change };
  const answer = await admin().post(path, body);
  expect(answer.status, answer.text).toBe(200);
  const link = String(answer.body.invite_link);
  return { id: String(answer.body.id), email: body.email, link, token: tokenOf(link) };
}

const tokenOf = (link: string) => new URL(link).searchParams.get('token') ?? '';
const accept = (token: string, names: object = {}) =>
  nobody().post(`${path}/accept`, { token, ...names });
const inDefaultWorkspace = (role: string) => ({
  workspaces: [{ id: h.first.workspace_slug, role }],
});

describe('an invite', () => {
  it('is made with a link to where the caller reached the API, and its token is kept nowhere', async () => {
    const { id, email, link, token } = await invite(inDefaultWorkspace('manager'));
    expect(link).toBe(
      `http://127.0.0.1:${h.service.httpPort}/v1/admin/users/invites/accept?token=${token}`,
    );
    expect(Buffer.from(token, 'base64url')).toHaveLength(32);
    expect((await admin().get(`${path}/${id}`)).body).toEqual({
      object: 'invite',
      id,
      email,
      role: 'member',
      status: 'pending',
      created_at: expect.stringMatching(/Z$/),
      expires_at: expect.stringMatching(/Z$/),
      invited_by: expect.stringMatching(/^[0-9a-f-]{36}$/),
      workspaces: [{ workspace_id: h.first.workspace_id, role: 'manager' }],
    });
    await accept(token).expect(200);
    expect(await wholeDatabase(h)).not.toContain(token);
  });

  it('has its link at the address that the gateway was reached by, and at no other that a caller names', async () => {
    const seal = forwardedCallerSeal(h.env.SERVICE_CLIENT_AUTH);
    const link = async (headers: Record<string, string>) => {
      const body = { email: address(), role: 'member', workspaces: [] };
      const answer = await admin().post(path, body).set(headers).expect(200);
      return answer.body.invite_link as string;
    };
    const where = { address: '192.0.2.1', host: 'sluice.example', proto: 'https' } as const;
    const statement = seal.sign({ ...where, requestId: randomUUID() }, Date.now());
    expect(await link({ [forwardedCallerHeader]: statement })).toMatch(
      /^https:\/\/sluice\.example\/v1\/admin\/users\//,
    );
    const claimed = { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' };
    expect(await link(claimed)).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1\/admin\/users\//);
  });

  it('is refused for who is a user or is invited already, in any case of letters', async () => {
    const { email, token } = await invite();
    const again = { email: email.toUpperCase(), role: 'member', workspaces: [] };
    expect((await admin().post(path, again)).status).toBe(409);
    await accept(token).expect(200);
    expect((await admin().post(path, again)).body.data.errorCode).toBe('AB07');
  });

  it.each([
    [{ role: 'owner' }, 'body.role'],
    [{ email: 'nobody' }, 'body.email'],
    [{ workspaces: [{ id: 'ws-none', role: 'member' }] }, 'body.workspaces[0].id'],
    [
      { workspace_api_key_details: { scopes: ['organisation_users.list'] } },
      'body.workspace_api_key_details.scopes[0]',
    ],
  ])('is refused with %j', async (change, field) => {
    const answer = await admin().post(path, {
      email: address(),
      role: 'member',
      workspaces: [],
      ...change,
    });
    expect([answer.status, answer.body.data.field]).toEqual([400, field]);
  });

  it('says where its keys would be in no workspace', async () => {
    const details = { workspace_api_key_details: { scopes: ['completions.write'] } };
    const warningsOf = async (fields: object) => {
      const body = { email: address(), role: 'member', workspaces: [], ...details, ...fields };
      return (await admin().post(path, body).expect(200)).body.warnings;
    };
    expect(await warningsOf({})).toEqual([
      expect.stringContaining('body.workspace_api_key_details: does nothing'),
    ]);
    for (const fields of [inDefaultWorkspace('member'), { role: 'admin' }])
      expect(await warningsOf(fields)).toBeUndefined();
  });

  it('gives no scopes that its maker lacks, and no rank above theirs', async () => {
    const makeKey = async (scopes: string[]) =>
      (await admin().post('/api-keys/organisation/service', { name: 'x', scopes }).expect(200))
        .body;
    const narrow = await makeKey(['organisation_users.create']);
    const details = { workspace_api_key_details: { scopes: ['configs.create'] } };
    const body = { email: address(), role: 'admin', workspaces: [] };
    await h
      .as(narrow.key)
      .post(path, { ...body, ...details })
      .expect(403);
    const former = randomUUID();
    await h.db.user.create({
      data: {
        id: former,
        organisationId: h.first.organisation_id,
        email: `${former}@example.org`,
        role: 'member',
      },
    });
    await h.db.apiKey.update({ where: { id: narrow.id }, data: { createdByUserId: former } });
    await h.as(narrow.key).post(path, body).expect(403);
    await h
      .as(narrow.key)
      .post(path, { ...body, role: 'member' })
      .expect(200);
  });

  it('is sent again by nobody who lacks the scopes that it gives', async () => {
    const { id, token } = await invite({
      workspace_api_key_details: { scopes: ['configs.create', 'completions.write'] },
    });
    const resend = async (scopes: string[]) => {
      const body = { name: 'x', scopes: ['organisation_users.create', ...scopes] };
      const key = await admin().post('/api-keys/organisation/service', body).expect(200);
      return h.as(key.body.key).post(`${path}/${id}/resend`);
    };
    const refused = await resend([]);
    expect([refused.status, refused.body.data.message]).toEqual([
      403,
      'This key cannot give configs.create, which it does not hold.',
    ]);
    expect((await resend(['configs.create'])).status).toBe(200);
    // The refused one left the link as it was; the other replaced it.
    expect((await accept(token)).status).toBe(404);
  });

  it('expires after a week, or when the organisation says, and can be renewed', async () => {
    const { id, token } = await invite();
    h.clock.offsetMs = 7 * dayMs - 60_000;
    expect((await admin().get(`${path}/${id}`)).body.status).toBe('pending');
    h.clock.offsetMs = 7 * dayMs;
    expect((await admin().get(`${path}/${id}`)).body.status).toBe('expired');
    const refused = await accept(token);
    expect([refused.status, refused.body.data.message]).toEqual([400, 'This invite is expired.']);
    const ids = async (status: string) =>
      (await admin().get(`${path}?status=${status}`)).body.data.map(
        (row: { id: string }) => row.id,
      );
    expect(await ids('expired')).toContain(id);
    expect(await ids('pending')).not.toContain(id);

    await admin().put('/admin/organisation/settings', { joining: { invite_ttl: 3600 } });
    const renewed = await admin().post(`${path}/${id}/resend`).expect(200);
    expect(Object.keys(renewed.body)).toEqual(['inviteLink']);
    const shown = (await admin().get(`${path}/${id}`)).body;
    expect(shown.status).toBe('pending');
    expect(Date.parse(shown.expires_at) - Date.now() - h.clock.offsetMs).toBeLessThan(3_600_001);
    await accept(token).expect(404);
    await accept(tokenOf(renewed.body.inviteLink)).expect(200);
  });

  it('is cancelled once and for all, unless it was accepted before', async () => {
    const { id, token, email } = await invite();
    expect((await admin().delete(`${path}/${id}`).expect(200)).body).toEqual({});
    expect((await admin().get(`${path}/${id}`)).body.status).toBe('cancelled');
    await accept(token).expect(400);
    await admin().post(`${path}/${id}/resend`).expect(400);
    await invite({ email });

    const taken = await invite();
    await accept(taken.token).expect(200);
    await admin().delete(`${path}/${taken.id}`).expect(400);
    await admin().post(`${path}/${taken.id}/resend`).expect(400);
    expect((await admin().get(`${path}/${taken.id}`)).body).toMatchObject({
      status: 'accepted',
      accepted_at: expect.stringMatching(/Z$/),
    });
  });

  it('does not exist for another organisation', async () => {
    const { id } = await invite();
    const other = h.as(h.other.admin_key);
    await other.get(`${path}/${id}`).expect(404);
    await other.delete(`${path}/${id}`).expect(404);
    await other.post(`${path}/${id}/resend`).expect(404);
    expect((await other.get(path)).body.total).toBe(0);
  });
});

describe('accepting an invite', () => {
  it('makes the user, their memberships and the key that the invite promises', async () => {
    const { email, token, id } = await invite({
      ...inDefaultWorkspace('manager'),
      workspace_api_key_details: { scopes: ['completions:write', 'configs.create'] },
    });
    const answer = await accept(token, { first_name: 'Ann', last_name: 'Example' }).expect(200);
    const { user_id: userId, workspaces, api_keys: keys } = answer.body;
    expect(workspaces).toEqual([{ workspace_id: h.first.workspace_id, role: 'manager' }]);
    expect((await admin().get(`/admin/users/${userId}`)).body).toMatchObject({
      email,
      first_name: 'Ann',
      last_name: 'Example',
      role: 'member',
      workspace_ids: [h.first.workspace_id],
    });
    expect(keys).toEqual([
      { workspace_id: h.first.workspace_id, id: expect.any(String), key: expect.any(String) },
    ]);
    expect((await resolved(h, keys[0].key))?.scopes).toEqual([
      'completions.write',
      'configs.create',
    ]);
    expect((await admin().get(`/api-keys/${keys[0].id}`)).body).toMatchObject({
      creation_mode: 'auto',
      user_id: userId,
    });
    expect(await wholeDatabase(h)).not.toContain(keys[0].key);

    const entries = await lastEntries(h, 3);
    expect(entries.map((entry) => [entry.resourceType, entry.action, entry.resourceId])).toEqual([
      ['invites', 'accept', id],
      ['users', 'create', userId],
      ['api_keys', 'create', keys[0].id],
    ]);
    expect(entries[0]).toMatchObject({
      userType: 'user',
      userId,
      apiKeyId: null,
      before: { status: 'pending' },
      after: { status: 'accepted' },
    });
    expect(await brokenLink(h)).toBeUndefined();
  });

  it('works once, however many try at the same time', async () => {
    const { token, email } = await invite();
    const answers = await Promise.all(Array.from({ length: 5 }, () => accept(token)));
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, 400, 400, 400, 400]);
    expect(await h.db.user.count({ where: { email } })).toBe(1);
  });

  it('is recorded when it is refused, in the log of the organisation it was about', async () => {
    const { token, id } = await invite();
    await admin().delete(`${path}/${id}`).expect(200);
    await accept(token).expect(400);
    const [entry] = await lastEntries(h, 1);
    expect(entry).toMatchObject({
      resourceType: 'invites',
      action: 'accept',
      responseStatusCode: 400,
      userType: 'user',
    });
    expect(entry?.requestBody).not.toContain(token);
  });

  it('finds who became a user meanwhile, and takes nothing from them', async () => {
    const { email, token } = await invite({ role: 'member', ...inDefaultWorkspace('member') });
    const id = randomUUID();
    await h.db.user.create({
      data: { id, organisationId: h.first.organisation_id, email, role: 'admin', firstName: 'B' },
    });
    expect((await accept(token, { first_name: 'C' }).expect(200)).body.user_id).toBe(id);
    expect((await admin().get(`/admin/users/${id}`)).body).toMatchObject({
      role: 'admin',
      first_name: 'B',
    });
  });

  it('makes keys by itself where the settings say so, by their rules', async () => {
    await admin()
      .put('/admin/organisation/settings', {
        user_keys: { user_api_key_ttl: 86_400, user_api_key_rotation_period: 30 },
        joining: { default_workspace_user_api_key_auto_create: true },
        metadata_schemas: {
          api_keys: {
            type: 'object',
            additionalProperties: true,
            properties: { team: { type: 'string', default: 'none' } },
          },
        },
      })
      .expect(200);
    const second = await admin().post('/admin/workspaces', { name: 'Second' }).expect(200);
    const { token } = await invite({
      workspaces: [
        { id: h.first.workspace_id, role: 'member' },
        { id: second.body.slug, role: 'member' },
      ],
    });
    const { api_keys: keys } = (await accept(token).expect(200)).body;
    expect(keys.map((key: { workspace_id: string }) => key.workspace_id)).toEqual([
      h.first.workspace_id,
    ]);
    const shown = (await admin().get(`/api-keys/${keys[0].id}`)).body;
    expect(shown).toMatchObject({
      defaults: { metadata: { team: 'none' } },
      rotation_policy: { rotation_period_days: 30 },
    });
    expect(Date.parse(shown.expires_at) - Date.parse(shown.created_at)).toBe(86_400_000);
    await admin().put('/admin/organisation/settings', { metadata_schemas: null }).expect(200);
  });

  it('makes no key that the rules do not allow, and says so in the log', async () => {
    await admin()
      .put('/admin/organisation/settings', {
        joining: { default_workspace_user_api_key_auto_create: true },
        user_keys: { max_user_api_keys_per_workspace: 1 },
      })
      .expect(200);
    const first = await invite(inDefaultWorkspace('member'));
    await accept(first.token).expect(200);
    const { token } = await invite(inDefaultWorkspace('member'));
    expect((await accept(token).expect(200)).body.api_keys).toEqual([]);
    expect((await lastEntries(h, 1))[0]).toMatchObject({
      resourceType: 'api_keys',
      action: 'create',
      responseStatusCode: 400,
    });
  });

  it('gives admins the key of the default workspace, where they are at home', async () => {
    await admin()
      .put('/admin/organisation/settings', {
        joining: { default_workspace_user_api_key_auto_create: true },
      })
      .expect(200);
    const { token } = await invite({ role: 'admin' });
    const { api_keys: keys, workspaces } = (await accept(token).expect(200)).body;
    expect([keys.length, workspaces]).toEqual([1, []]);
    expect((await resolved(h, keys[0].key))?.scopes).toEqual([
      'completions.write',
      'prompts.read',
      'prompts.list',
      'prompts.render',
    ]);
  });

  it('tells who opens the link how to accept, and needs no key', async () => {
    const { link } = await invite();
    const { pathname, search } = new URL(link);
    const page = await supertest(`http://127.0.0.1:${h.service.httpPort}`)
      .get(`${pathname}${search}`)
      .expect(200);
    expect(page.body).toEqual({ object: 'invite-link', message: expect.any(String) });
    await accept('no-such-token').expect(404);
    await nobody()
      .post(`${path}/accept`, { token: 'x'.repeat(20_000) })
      .expect(413);
    await nobody().get(path).expect(401);
  });
});
