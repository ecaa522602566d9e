import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Harness, startHarness } from './harness.ts';

let h: Harness;
beforeAll(async () => {
  h = await startHarness();
});
afterAll(() => h.stop());

const workspace = () => h.as(h.first.workspace_key);
const admin = () => h.as(h.first.admin_key);

describe('configs', () => {
  it('go from created to deleted in the published shapes', async () => {
    const document = { retry: { attempts: 2 }, provider: '@demo', override_params: { z: 1, a: 2 } };
    const created = await workspace().post('/configs', {
      name: 'Pplx Cache Test',
      config: document,
      isDefault: 1,
    });
    expect(created.status).toBe(200);
    expect(created.body).toMatchObject({
      success: true,
      data: { id: expect.any(String), version_id: expect.any(String) },
    });
    const { slug } = created.body.data;
    expect(slug).toMatch(/^pc-pplx-c-[0-9a-f]{6}$/);

    const read = await workspace().get(`/configs/${slug}`).expect(200);
    expect(read.body.data).toMatchObject({
      config: document,
      is_default: 1,
      status: 'active',
      workspace_id: h.first.workspace_id,
    });
    expect(JSON.stringify(read.body.data.config)).toBe(JSON.stringify(document));
    expect((await workspace().get(`/configs/${created.body.data.id}`)).body.data.slug).toBe(slug);

    const updated = await workspace()
      .put(`/configs/${slug}`, { config: { provider: '@other' } })
      .expect(200);
    expect(updated.body.data.version_id).not.toBe(created.body.data.version_id);
    const versions = await workspace().get(`/configs/${slug}/versions`).expect(200);
    expect(versions.body).toMatchObject({ object: 'list', total: 2 });
    expect(
      versions.body.data.map((version: { config: string }) => JSON.parse(version.config).provider),
    ).toEqual(['@other', '@demo']);
    expect(versions.body.data[0]).toMatchObject({
      format: 'json',
      type: 'ORG_CONFIG',
      object: 'config',
      version_id: updated.body.data.version_id,
    });

    const list = await workspace().get('/configs').expect(200);
    expect(list.body.success).toBe(true);
    expect(list.body.data.map((config: { slug: string }) => config.slug)).toContain(slug);
    expect((await workspace().delete(`/configs/${slug}`)).body).toEqual({});
    await workspace().get(`/configs/${slug}`).expect(404);
    await workspace().delete(`/configs/${slug}`).expect(404);
  });

  it.each([
    ['no name', { config: {} }, 'body.name'],
    ['no document', { name: 'x' }, 'body.config'],
    ['a list', { name: 'x', config: [] }, 'body.config'],
    ['text that is no JSON', { name: 'x', config: '{' }, 'body.config'],
    ['a key nobody knows', { name: 'x', config: { provide: 'a' } }, 'body.config'],
    [
      'a fault deep inside',
      { name: 'x', config: { targets: [{ retry: { attempts: 'many' } }] } },
      'body.config.targets[0].retry.attempts',
    ],
  ])('refuse %s, with the path of the fault', async (_case, body, field) => {
    const answer = await workspace().post('/configs', body);
    expect([answer.status, answer.body.data.errorCode, answer.body.data.field]).toEqual([
      400,
      'AB01',
      field,
    ]);
  });

  it('have at most one default in a workspace', async () => {
    const one = await workspace().post('/configs', {
      name: 'one',
      config: { provider: '@demo' },
      isDefault: 1,
    });
    const two = await workspace().post('/configs', {
      name: 'two',
      config: { provider: '@demo' },
      isDefault: 1,
    });
    const flags = async () =>
      Promise.all(
        [one, two].map(
          async ({ body }) =>
            (await workspace().get(`/configs/${body.data.slug}`)).body.data.is_default,
        ),
      );
    expect(await flags()).toEqual([0, 1]);
    await workspace().put(`/configs/${one.body.data.slug}`, { isDefault: 1 });
    expect(await flags()).toEqual([1, 0]);
  });

  it('are reached by an organisation key with or without naming the workspace', async () => {
    await admin()
      .post('/configs', { name: 'x', config: { provider: '@demo' } })
      .expect(400);
    const created = await admin().post('/configs', {
      name: 'x',
      config: { provider: '@demo' },
      workspace_id: h.first.workspace_slug,
    });
    const { slug } = created.body.data;
    await admin().get(`/configs/${slug}`).expect(200);
    await admin().get(`/configs/${slug}?workspace_id=${h.first.workspace_id}`).expect(200);
    await admin().get(`/configs/${slug}?workspace_id=ws-nowhere`).expect(404);
    // The same slug in a second workspace makes the slug alone ambiguous.
    const second = await admin().post('/admin/workspaces', { name: 'Second' });
    const twin = await admin().post('/configs', {
      name: 'twin',
      config: { provider: '@demo' },
      workspace_id: second.body.id,
    });
    await h.db.config.update({ where: { id: twin.body.data.id }, data: { slug } });
    expect((await admin().get(`/configs/${slug}`)).body.data.field).toBe('query.workspace_id');
    expect(
      (await admin().get(`/configs/${slug}?workspace_id=${second.body.id}`)).body.data.name,
    ).toBe('twin');
  });

  it('lose no update: 20 changes at once are 20 versions, each on top of another', async () => {
    const created = await workspace().post('/configs', {
      name: 'busy',
      config: { provider: '@demo' },
    });
    const path = `/configs/${created.body.data.slug}`;
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        workspace().put(path, { config: { override_params: { index } } }),
      ),
    );
    expect(answers.map((answer) => answer.status)).toEqual(Array.from({ length: 20 }, () => 200));
    const versions = await h.db.configVersion.findMany({
      where: { configId: created.body.data.id },
      orderBy: { version: 'asc' },
    });
    expect(versions.map((version) => version.version)).toEqual(
      Array.from({ length: 21 }, (_, index) => index + 1),
    );
    const written = versions
      .slice(1)
      .map((version) => JSON.parse(version.body).override_params.index as number);
    expect(written.sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, index) => index));
    const current = (await workspace().get(path)).body.data.config.override_params.index;
    expect(current).toBe(JSON.parse(versions.at(-1)?.body ?? '{}').override_params.index);
  });
});
