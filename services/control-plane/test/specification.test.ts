import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPerson, policyBody } from './fixture.ts';
import { type Harness, startHarness } from './harness.ts';

let h: Harness;
beforeAll(async () => {
  h = await startHarness();
});
afterAll(() => h.stop());

const admin = () => h.as(h.first.admin_key);
const workspace = () => h.as(h.first.workspace_key);
const path = '/policies/rate-limits';

const create = async (change: object = {}) => {
  const answer = await workspace().post(path, { ...policyBody, ...change });
  expect(answer.status, answer.text).toBe(200);
  return `${path}/${answer.body.id}`;
};

/** Values of a field with the status that each must meet, on create and on update. */
const fields: [string, unknown, number][] = [
  ['name', 'n'.repeat(255), 200],
  ['name', '😀'.repeat(255), 200],
  ['name', 'n'.repeat(256), 400],
  ...(['rpm', 'rph', 'rpd', 'rpw'] as const).map((unit): [string, unknown, number] => [
    'unit',
    unit,
    200,
  ]),
  ['unit', 'rps', 400],
  ['unit', 'RPM', 400],
  ['unit', null, 400],
  ['value', 1, 200],
  ['value', 1.5, 200],
  ['value', Number.MAX_SAFE_INTEGER, 200],
  ['value', 0, 400],
  ['value', 0.5, 400],
  ['value', -1, 400],
  ['value', '100', 400],
  ['value', 2 ** 53, 400],
  ['value', 1e308, 400],
  ['value', null, 400],
];

describe('a rate-limits policy', () => {
  it.each(fields)('of %s %j answers %i, made or changed', async (field, value, status) => {
    const made = await workspace().post(path, { ...policyBody, [field]: value });
    expect(made.status, made.text).toBe(status);
    const one = await create();
    const changed = await workspace().put(one, { [field]: value });
    expect(changed.status, changed.text).toBe(status);
    const shown = (await workspace().get(one)).body;
    expect(shown[field]).toEqual(
      status === 200 ? value : policyBody[field as keyof typeof policyBody],
    );
  });

  it('keeps its type and its groups, whatever a change says', async () => {
    const one = await create();
    await workspace()
      .put(one, { type: 'tokens', group_by: [{ key: 'model' }], target: 'mcp_tools' })
      .expect(200);
    expect((await workspace().get(one)).body).toMatchObject({
      type: policyBody.type,
      group_by: policyBody.group_by,
      target: 'llm',
    });
  });

  it.each([
    ['a list', '[]'],
    ['text', '"x"'],
    ['a number', '5'],
    ['null', 'null'],
    ['nothing', ''],
    ['half an object', '{"value":'],
  ])('is not changed by a body that is %s', async (_what, body) => {
    const one = await create();
    const answer = await workspace().put(one).set('content-type', 'application/json').send(body);
    expect([answer.status, answer.body.data?.errorCode]).toEqual([400, 'AB01']);
    await workspace().put(one, {}).expect(200);
    expect((await workspace().get(one)).body.value).toBe(policyBody.value);
  });

  it('is found in its status only, and stays as it was once archived', async () => {
    const one = await create();
    const statuses = async () => [
      (await workspace().get(one)).status,
      (await workspace().get(`${one}?status=active`)).status,
      (await workspace().get(`${one}?status=archived`)).status,
    ];
    expect(await statuses()).toEqual([200, 200, 404]);
    await workspace().delete(one).expect(200, {});
    expect(await statuses()).toEqual([404, 404, 200]);
    for (const answer of [
      await workspace().put(one, { value: 5 }),
      await workspace().delete(one),
      await workspace().delete(`${one}?status=archived`),
    ])
      expect([answer.status, answer.body.data.errorCode]).toEqual([404, 'AB08']);
    expect((await workspace().get(`${one}?status=archived`)).body.value).toBe(policyBody.value);
    await workspace().get(`${one}?status=deleted`).expect(400);
  });

  it('is unknown under another id, and to another organisation', async () => {
    const one = await create();
    for (const [id, status] of [
      ['not-a-uuid', 400],
      ['00000000-0000-0000-0000-00000000000', 400],
      [randomUUID(), 404],
    ] as const)
      for (const answer of [
        await workspace().get(`${path}/${id}`),
        await workspace().put(`${path}/${id}`, { value: 5 }),
        await workspace().delete(`${path}/${id}`),
      ])
        expect(answer.status).toBe(status);
    for (const key of [h.other.admin_key, h.other.workspace_key])
      for (const answer of [
        await h.as(key).get(one),
        await h.as(key).put(one, { value: 5 }),
        await h.as(key).delete(one),
      ])
        expect([answer.status, answer.body.data.errorCode]).toEqual([404, 'AB08']);
    await workspace().get(one.toUpperCase().replace(path.toUpperCase(), path)).expect(200);
    const elsewhere = { ...policyBody, organisation_id: h.other.organisation_id };
    await workspace().post(path, elsewhere).expect(403);
    // A workspace that the caller names is not looked at when their key has one.
    const named = { ...policyBody, workspace_id: h.other.workspace_id };
    const made = await workspace().post(path, named).expect(200);
    const shown = await workspace().get(`${path}/${made.body.id}`);
    expect(shown.body.workspace_id).toBe(h.first.workspace_id);
  });
});

describe('a new key', () => {
  it('of the organisation needs no more than a name and scopes, and an organisation key', async () => {
    const to = '/api-keys/organisation/service';
    const body = { name: 'Admin', scopes: ['logs.export', 'logs.list', 'logs.view'] };
    const made = await admin().post(to, body).expect(200);
    expect(Object.keys(made.body).sort()).toEqual(['id', 'key', 'object']);
    await h.as(made.body.key).get('/configs').expect(403);
    await workspace().post(to, body).expect(403);
    await admin().post(to, { name: 'x' }).expect(400);
    await admin().post(to, { scopes: body.scopes }).expect(400);
    await admin()
      .post(to, { ...body, scopes: [] })
      .expect(400);
    // Admin keys call no models.
    await admin()
      .post(to, { ...body, scopes: ['completions.write'] })
      .expect(400);
  });

  it('of a workspace is made by managers, not by members', async () => {
    const to = '/api-keys/workspace/user';
    const body = {
      name: 'Mine',
      workspace_id: h.first.workspace_slug,
      scopes: ['virtual_keys.create', 'virtual_keys.update', 'completions:write'],
    };
    // The key of the first workspace belongs to the owner, who needs no user_id.
    const made = await workspace().post(to, body).expect(200);
    const shown = await workspace().get(`/api-keys/${made.body.id}`).expect(200);
    expect(shown.body).toMatchObject({
      type: 'workspace-user',
      scopes: ['virtual_keys.create', 'virtual_keys.update', 'completions.write'],
    });
    const manager = await createPerson(h, 'manager', h.first.workspace_id);
    const member = await createPerson(h, 'member', h.first.workspace_id);
    for (const { key, userId } of [manager, member])
      await h
        .as(key)
        .post(to, { ...body, user_id: userId })
        .expect(403);
    const { workspace_id: _without, ...nowhere } = body;
    expect((await admin().post(to, nowhere)).body.data).toMatchObject({
      errorCode: 'AB01',
      field: 'body.workspace_id',
    });
    await admin()
      .post(to, { ...body, user_id: member.userId })
      .expect(200);
    await admin().post('/api-keys/organisation/user', body).expect(400);
  });
});
