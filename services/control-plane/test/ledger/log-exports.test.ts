import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPerson, createServiceKey } from '../support/fixture.ts';
import { type Harness, startHarness } from '../support/harness.ts';

let h: Harness;
let second: { id: string; slug: string; key: string };
beforeAll(async () => {
  h = await startHarness();
  const made = await admin().post('/admin/workspaces', { name: 'Second' }).expect(200);
  const row = await h.db.workspace.findFirstOrThrow({ where: { slug: made.body.slug } });
  second = { id: row.id, slug: row.slug, key: await createServiceKey(h, row.id) };
});
afterAll(() => h.stop());

const workspace = () => h.as(h.first.workspace_key);
const admin = () => h.as(h.first.admin_key);
const path = '/logs/exports';
const body = {
  filters: { time_of_generation_min: '2026-01-01T00:00:00Z', cost_min: 0.5 },
  requested_data: ['id', 'cost'],
};

async function create(change: object = {}, caller = workspace()): Promise<string> {
  const answer = await caller.post(path, { ...body, ...change });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body.id;
}

const setStatus = (id: string, status: string) =>
  h.db.logExport.update({ where: { id }, data: { status } });

describe('log exports', () => {
  it('begin as drafts, in the published shapes, under both addresses', async () => {
    const made = await workspace().post(path, body).expect(200);
    expect(made.body).toEqual({ id: expect.any(String), total: 0, object: 'export' });
    const item = {
      id: made.body.id,
      organisation_id: h.first.organisation_id,
      workspace_id: h.first.workspace_id,
      filters: { time_of_generation_min: '2026-01-01T00:00:00.000Z', cost_min: 0.5 },
      requested_data: ['id', 'cost'],
      status: 'draft',
      format: 'jsonl',
      all: false,
      description: '',
      created_at: expect.any(String),
      last_updated_at: expect.any(String),
      created_by: expect.any(String),
      object: 'export',
    };
    expect((await workspace().get(`${path}/${made.body.id}`).expect(200)).body).toEqual(item);
    expect((await workspace().get(`/log/exports/${made.body.id}`).expect(200)).body).toEqual(item);
    const list = await workspace().get(path).expect(200);
    expect(list.body).toEqual({ object: 'list', total: 1, data: [item] });
  });

  it('are of the workspace that their filters name where nothing else does, and say so of another', async () => {
    const named = (workspace_slug: string) => ({ ...body, filters: { workspace_slug } });
    const made = await admin().post(path, named(second.slug)).expect(200);
    expect(made.body.warnings).toBeUndefined();
    const kept = await h.db.logExport.findUniqueOrThrow({ where: { id: made.body.id } });
    expect(kept.workspaceId).toBe(second.id);
    await h.db.logExport.delete({ where: { id: made.body.id } });
    await admin().post(path, named('no-such-one')).expect(404);

    const own = await workspace().post(path, named(h.first.workspace_id)).expect(200);
    expect(own.body.warnings).toBeUndefined();
    const other = await workspace().post(path, named(second.slug)).expect(200);
    expect(other.body.warnings).toEqual([
      expect.stringContaining(
        `body.filters.workspace_slug: does nothing: the export is of the workspace ${h.first.workspace_slug}`,
      ),
    ]);
    const changed = await workspace().put(`${path}/${own.body.id}`, named(second.slug)).expect(200);
    expect(changed.body.warnings).toHaveLength(1);
  });

  it('know what other tools call their fields and their time', async () => {
    const id = await create({
      filters: { created_at: { gte: '2026-01-01', lte: '2026-01-31T12:00:00+01:00' } },
      requested_data: ['ai_provider', 'request_tokens', 'ai_org', 'status_code'],
    });
    expect((await workspace().get(`${path}/${id}`)).body).toMatchObject({
      filters: {
        time_of_generation_min: '2026-01-01T00:00:00.000Z',
        time_of_generation_max: '2026-01-31T11:00:00.000Z',
      },
      requested_data: ['ai_org', 'req_units', 'response_status_code'],
    });
  });

  it('are within both times where both names say when', async () => {
    const id = await create({
      filters: {
        time_of_generation_min: '2026-01-01',
        time_of_generation_max: '2026-01-20',
        created_at: { gte: '2026-01-05', lte: '2026-01-31' },
      },
    });
    expect((await workspace().get(`${path}/${id}`)).body.filters).toEqual({
      time_of_generation_min: '2026-01-05T00:00:00.000Z',
      time_of_generation_max: '2026-01-20T00:00:00.000Z',
    });
  });

  it.each([
    ['a field that there is not', { requested_data: ['id', 'colour'] }, 'body.requested_data[1]'],
    ['no fields', { requested_data: [] }, 'body.requested_data'],
    ['no filters', { filters: undefined }, 'body.filters'],
    [
      'more rows than a file may hold',
      { filters: { page_size: 50_001 } },
      'body.filters.page_size',
    ],
    ['more than its most', { filters: { cost_min: 0.5, cost_max: 0.4 } }, 'body.filters.cost_max'],
    ['a status that is none', { filters: { status_code: '2xx' } }, 'body.filters.status_code'],
    [
      'a status of caches that is none',
      { filters: { cache_status: 'HIT,hot' } },
      'body.filters.cache_status',
    ],
    [
      'a time that ends before it begins',
      {
        filters: {
          time_of_generation_min: '2026-02-01',
          time_of_generation_max: '2026-01-01',
        },
      },
      'body.filters.time_of_generation_max',
    ],
  ])('are refused with %s', async (_case, change, field) => {
    const answer = await workspace().post(path, { ...body, ...change });
    expect([answer.status, answer.body.data.errorCode, answer.body.data.field]).toEqual([
      400,
      'AB01',
      field,
    ]);
  });

  it('can be changed while they are drafts, and no longer', async () => {
    const id = await create();
    const filters = { ai_model: 'gpt-4o' };
    await workspace().put(`${path}/${id}`, { filters }).expect(200);
    expect((await workspace().get(`${path}/${id}`)).body).toMatchObject({
      filters,
      requested_data: ['id', 'cost'],
    });
    await workspace()
      .put(`${path}/${id}`, { filters: {}, requested_data: ['mode'] })
      .expect(200);
    expect((await workspace().get(`${path}/${id}`)).body).toMatchObject({
      filters: {},
      requested_data: ['mode'],
    });
    for (const status of ['in_progress', 'success', 'failed', 'stopped']) {
      await setStatus(id, status);
      const refused = await workspace().put(`${path}/${id}`, { filters }).expect(400);
      expect(refused.body.data.code).toBe('admin.refused');
    }
  });

  it('can be started from their beginning while nobody runs them, and need a store', async () => {
    const id = await create();
    const start = (caller = workspace()) => caller.post(`${path}/${id}/start`);
    for (const status of ['draft', 'failed', 'stopped']) {
      await setStatus(id, status);
      expect((await start().expect(200)).body).toEqual({
        message: 'Export started',
        object: 'export',
      });
      expect((await workspace().get(`${path}/${id}`)).body).toMatchObject({
        status: 'in_progress',
        total: 0,
      });
    }
    for (const status of ['in_progress', 'success']) {
      await setStatus(id, status);
      expect((await start().expect(400)).body.data.code).toBe('admin.refused');
    }
    await setStatus(id, 'draft');
    const bare = await h.replica({ LOG_STORE: undefined });
    const refused = await fetch(`http://127.0.0.1:${bare.httpPort}/v1${path}/${id}/start`, {
      method: 'POST',
      headers: { 'x-service-api-key': h.first.workspace_key },
    });
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({ data: { code: 'admin.exports_unavailable' } });
    expect((await workspace().get(`${path}/${id}`)).body.status).toBe('draft');
  });

  it('can be stopped before they have ended, again and again', async () => {
    const id = await create();
    const cancel = () => workspace().post(`${path}/${id}/cancel`);
    for (const status of ['draft', 'in_progress', 'stopped']) {
      await setStatus(id, status);
      expect((await cancel().expect(200)).body).toEqual({
        message: 'Export stopped',
        object: 'export',
      });
      expect((await workspace().get(`${path}/${id}`)).body.status).toBe('stopped');
    }
    for (const status of ['success', 'failed']) {
      await setStatus(id, status);
      expect((await cancel().expect(400)).body.data.code).toBe('admin.refused');
    }
  });

  it('have no file before they succeeded', async () => {
    const id = await create();
    for (const status of ['draft', 'in_progress', 'failed', 'stopped']) {
      await setStatus(id, status);
      const refused = await workspace().get(`${path}/${id}/download`).expect(400);
      expect(refused.body.data.code).toBe('admin.refused');
    }
  });

  it('are shown to people when they are their own, to services in their reach', async () => {
    const manager = await createPerson(h, 'manager', h.first.workspace_id);
    const person = h.as(manager.key);
    const mine = await create({}, person);
    const ofService = await create();
    const elsewhere = await create({ workspace_id: second.slug }, admin());
    const listed = async (caller: ReturnType<typeof admin>, query = '') => {
      const answer = await caller.get(`${path}?${query}`).expect(200);
      return answer.body.data.map(({ id }: { id: string }) => id) as string[];
    };
    expect(await listed(person)).toEqual([mine]);
    expect((await person.get(`${path}/${mine}`)).body.created_by).toBe(manager.userId);
    await person.get(`${path}/${ofService}`).expect(404);
    await person.post(`${path}/${ofService}/cancel`).expect(404);
    expect(await listed(workspace())).toEqual(expect.arrayContaining([mine, ofService]));
    expect(await listed(workspace(), `workspace_id=${second.id}`)).not.toContain(elsewhere);
    expect(await listed(admin())).toEqual(expect.arrayContaining([mine, ofService, elsewhere]));
    expect(await listed(admin(), `workspace_id=${second.id}`)).toEqual([elsewhere]);
    await workspace().get(`${path}/${elsewhere}`).expect(403);
    await h.as(h.other.admin_key).get(`${path}/${elsewhere}`).expect(404);
    expect((await admin().post(path, body).expect(400)).body.data.field).toBe('body.workspace_id');
  });

  it('obey the fields that the settings deny, by any name of a field', async () => {
    const settings = (organisation: object, ofSecond: object) =>
      Promise.all([
        h.db.organisation.update({
          where: { id: h.first.organisation_id },
          data: { settings: organisation },
        }),
        h.db.workspace.update({ where: { id: second.id }, data: { settings: ofSecond } }),
      ]);
    const restrictions = async (key: string, query = '') =>
      (await h.as(key).get(`${path}/field-restrictions?${query}`).expect(200)).body;
    const draft = await create({ requested_data: ['response'] });
    expect(await restrictions(h.first.workspace_key)).toEqual({ deniedFields: [] });
    await settings(
      {
        export_settings: { deniedFields: ['ai_provider', 'response'] },
        workspace_overrides: { export_settings: true },
      },
      { export_settings: { deniedFields: ['request'] } },
    );
    const ofOrganisation = { deniedFields: ['ai_provider', 'response'] };
    expect(await restrictions(h.first.admin_key)).toEqual(ofOrganisation);
    expect(await restrictions(h.first.workspace_key)).toEqual(ofOrganisation);
    expect(await restrictions(h.first.admin_key, `workspace_id=${second.slug}`)).toEqual({
      deniedFields: ['request'],
    });
    for (const [key, fields, field] of [
      [h.first.workspace_key, ['id', 'ai_org'], 'body.requested_data[1]'],
      [h.first.workspace_key, ['ai_provider'], 'body.requested_data[0]'],
      [second.key, ['id', 'request'], 'body.requested_data[1]'],
    ] as const) {
      const answer = await h
        .as(key)
        .post(path, { ...body, requested_data: fields })
        .expect(400);
      expect(answer.body.data.field).toBe(field);
    }
    await create({ requested_data: ['ai_org'] }, h.as(second.key));
    await workspace().put(`${path}/${draft}`, { filters: {} }).expect(400);
    await settings({}, {});
  });

  it('are audited, their refused starts too', async () => {
    const id = await create();
    await workspace()
      .put(`${path}/${id}`, { filters: { ai_model: 'gpt-4o' } })
      .expect(200);
    await setStatus(id, 'success');
    await workspace().post(`${path}/${id}/start`).expect(400);
    await setStatus(id, 'draft');
    await workspace().post(`${path}/${id}/cancel`).expect(200);
    const entries = await h.db.auditEntry.findMany({
      where: { resourceType: 'log_exports' },
      orderBy: { sequence: 'desc' },
      take: 4,
    });
    expect(entries.map((entry) => [entry.action, entry.responseStatusCode])).toEqual([
      ['export', 200],
      ['export', 400],
      ['update', 200],
      ['create', 200],
    ]);
    expect(entries[0]).toMatchObject({ resourceId: id, workspaceId: h.first.workspace_id });
    expect(JSON.parse(entries[0]?.before ?? '')).toMatchObject({ status: 'draft' });
    expect(JSON.parse(entries[0]?.after ?? '')).toMatchObject({ status: 'stopped' });
  });
});
