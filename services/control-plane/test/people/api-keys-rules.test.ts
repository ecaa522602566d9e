import { hashServiceKey } from '@sluice/contracts';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createPerson, createServiceKey } from '../support/fixture.ts';
import { type Harness, startHarness } from '../support/harness.ts';

let h: Harness;
beforeAll(async () => {
  h = await startHarness();
});
afterAll(() => h.stop());
afterEach(() => settings({}));

const admin = () => h.as(h.first.admin_key);
const workspace = () => h.as(h.first.workspace_key);
const dayMs = 86_400_000;

async function settings(organisation: object, ofWorkspace: object = {}): Promise<void> {
  const { organisation_id: id, workspace_id: workspaceId } = h.first;
  await h.db.organisation.update({ where: { id }, data: { settings: organisation } });
  await h.db.workspace.update({ where: { id: workspaceId }, data: { settings: ofWorkspace } });
}

const body = { name: 'x', scopes: ['configs.list'] };
const user = '/api-keys/workspace/user';
const service = '/api-keys/workspace/service';

async function made(path: string, change: object = {}) {
  const answer = await workspace().post(path, { ...body, ...change });
  expect(answer.status, answer.text).toBe(200);
  return { ...answer.body, path: `/api-keys/${answer.body.id}` } as Record<
    'id' | 'key' | 'path',
    string
  >;
}

async function refused(path: string, change: object = {}) {
  const answer = await workspace().post(path, { ...body, ...change });
  return [answer.status, answer.body.data?.errorCode, answer.body.data?.field];
}

const read = async (path: string) => (await admin().get(path).expect(200)).body;

describe('the metadata of a key', () => {
  const schema = {
    type: 'object',
    properties: {
      team: { type: 'string', enum: ['a', 'b'] },
      stage: { type: 'string', default: 'test' },
    },
    required: ['team'],
    additionalProperties: true,
  };

  it('is what the organisation asks for, with its defaults filled in', async () => {
    await settings({ metadata_schemas: { api_keys: schema } });
    const field = 'body.defaults.metadata.team';
    expect(await refused(service)).toEqual([400, 'AB01', field]);
    expect(await refused(user, { defaults: { metadata: { team: 'c' } } })).toEqual([
      400,
      'AB01',
      field,
    ]);
    const { path } = await made(service, { defaults: { metadata: { team: 'a', more: 1 } } });
    expect((await read(path)).defaults.metadata).toEqual({ team: 'a', stage: 'test', more: '1' });
    for (const defaults of [null, { metadata: null }, { metadata: { team: 'c' } }]) {
      const answer = await workspace().put(path, { defaults });
      expect([answer.status, answer.body.data?.field]).toEqual([400, field]);
    }
    await workspace()
      .put(path, { defaults: { metadata: { team: 'b', stage: 'live' } } })
      .expect(200);
    await workspace()
      .put(path, { name: 'Renamed', defaults: { allow_config_override: false } })
      .expect(200);
    expect((await read(path)).defaults).toMatchObject({
      metadata: { team: 'b', stage: 'live' },
      allow_config_override: false,
    });
    await admin().post('/api-keys/organisation/service', body).expect(200);
  });
});

describe('user keys', () => {
  it('end after the usual time, and not later than allowed; other keys as they like', async () => {
    await settings({ user_keys: { user_api_key_ttl: 7200, user_api_key_max_ttl: 86_400 } });
    const usual = await made(user);
    const inMs = Date.parse((await read(usual.path)).expires_at) - Date.now();
    expect(Math.abs(inMs - 7_200_000)).toBeLessThan(20_000);
    const tooLate = new Date(Date.now() + 2 * dayMs).toISOString();
    const inTime = new Date(Date.now() + dayMs - 60_000).toISOString();
    expect(await refused(user, { expires_at: tooLate })).toEqual([400, 'AB01', 'body.expires_at']);
    await made(user, { expires_at: inTime });
    for (const expires_at of [tooLate, null]) {
      const answer = await workspace().put(usual.path, { expires_at });
      expect([answer.status, answer.body.data?.field]).toEqual([400, 'body.expires_at']);
    }
    await workspace().put(usual.path, { name: 'kept', expires_at: inTime }).expect(200);
    const free = await made(service, { expires_at: tooLate });
    await workspace().put(free.path, { expires_at: null }).expect(200);
  });

  it('of a workspace follow its own settings only where the organisation lets it', async () => {
    const own = { user_keys: { user_api_key_ttl: 3600 } };
    await settings({}, own);
    expect(await read((await made(user)).path)).not.toHaveProperty('expires_at');
    await settings({ workspace_overrides: { user_keys: true } }, own);
    expect(await read((await made(user)).path)).toHaveProperty('expires_at');
  });

  it('are no more than a user and a workspace may have; ended ones do not count', async () => {
    const { userId: user_id } = await createPerson(h, 'manager', h.first.workspace_id);
    await made(user, { user_id, expires_at: '2020-01-01T00:00:00Z' });
    await settings({ user_keys: { max_user_api_keys_per_user: 2 } });
    await made(user, { user_id });
    expect(await refused(user, { user_id })).toEqual([400, 'AB01', undefined]);
    await made(service);
    const where = { workspaceId: h.first.workspace_id, type: 'workspace-user' };
    const now = await h.db.apiKey.count({
      where: { ...where, OR: [{ expiresAt: null }, { expiresAt: { gt: new Date() } }] },
    });
    await settings({ user_keys: { max_user_api_keys_per_workspace: now + 1 } });
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => workspace().post(user, { ...body, user_id })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400, 400]);
  });

  it('are rotated as the organisation wants', async () => {
    const before = await made(user, { rotation_policy: { rotation_period: 'weekly' } });
    await settings({ user_keys: { user_api_key_rotation_period: 7 } });
    const next = new Date(Math.floor(Date.now() / dayMs) * dayMs + 7 * dayMs).toISOString();
    const policy = {
      rotation_period: null,
      rotation_period_days: 7,
      next_rotation_at: next,
      key_transition_period_ms: 1_800_000,
      status: 'ACTIVE',
    };
    const { path } = await made(user);
    expect((await read(path)).rotation_policy).toEqual(policy);
    await made(user, { rotation_policy: { rotation_period: 'weekly' } });
    expect(await refused(user, { rotation_policy: { rotation_period: 'monthly' } })).toEqual([
      400,
      'AB01',
      'body.rotation_policy.rotation_period',
    ]);
    for (const rotation_policy of [
      null,
      { rotation_period_days: 8 },
      { next_rotation_at: '2099-01-01T00:00:00Z' },
    ])
      await workspace().put(path, { rotation_policy }).expect(400);
    await workspace().put(path, { rotation_policy: policy }).expect(200);
    expect((await read(path)).rotation_policy).toEqual(policy);
    expect(await read((await made(service)).path)).toMatchObject({ rotation_policy: null });
    // Keys that were there before keep their policy until it is changed.
    expect((await read(before.path)).rotation_policy.rotation_period).toBe('weekly');
  });
});

describe('rotation and reset', () => {
  it('have dates that are computed, shown, and kept while nothing about them changes', async () => {
    const { path } = await made(service, {
      usage_limits: { credit_limit: 10, type: 'tokens', periodic_reset: 'weekly' },
      rotation_policy: { rotation_period: 'monthly' },
    });
    const first = await read(path);
    const monthly = new Date(first.rotation_policy.next_rotation_at);
    expect([monthly.getUTCDate(), monthly.getTime() % dayMs]).toEqual([1, 0]);
    const weekly = new Date(first.usage_limits.next_usage_reset_at);
    expect([weekly.getUTCDay(), weekly.getTime() % dayMs]).toEqual([0, 0]);
    expect(first.usage_limits).toEqual({
      id: expect.any(String),
      current_usage: 0,
      reserved: 0,
      overshoot_bound: 0,
      status: 'active',
      last_reset_at: null,
      credit_limit: 10,
      type: 'tokens',
      periodic_reset: 'weekly',
      periodic_reset_days: null,
      next_usage_reset_at: weekly.toISOString(),
    });
    h.clock.offsetMs = 40 * dayMs;
    try {
      // What was read may be sent back.
      const { usage_limits, rotation_policy } = first;
      const sent = await workspace().put(path, { usage_limits, rotation_policy }).expect(200);
      expect(sent.body.warnings).toContain(
        'body.rotation_policy.status: is shown only, and was left out',
      );
      const now = await read(path);
      expect(now).toMatchObject({ rotation_policy });
      const { id, credit_limit, next_usage_reset_at } = now.usage_limits;
      expect([id, credit_limit]).toEqual([usage_limits.id, 10]);
      const next = new Date(next_usage_reset_at);
      expect([next.getUTCDay(), next.getTime() % dayMs]).toEqual([0, 0]);
      expect(next.getTime()).toBeGreaterThan(Date.now() + h.clock.offsetMs);
      const date = { next_rotation_at: '2024-01-01T00:00:00Z' };
      const late = await workspace().put(path, { rotation_policy: date });
      expect(late.body.data?.field).toBe('body.rotation_policy.next_rotation_at');
      const rotated = await workspace().post(`${path}/rotate`).expect(200);
      const after = (await read(path)).rotation_policy.next_rotation_at;
      expect(Date.parse(after)).toBeGreaterThan(Date.parse(rotated.body.key_transition_expires_at));
    } finally {
      h.clock.offsetMs = 0;
    }
    await workspace().put(path, { rotation_policy: null }).expect(200);
    expect((await read(path)).rotation_policy).toBeNull();
  });
});

describe('the person behind a key', () => {
  const scopes = ['list', 'read', 'create', 'update', 'delete', 'rotate'].flatMap((action) => [
    `workspace_user_api_keys.${action}`,
    `workspace_service_api_keys.${action}`,
  ]);

  /** A service key with every scope for keys that somebody made while they could. */
  async function keyOf(userId: string): Promise<string> {
    const key = await createServiceKey(h, h.first.workspace_id, [...scopes, 'configs.list']);
    const hash = new Uint8Array(hashServiceKey(key, h.env.KEY_PEPPER));
    const { apiKeyId } = await h.db.apiKeySecret.findUniqueOrThrow({ where: { hash } });
    await h.db.apiKey.update({ where: { id: apiKeyId }, data: { createdByUserId: userId } });
    return key;
  }

  async function statuses(key: string, path: string): Promise<Record<string, number>> {
    const caller = h.as(key);
    return {
      read: (await caller.get(path)).status,
      update: (await caller.put(path, { name: 'y' })).status,
      rotate: (await caller.post(`${path}/rotate`)).status,
      delete: (await caller.delete(path)).status,
    };
  }
  const all = { read: 200, update: 200, rotate: 200, delete: 200 };
  const none = { read: 403, update: 403, rotate: 403, delete: 403 };

  it('handles, as a member, user keys of their own only, as far as the settings go', async () => {
    const { userId } = await createPerson(h, 'member', h.first.workspace_id);
    const key = await keyOf(userId);
    const own = await made(user, { user_id: userId });
    const foreign = await made(user);
    const machine = await made(service);
    expect(await statuses(key, own.path)).toEqual({ ...none, read: 200 });
    await h.as(key).post(user, body).expect(403);

    await settings({ keys: { membersManageKeys: true } });
    const { body: list } = await h.as(key).get('/api-keys?page_size=1000').expect(200);
    expect(list.data.map((row: { user_id: string }) => row.user_id)).toEqual(
      Array.from({ length: list.total }, () => userId),
    );
    await h.as(key).post(user, body).expect(200);
    await h
      .as(key)
      .post(user, { ...body, user_id: userId })
      .expect(200);
    for (const { path } of [foreign, machine]) expect(await statuses(key, path)).toEqual(none);
    await h.as(key).post(service, body).expect(403);
    const owner = (await read(foreign.path)).user_id;
    await h
      .as(key)
      .post(user, { ...body, user_id: owner })
      .expect(403);
    expect(await statuses(key, own.path)).toEqual(all);

    await settings({ keys: { membersViewKeys: false } });
    await h.as(key).get('/api-keys').expect(403);
  });

  it('handles, as a manager, every key of the workspace unless the settings say no', async () => {
    const { userId } = await createPerson(h, 'manager', h.first.workspace_id);
    const key = await keyOf(userId);
    await h
      .as(key)
      .post(user, { ...body, user_id: userId })
      .expect(200);
    expect(await statuses(key, (await made(user)).path)).toEqual(all);
    const left = await made(service);
    await settings({ keys: { managersManageKeys: false } });
    expect(await statuses(key, left.path)).toEqual({ ...none, read: 200 });
    await h.as(key).post(service, body).expect(403);
    await settings({ keys: { managersManageKeys: false, managersViewKeys: false } });
    expect(await statuses(key, left.path)).toEqual(none);
    await h.as(key).get('/api-keys').expect(403);
    // Nobody limits an admin, and a key of nobody has its scopes.
    expect(await statuses(h.first.workspace_key, left.path)).toEqual(all);
  });
});

describe('the list of keys', () => {
  it('finds keys by id, whatever their case, and shows no secret of anybody', async () => {
    const keys = [await made(user), await made(service)];
    const wanted = `${keys[0]?.id.toUpperCase()},${keys[1]?.id}`;
    const { body: found } = await admin().get(`/api-keys?ids=${wanted}`).expect(200);
    expect(found.total).toBe(2);
    expect(found.data.map((row: { id: string }) => row.id).sort()).toEqual(
      keys.map(({ id }) => id).sort(),
    );
    for (const { key } of keys) expect(JSON.stringify(found)).not.toContain(key);
    await admin().get('/api-keys?ids=x').expect(400);
    const strangers = await h.as(h.other.admin_key).get(`/api-keys?ids=${wanted}`).expect(200);
    expect(strangers.body).toEqual({ object: 'list', total: 0, data: [] });
  });
});

it('every change of a key is in the audit log as it was and as it is, without a secret', async () => {
  const { id, path, key } = await made(service, { description: 'one' });
  await workspace().put(path, { description: 'two' }).expect(200);
  const rotated = await workspace().post(`${path}/rotate`).expect(200);
  await workspace().delete(path).expect(200);
  const entries = await h.db.auditEntry.findMany({
    where: { resourceId: id },
    orderBy: { sequence: 'asc' },
  });
  const shown = entries.map(({ action, before, after }) => [
    action,
    before && JSON.parse(before).description,
    after && JSON.parse(after).description,
  ]);
  expect(shown).toEqual([
    ['create', null, 'one'],
    ['update', 'one', 'two'],
    ['rotate', 'two', 'two'],
    ['delete', 'two', null],
  ]);
  const text = JSON.stringify(entries.map(({ sequence: _number, ...entry }) => entry));
  for (const secret of [key, rotated.body.key]) expect(text).not.toContain(secret);
});
