import { randomUUID } from 'node:crypto';
import type { Test } from 'supertest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPerson, policyBody } from './support/fixture.ts';
import { type Harness, startHarness } from './support/harness.ts';

let h: Harness;
beforeAll(async () => {
  h = await startHarness();
});
afterAll(() => h.stop());

const admin = () => h.as(h.first.admin_key);
const workspace = () => h.as(h.first.workspace_key);
const path = '/policies/rate-limits';

/** What stands in no place of a body, and what stands in some. */
const strangers: unknown[] = [null, true, 5, 'x', [], {}];
const without = (...kinds: string[]) =>
  strangers.filter((value) => !kinds.includes(value === null ? 'null' : typeof value));

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
  ['value', 1.5, 400],
  ['value', Number.MAX_SAFE_INTEGER, 200],
  ['value', 0, 400],
  ['value', 0.5, 400],
  ['value', -1, 400],
  ['value', '100', 400],
  ['value', 2 ** 53, 400],
  ['value', 1e308, 400],
  ['value', null, 400],
];

const lenient = (call: Test) => call.set('x-service-lenient-input', 'true');

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

  it('names the field whose type is wrong, when it is made and when it is changed', async () => {
    const one = await create();
    const condition = { key: 'api_key', value: '*' };
    const wrong: [string, unknown, boolean][] = [
      ...without('null', 'string').map((name): [string, unknown, boolean] => ['name', name, true]),
      ...strangers.map((unit): [string, unknown, boolean] => ['unit', unit, true]),
      ...without('number').map((value): [string, unknown, boolean] => ['value', value, true]),
      ...strangers.map((type): [string, unknown, boolean] => ['type', type, false]),
      ...strangers.map((list): [string, unknown, boolean] => ['conditions', list, true]),
      ...strangers.map((list): [string, unknown, boolean] => ['group_by', list, false]),
      ...without('string').map((id): [string, unknown, boolean] => ['organisation_id', id, false]),
      ['conditions', [{ ...condition, key: 5 }], true],
      ['conditions', [condition, { ...condition, value: {} }], true],
      ['conditions', [{ ...condition, excludes: 5 }], true],
      ['group_by', [{}], false],
    ];
    for (const [field, value, mayChange] of wrong) {
      const answers = [await workspace().post(path, { ...policyBody, [field]: value })];
      if (mayChange) answers.push(await workspace().put(one, { [field]: value }));
      for (const { status, body } of answers) {
        const what = `${field}: ${JSON.stringify(value)}`;
        expect([what, status, body.data?.errorCode]).toEqual([what, 400, 'AB01']);
        expect(body.data.field).toMatch(new RegExp(`^body\\.${field}\\b`));
      }
    }
    expect((await workspace().get(one)).body).toMatchObject(policyBody);
  });

  it('names fields that nobody knows, and changes nothing', async () => {
    const unknown = {
      valeu: 7,
      status: 'archived',
      conditions: [{ ...policyBody.conditions[0], vlaue: 1 }],
    };
    const refused = await workspace().post(path, { ...policyBody, ...unknown });
    expect(refused.status, refused.text).toBe(400);
    expect(refused.body.data.errors).toEqual([
      expect.stringMatching(
        /^body\.conditions\[0\]\.vlaue: is no field here; did you mean value\?$/,
      ),
      expect.stringMatching(/^body\.valeu: is no field here; did you mean value\?$/),
      expect.stringMatching(/^body\.status: is no field here; there are name, /),
    ]);
    const one = await create();
    const kept = await workspace().put(one, { value: 7, colour: 'red' });
    expect([kept.status, kept.body.data.field]).toEqual([400, 'body.colour']);
    expect((await workspace().get(one)).body).toMatchObject(policyBody);
  });

  it('leaves them out with a warning for who asks, and says so', async () => {
    const unknown = { colour: 'red', id: randomUUID(), status: 'archived', nested: { value: 0 } };
    const made = await lenient(workspace().post(path, { ...policyBody, ...unknown })).expect(200);
    const one = `${path}/${made.body.id}`;
    const changed = await lenient(workspace().put(one, { ...unknown, value: 7 })).expect(200);
    expect(changed.body.warnings).toHaveLength(4);
    const { body } = await workspace().get(one).expect(200);
    expect(body).toMatchObject({ value: 7, status: 'active', id: made.body.id });
    expect(body).not.toHaveProperty('colour');
    expect(body).not.toHaveProperty('nested');
    await workspace().get(`${one}?colour=red`).expect(400);
    expect((await lenient(workspace().get(`${one}?colour=red`))).body.warnings).toEqual([
      'query.colour: is no parameter here; there are status, workspace_id',
    ]);
  });

  it('is where an organisation key says, and nowhere else', async () => {
    const second = await admin().post('/admin/workspaces', { name: 'Second' }).expect(200);
    const made = async (workspace_id: string) =>
      admin().post(path, { ...policyBody, workspace_id });
    for (const name of [h.first.workspace_id, h.first.workspace_slug]) {
      const { body } = await made(name);
      const shown = await admin().get(`${path}/${body.id}`).expect(200);
      expect(shown.body.workspace_id).toBe(h.first.workspace_id);
    }
    for (const name of [h.other.workspace_id, h.other.workspace_slug, 'ws-none'])
      expect((await made(name)).status).toBe(404);
    // Of the same organisation, but not of this key.
    const elsewhere = await made(second.body.slug);
    for (const answer of [
      await workspace().get(`${path}/${elsewhere.body.id}`),
      await workspace().put(`${path}/${elsewhere.body.id}`, { value: 5 }),
    ])
      expect([answer.status, answer.body.data.errorCode]).toEqual([403, 'AB03']);
  });

  it('keeps its type and its groups, whatever a change says', async () => {
    const one = await create();
    for (const change of [
      { type: 'tokens' },
      { group_by: [{ key: 'model' }] },
      { target: 'mcp_tools' },
    ]) {
      const { body } = await workspace().put(one, change).expect(400);
      expect(body.data.field).toBe(`body.${Object.keys(change)}`);
    }
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
    for (const answer of [await workspace().put(one, { value: 5 }), await workspace().delete(one)])
      expect([answer.status, answer.body.data.errorCode]).toEqual([404, 'AB08']);
    await workspace().delete(`${one}?status=archived`).expect(400);
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

  const organisation = '/api-keys/organisation/service';
  const user = '/api-keys/workspace/user';

  /** Sent by a key that may do so. */
  const send = (to: string, body: object) =>
    to === organisation ? admin().post(to, body) : workspace().post(to, body);
  const scopes = ['logs.export', 'logs.list', 'logs.view', 'virtual_keys.create'];

  it.each([organisation, user])('at %s has a name of 1 to 255 characters', async (to) => {
    for (const [name, status] of [
      ['n', 200],
      ['n'.repeat(255), 200],
      ['😀'.repeat(255), 200],
      ['n'.repeat(256), 400],
      ['😀'.repeat(256), 400],
      ['', 400],
      ['   ', 400],
    ] as const) {
      const answer = await send(to, { name, scopes });
      expect([name.length, answer.status]).toEqual([name.length, status]);
      if (status === 400) expect(answer.body.data.field).toBe('body.name');
      else expect((await admin().get(`/api-keys/${answer.body.id}`)).body.name).toBe(name);
    }
  });

  it.each([organisation, user])(
    'at %s has each of its scopes once, spelled with a dot',
    async (to) => {
      const sent = ['logs:export', 'logs.export', 'logs.list', ' logs.list ', 'logs:list'];
      const { body } = await send(to, { name: 'x', scopes: sent });
      const shown = await admin().get(`/api-keys/${body.id}`).expect(200);
      expect(shown.body.scopes).toEqual(['logs.export', 'logs.list']);
    },
  );

  it.each([organisation, user])(
    'at %s has known scopes only, and says which is not',
    async (to) => {
      const foreign = to === organisation ? 'completions.write' : 'audit_logs.list';
      for (const scope of [
        'moon.land',
        'logs',
        'logs.*',
        '*',
        '',
        'LOGS.LIST',
        'logs/list',
        foreign,
      ]) {
        const answer = await send(to, { name: 'x', scopes: ['logs.list', scope] });
        expect([scope, answer.status, answer.body.data?.field]).toEqual([
          scope,
          400,
          'body.scopes[1]',
        ]);
      }
    },
  );

  it.each([organisation, user])(
    'at %s is refused with the field whose type is wrong',
    async (to) => {
      const wrong: [string, unknown][] = [
        ...without('string').map((name): [string, unknown] => ['name', name]),
        ...strangers.map((list): [string, unknown] => ['scopes', list]),
        ['scopes', [5]],
        ['scopes', [null]],
        ...without('string').map((id): [string, unknown] => ['workspace_id', id]),
      ];
      for (const [field, value] of wrong) {
        const answer = await send(to, { name: 'x', scopes, [field]: value });
        const what = `${field}: ${JSON.stringify(value)}`;
        expect([what, answer.status, answer.body.data?.errorCode]).toEqual([what, 400, 'AB01']);
        expect(answer.body.data.field).toMatch(new RegExp(`^body\\.${field}\\b`));
      }
      for (const body of ['', '[]', 'null', '"x"', '{}', '{"name":']) {
        const caller = to === organisation ? admin() : workspace();
        const answer = await caller.post(to).set('content-type', 'application/json').send(body);
        expect([body, answer.status, answer.body.data?.errorCode]).toEqual([body, 400, 'AB01']);
      }
    },
  );

  it.each([organisation, user])(
    'at %s names fields that nobody knows, or leaves them out for who asks',
    async (to) => {
      const unknown = {
        key: 'sl_mine',
        id: randomUUID(),
        type: 'x',
        status: 'expired',
        colour: {},
      };
      const refused = await send(to, { name: 'x', scopes, ...unknown }).expect(400);
      expect(refused.body.data.errors).toHaveLength(5);
      const { body } = await lenient(send(to, { name: 'x', scopes, ...unknown })).expect(200);
      expect(Object.keys(body).sort()).toEqual(['id', 'key', 'object', 'warnings']);
      expect(body.id).not.toBe(unknown.id);
      const shown = await admin().get(`/api-keys/${body.id}`).expect(200);
      expect(shown.body).toMatchObject({
        status: 'active',
        type: to === organisation ? 'organisation-service' : 'workspace-user',
      });
      expect(shown.body).not.toHaveProperty('colour');
    },
  );

  it('is made in the workspace of the key that makes it, or in the one an organisation key names', async () => {
    const second = await admin().post('/admin/workspaces', { name: 'Third' }).expect(200);
    const { id: ownerId } = await h.db.user.findFirstOrThrow({
      where: { organisationId: h.first.organisation_id, role: 'owner' },
    });
    const place = async (answer: { body: { id: string } }) =>
      (await admin().get(`/api-keys/${answer.body.id}`).expect(200)).body.workspace_id;
    for (const name of [
      second.body.slug,
      h.other.workspace_id,
      h.other.workspace_slug,
      'ws-none',
    ]) {
      const ignored = await workspace().post(user, { name: 'x', scopes, workspace_id: name });
      expect([name, await place(ignored)]).toEqual([name, h.first.workspace_id]);
    }
    const named = (workspace_id: string) =>
      admin().post(user, { name: 'x', scopes, workspace_id, user_id: ownerId });
    for (const name of [h.first.workspace_id, h.first.workspace_slug])
      expect(await place(await named(name).expect(200))).toBe(h.first.workspace_id);
    expect(await place(await named(second.body.slug).expect(200))).not.toBe(h.first.workspace_id);
    for (const name of [h.other.workspace_id, h.other.workspace_slug, 'ws-none']) {
      const answer = await named(name);
      expect([answer.status, answer.body.data.field]).toEqual([404, 'body.workspace_id']);
    }
    // An organisation key has no workspace to be in.
    const free = await admin()
      .post(organisation, { name: 'x', scopes, workspace_id: h.first.workspace_id })
      .expect(200);
    expect(await place(free)).toBeUndefined();
  });
});
