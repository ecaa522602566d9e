import { hashServiceKey } from '@sluice/contracts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPerson, createServiceKey } from '../support/fixture.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { dollars, report } from '../support/report.ts';

let h: Harness;
beforeAll(async () => {
  h = await startHarness();
});
afterAll(() => h.stop());

const admin = () => h.as(h.first.admin_key);
const workspace = () => h.as(h.first.workspace_key);

describe('POST /api-keys/{type}/{sub-type}', () => {
  it('creates each kind of key, and shows the secret once', async () => {
    const organisation = await admin().post('/api-keys/organisation/service', {
      name: 'Ops',
      scopes: ['audit_logs.list', 'logs:export'],
    });
    expect(organisation.status).toBe(200);
    expect(Object.keys(organisation.body).sort()).toEqual(['id', 'key', 'object']);
    expect(organisation.body).toMatchObject({
      object: 'api-key',
      key: expect.stringMatching(/^sl_[\w-]{49}$/),
    });

    const service = await admin().post('/api-keys/workspace/service', {
      name: 'CI',
      workspace_id: h.first.workspace_slug,
      scopes: ['completions.write'],
    });
    const user = await workspace().post('/api-keys/workspace/user', {
      name: 'Mine',
      workspace_id: h.first.workspace_id,
      scopes: ['completions.write'],
    });
    expect([service.status, user.status]).toEqual([200, 200]);

    const shown = await admin().get(`/api-keys/${user.body.id}`).expect(200);
    expect(shown.body).toMatchObject({
      object: 'api-key',
      type: 'workspace-user',
      workspace_id: h.first.workspace_id,
      organisation_id: h.first.organisation_id,
      status: 'active',
      creation_mode: 'api',
      defaults: { metadata: {}, allow_config_override: true },
    });
    expect(shown.body.key).toMatch(/^sl\*{7}..$/);
    // The user behind the creating key.
    expect(shown.body.user_id).toMatch(/^[0-9a-f-]{36}$/);
    const organisationKey = await admin().get(`/api-keys/${organisation.body.id}`);
    expect(organisationKey.body).not.toHaveProperty('workspace_id');
    expect(organisationKey.body.scopes).toEqual(['audit_logs.list', 'logs.export']);
  });

  it('stores no secret, only its hash', async () => {
    const created = await workspace()
      .post('/api-keys/workspace/service', { name: 'x', scopes: ['completions.write'] })
      .expect(200);
    const dump = JSON.stringify([
      await h.db.apiKey.findMany(),
      await h.db.auditEntry.findMany({ omit: { sequence: true } }),
    ]);
    expect(dump).not.toContain(created.body.key);
    const secret = await h.db.apiKeySecret.findFirstOrThrow({
      where: { apiKeyId: created.body.id },
    });
    expect(secret.hash).toHaveLength(32);
  });

  it('keeps defaults, limits and dates', async () => {
    const config = await workspace().post('/configs', {
      name: 'Default',
      config: { provider: '@demo' },
    });
    const created = await workspace().post('/api-keys/workspace/service', {
      name: 'Full',
      description: 'all of it',
      scopes: ['completions.write'],
      rate_limits: [{ type: 'requests', unit: 'rps', value: 5 }],
      usage_limits: {
        credit_limit: 10,
        type: 'cost',
        alert_threshold: 8,
        periodic_reset: 'monthly',
      },
      defaults: {
        metadata: { team: 'a', level: 3 },
        config_id: config.body.data.id,
        allow_config_override: false,
      },
      alert_emails: ['ops@example.org'],
      expires_at: '2099-01-01T00:00:00Z',
      rotation_policy: { rotation_period: 'weekly' },
    });
    expect(created.status).toBe(200);
    const shown = await workspace().get(`/api-keys/${created.body.id}`);
    expect(shown.body).toMatchObject({
      description: 'all of it',
      rate_limits: [{ type: 'requests', unit: 'rps', value: 5 }],
      usage_limits: { credit_limit: 10, alert_threshold: 8 },
      defaults: {
        metadata: { team: 'a', level: '3' },
        config_id: expect.stringMatching(/^pc-defaul-/),
        allow_config_override: false,
      },
      alert_emails: ['ops@example.org'],
      expires_at: '2099-01-01T00:00:00.000Z',
      rotation_policy: { rotation_period: 'weekly' },
    });
    await workspace().delete(`/configs/${shown.body.defaults.config_id}`).expect(400);
  });

  it.each([
    ['no name', 'workspace/service', { scopes: ['completions.write'] }, 'body.name'],
    ['no scopes', 'workspace/service', { name: 'x' }, 'body.scopes'],
    ['empty scopes', 'workspace/service', { name: 'x', scopes: [] }, 'body.scopes'],
    [
      'an unknown scope',
      'workspace/service',
      { name: 'x', scopes: ['completions.write', 'moon.land'] },
      'body.scopes[1]',
    ],
    [
      'a scope of another kind of key',
      'workspace/service',
      { name: 'x', scopes: ['audit_logs.list'] },
      'body.scopes[0]',
    ],
    [
      'an unknown config',
      'workspace/service',
      { name: 'x', scopes: ['completions.write'], defaults: { config_id: 'pc-none' } },
      'body.defaults.config_id',
    ],
    [
      'a wrong limit',
      'workspace/service',
      {
        name: 'x',
        scopes: ['completions.write'],
        rate_limits: [{ type: 'requests', unit: 'rpx', value: 1 }],
      },
      'body.rate_limits[0].unit',
    ],
    [
      'a wrong date',
      'workspace/service',
      { name: 'x', scopes: ['completions.write'], expires_at: 'soon' },
      'body.expires_at',
    ],
    [
      'a stranger as user',
      'workspace/user',
      { name: 'x', scopes: ['completions.write'], user_id: '183f497a-2a7f-4f47-992e-26213fa863ee' },
      'body.user_id',
    ],
    [
      'no workspace',
      'workspace/service',
      { name: 'x', scopes: ['completions.write'] },
      'body.workspace_id',
      true,
    ],
    [
      'a user key of an organisation',
      'organisation/user',
      { name: 'x', scopes: ['audit_logs.list'] },
      'path.type',
      true,
    ],
  ])('refuses %s', async (_case, path, body, field, asAdmin = false) => {
    const named =
      asAdmin || field === 'body.workspace_id'
        ? body
        : { ...body, workspace_id: h.first.workspace_id };
    const answer = await admin().post(`/api-keys/${path}`, named);
    expect([answer.status, answer.body.data?.errorCode, answer.body.data?.field]).toEqual([
      400,
      'AB01',
      field,
    ]);
  });

  it('gives away no scope that the caller does not hold', async () => {
    const limited = await createServiceKey(h, h.first.workspace_id, [
      'workspace_service_api_keys.create',
      'workspace_service_api_keys.update',
      'workspace_service_api_keys.rotate',
      'completions.write',
    ]);
    await h
      .as(limited)
      .post('/api-keys/workspace/service', { name: 'ok', scopes: ['completions.write'] })
      .expect(200);
    const wide = await h.as(limited).post('/api-keys/workspace/service', {
      name: 'no',
      scopes: ['completions.write', 'providers.delete'],
    });
    expect([wide.status, wide.body.data.errorCode]).toEqual([403, 'AB03']);
    expect(wide.body.data.message).toContain('providers.delete');

    const strong = await workspace().post('/api-keys/workspace/service', {
      name: 'strong',
      scopes: ['providers.delete'],
    });
    await h
      .as(limited)
      .put(`/api-keys/${strong.body.id}`, { scopes: ['providers.delete', 'completions.write'] })
      .expect(200);
    await h
      .as(limited)
      .put(`/api-keys/${strong.body.id}`, { scopes: ['providers.create'] })
      .expect(403);
    // Rotating shows a secret that can do more than the caller.
    await h.as(limited).post(`/api-keys/${strong.body.id}/rotate`).expect(403);
  });

  it('lets only keys of a person who may create keys create keys for persons', async () => {
    const manager = await createPerson(h, 'manager', h.first.workspace_id);
    const member = await createPerson(h, 'member', h.first.workspace_id);
    const service = async (userId: string) => {
      const key = await createServiceKey(h, h.first.workspace_id, [
        'workspace_user_api_keys.create',
        'completions.write',
      ]);
      const hash = new Uint8Array(hashServiceKey(key, h.env.KEY_PEPPER));
      const { apiKeyId } = await h.db.apiKeySecret.findUniqueOrThrow({ where: { hash } });
      await h.db.apiKey.update({ where: { id: apiKeyId }, data: { createdByUserId: userId } });
      return key;
    };
    const body = { name: 'x', scopes: ['completions.write'] };
    await h
      .as(await service(manager.userId))
      .post('/api-keys/workspace/user', body)
      .expect(200);
    await h
      .as(await service(member.userId))
      .post('/api-keys/workspace/user', body)
      .expect(403);
    await h.as(manager.key).post('/api-keys/workspace/user', body).expect(403);
  });
});

describe('GET /api-keys', () => {
  it('pages, and shows only the kinds whose scope the caller holds', async () => {
    const all = await admin().get('/api-keys?page_size=1000');
    expect(all.body).toMatchObject({ object: 'list', total: all.body.data.length });
    const second = await admin().get('/api-keys?page_size=2&current_page=1');
    expect(second.body.total).toBe(all.body.total);
    expect(second.body.data.map((key: { id: string }) => key.id)).toEqual(
      all.body.data.slice(2, 4).map((key: { id: string }) => key.id),
    );

    const services = await createServiceKey(h, h.first.workspace_id, [
      'workspace_service_api_keys.list',
    ]);
    const listed = await h.as(services).get('/api-keys?page_size=1000');
    expect(new Set(listed.body.data.map((key: { type: string }) => key.type))).toEqual(
      new Set(['workspace-service']),
    );
    const [one] = listed.body.data;
    const byId = await admin().get(`/api-keys?ids=${one.id}`);
    expect(byId.body.data.map((key: { id: string }) => key.id)).toEqual([one.id]);
    await admin().get('/api-keys?page_size=1001').expect(400);
    await admin().get('/api-keys?current_page=-1').expect(400);
  });
});

describe('PUT /api-keys/{id}', () => {
  it('changes what is named, clears what is null, keeps the rest', async () => {
    const created = await workspace().post('/api-keys/workspace/service', {
      name: 'Before',
      scopes: ['completions.write'],
      rate_limits: [{ type: 'requests', unit: 'rpm', value: 5 }],
      usage_limits: { credit_limit: 10 },
      expires_at: '2099-01-01T00:00:00Z',
    });
    const path = `/api-keys/${created.body.id}`;
    expect(
      (await workspace().put(path, { name: 'After', expires_at: null, usage_limits: null })).body,
    ).toEqual({});
    const changed = (await workspace().get(path)).body;
    expect(changed).not.toHaveProperty('expires_at');
    expect(changed).not.toHaveProperty('usage_limits');
    expect(changed).toMatchObject({
      name: 'After',
      scopes: ['completions.write'],
      rate_limits: [{ type: 'requests', unit: 'rpm', value: 5 }],
    });
    await workspace()
      .put(path, { scopes: ['nonsense'] })
      .expect(400);
    await workspace().put('/api-keys/not-a-uuid', { name: 'x' }).expect(400);
    await workspace()
      .put('/api-keys/183f497a-2a7f-4f47-992e-26213fa863ee', { name: 'x' })
      .expect(404);
  });

  it('makes an exhausted key active again when its usage is reset or its credit raised', async () => {
    const created = await workspace().post('/api-keys/workspace/service', {
      name: 'x',
      scopes: ['completions.write'],
      usage_limits: { credit_limit: 10 },
    });
    const path = `/api-keys/${created.body.id}`;
    const shown = async () => (await workspace().get(path)).body;
    const limitId = (await shown()).usage_limits.id;
    await report(h, [{ limitId, posted: dollars(10.5) }]);
    await workspace()
      .put(path, { usage_limits: { credit_limit: 9 } })
      .expect(200);
    expect((await shown()).status).toBe('exhausted');
    await workspace()
      .put(path, { usage_limits: { credit_limit: 20 } })
      .expect(200);
    expect(await shown()).toMatchObject({
      status: 'active',
      usage_limits: { current_usage: 10.5 },
    });
    await report(h, [{ limitId, posted: dollars(20) }]);
    expect((await shown()).status).toBe('exhausted');
    await workspace().put(path, { reset_usage: true }).expect(200);
    expect(await shown()).toMatchObject({ status: 'active', usage_limits: { current_usage: 0 } });
  });
});

describe('DELETE /api-keys/{id}', () => {
  it('stops the key at once', async () => {
    const created = await workspace().post('/api-keys/workspace/service', {
      name: 'x',
      scopes: ['configs.list'],
    });
    await h.as(created.body.key).get('/configs').expect(200);
    expect((await workspace().delete(`/api-keys/${created.body.id}`)).body).toEqual({});
    await h.as(created.body.key).get('/configs').expect(401);
    await workspace().delete(`/api-keys/${created.body.id}`).expect(404);
  });

  it('keeps the last organisation key', async () => {
    const list = await h.as(h.other.admin_key).get('/api-keys');
    const only = list.body.data.find(
      (key: { type: string }) => key.type === 'organisation-service',
    );
    await h.as(h.other.admin_key).delete(`/api-keys/${only.id}`).expect(400);
  });
});

describe('POST /api-keys/{id}/rotate', () => {
  it('lets both secrets work until the overlap ends', async () => {
    const created = await workspace().post('/api-keys/workspace/service', {
      name: 'x',
      scopes: ['configs.list'],
    });
    const rotated = await workspace().post(`/api-keys/${created.body.id}/rotate`, {
      key_transition_period_ms: 3_600_000,
    });
    expect(rotated.body).toMatchObject({ id: created.body.id, key: expect.stringMatching(/^sl_/) });
    const inMs = Date.parse(rotated.body.key_transition_expires_at) - Date.now();
    expect(Math.abs(inMs - 3_600_000)).toBeLessThan(10_000);
    await h.as(created.body.key).get('/configs').expect(200);
    await h.as(rotated.body.key).get('/configs').expect(200);

    const again = await workspace().post(`/api-keys/${created.body.id}/rotate`);
    expect(again.status).toBe(400);

    h.clock.offsetMs = 3_600_000 + 10_000;
    try {
      const old = await h.as(created.body.key).get('/configs');
      expect([old.status, old.body.data.code]).toEqual([401, 'auth.expired_key']);
      await h.as(rotated.body.key).get('/configs').expect(200);
      await workspace().post(`/api-keys/${created.body.id}/rotate`).expect(200);
      expect(await h.db.apiKeySecret.count({ where: { apiKeyId: created.body.id } })).toBe(2);
    } finally {
      h.clock.offsetMs = 0;
    }
  });

  it('refuses an overlap under half an hour', async () => {
    const created = await workspace().post('/api-keys/workspace/service', {
      name: 'x',
      scopes: ['configs.list'],
    });
    await workspace()
      .post(`/api-keys/${created.body.id}/rotate`, { key_transition_period_ms: 1000 })
      .expect(400);
  });
});

it('an expired key is refused, and shown as expired', async () => {
  const created = await workspace().post('/api-keys/workspace/service', {
    name: 'x',
    scopes: ['configs.list'],
    expires_at: '2020-01-01T00:00:00Z',
  });
  const answer = await h.as(created.body.key).get('/configs');
  expect([answer.status, answer.body.data.code, answer.body.data.errorCode]).toEqual([
    401,
    'auth.expired_key',
    'AB05',
  ]);
  expect((await workspace().get(`/api-keys/${created.body.id}`)).body.status).toBe('expired');
});

describe('a suspended key', () => {
  const newKey = async () => {
    const body = { name: 'Suspended', scopes: ['configs.list'] };
    return (await workspace().post('/api-keys/workspace/service', body).expect(200)).body;
  };

  it('is refused by a code of its own until it is resumed, whichever of its secrets is sent', async () => {
    const { id, key } = await newKey();
    const rotated = await workspace().post(`/api-keys/${id}/rotate`).expect(200);
    for (const _twice of [1, 2]) await workspace().post(`/api-keys/${id}/suspend`).expect(200);
    for (const secret of [key, rotated.body.key]) {
      const answer = await h.as(secret).get('/configs');
      expect([answer.status, answer.body.data.code]).toEqual([403, 'auth.suspended_key']);
    }
    expect((await workspace().get(`/api-keys/${id}`)).body.status).toBe('suspended');
    // What is changed meanwhile does not resume it.
    await workspace().put(`/api-keys/${id}`, { expires_at: '2099-01-01T00:00:00Z' }).expect(200);
    await h.as(key).get('/configs').expect(403);
    await workspace().post(`/api-keys/${id}/resume`).expect(200);
    await h.as(key).get('/configs').expect(200);
    const log = await admin().get(
      '/audit-logs?action=suspend&resource_type=api_keys&start_time=2020-01-01&end_time=2099-01-01',
    );
    expect(log.body.records[0]).toMatchObject({ resource_id: id, response_status_code: 200 });
  });

  it('is never the last of the organisation, with which others are resumed', async () => {
    const { body } = await h.as(h.other.admin_key).get('/api-keys');
    const own = body.data.find((each: { type: string }) => each.type === 'organisation-service');
    const suspend = () => h.as(h.other.admin_key).post(`/api-keys/${own.id}/suspend`);
    expect((await suspend()).status).toBe(400);
    const scopes = ['organisation_service_api_keys.update'];
    const path = '/api-keys/organisation/service';
    const second = await h.as(h.other.admin_key).post(path, { name: 'Second', scopes });
    await suspend().expect(200);
    await h.as(h.other.admin_key).get('/api-keys').expect(403);
    await h.as(second.body.key).post(`/api-keys/${own.id}/resume`).expect(200);
    await h.as(h.other.admin_key).get('/api-keys').expect(200);
  });
});
