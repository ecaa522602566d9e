import { Client } from 'pg';
import type { Response } from 'supertest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { random } from './contract/example.ts';
import { brokenLink } from './support/audit-chain.ts';
import { policyBody } from './support/fixture.ts';
import { type Harness, startHarness } from './support/harness.ts';

let h: Harness;
beforeAll(async () => {
  h = await startHarness();
});
afterAll(() => h.stop());

const workspace = () => h.as(h.first.workspace_key);
const times = <T>(count: number, work: (index: number) => PromiseLike<T>) =>
  Promise.all(Array.from({ length: count }, (_, index) => work(index)));
const statuses = (answers: { status: number }[]) =>
  answers.map((answer) => answer.status).sort((a, b) => a - b);

describe('at once', () => {
  it('changes that are refused are in the log one by one, and written together', async () => {
    const log = new Client({ connectionString: h.env.DATABASE_URL });
    await log.connect();
    let asked: Promise<Response[]>;
    try {
      await log.query('BEGIN; LOCK TABLE audit_entries IN SHARE MODE');
      asked = times(40, (index) => workspace().post('/configs', { name: index }));
      // Who comes last finds all of them waiting for the log, however busy the machine is.
      await workspace().get('/configs').expect(200);
    } finally {
      await log.end();
    }
    const answers = await asked;
    expect(new Set(statuses(answers))).toEqual(new Set([400]));
    const ids = answers.map((answer) => answer.headers['x-service-request-id'] as string);
    const written = await h.db.$queryRaw<{ request_id: string; by: string }[]>`
      SELECT request_id, xmin::text AS by FROM audit_entries WHERE request_id = ANY(${ids})`;
    expect(written.map((entry) => entry.request_id).sort()).toEqual(ids.toSorted());
    expect(new Set(written.map(({ by }) => by)).size).toBeLessThan(20);
    expect(await brokenLink(h)).toBeUndefined();
  });

  it('refused changes and changes that are made follow one another in the log', async () => {
    // Each change that is made moves the head of the chain under those that are refused meanwhile.
    const answers = await times(60, (index) =>
      workspace().post('/configs', {
        name: index % 2 ? 'Moves' : index,
        config: { provider: '@demo' },
      }),
    );
    const ids = answers.map((answer) => answer.headers['x-service-request-id'] as string);
    expect(statuses(answers)).toEqual([...Array(30).fill(200), ...Array(30).fill(400)]);
    const written = await h.db.auditEntry.findMany({ where: { requestId: { in: ids } } });
    expect(written.map(({ requestId }) => requestId).sort()).toEqual(ids.toSorted());
    expect(await brokenLink(h)).toBeUndefined();
  });

  it('one of several creates with the same slug wins, the others are conflicts', async () => {
    const slug = `race-${random()}`;
    const integrations = await times(5, () =>
      workspace().post('/integrations', {
        name: 'Race',
        ai_provider_id: 'openai',
        slug,
        create_default_provider: false,
      }),
    );
    expect(statuses(integrations)).toEqual([200, 409, 409, 409, 409]);
    const lost = integrations.find((answer) => answer.status === 409);
    expect(lost?.body.data.errorCode).toBe('AB07');
    const providers = await times(5, () =>
      workspace().post('/providers', { name: 'Race', integration_id: slug, slug }),
    );
    expect(statuses(providers)).toEqual([200, 409, 409, 409, 409]);
    expect(await h.db.provider.count({ where: { slug } })).toBe(1);
  });

  it('virtual keys of one name are as many, and each has its own halves', async () => {
    const made = await times(8, () =>
      workspace().post('/virtual-keys', { name: 'Race', provider: 'openai', key: 'sk-race-0001' }),
    );
    expect(new Set(made.map((answer) => answer.status))).toEqual(new Set([200]));
    const slugs = made.map((answer) => answer.body.data.slug as string);
    expect(new Set(slugs).size).toBe(8);
    const gone = await times(8, (index) =>
      workspace().delete(`/virtual-keys/${slugs[Math.floor(index / 2)]}`),
    );
    expect(statuses(gone)).toEqual([200, 200, 200, 200, 404, 404, 404, 404]);
    const where = { slug: { in: slugs } };
    expect(await h.db.integration.count({ where })).toBe(4);
    expect(await h.db.provider.count({ where })).toBe(4);
  });

  it('a workspace that is deleted while something is made in it is empty, or stays', async () => {
    const created = await h.as(h.first.admin_key).post('/admin/workspaces', { name: 'Race' });
    const workspace_id = created.body.slug;
    const admin = h.as(h.first.admin_key);
    const answers = await times(6, (index) =>
      index === 3
        ? admin.delete(`/admin/workspaces/${workspace_id}`)
        : admin.post('/configs', { name: 'x', config: { provider: '@demo' }, workspace_id }),
    );
    const [row, configs] = await Promise.all([
      h.db.workspace.findFirstOrThrow({ where: { slug: workspace_id } }),
      h.db.config.count({ where: { workspace: { slug: workspace_id } } }),
    ]);
    const kept = answers.filter((answer, index) => index !== 3 && answer.status === 200).length;
    expect(configs).toBe(kept);
    expect(answers[3]?.status).toBe(kept === 0 ? 200 : 400);
    expect(row.status).toBe(kept === 0 ? 'archived' : 'active');
  });

  it('one of several rotations wins, and two secrets at most work', async () => {
    const made = await workspace()
      .post('/api-keys/workspace/service', { name: 'Race', scopes: ['configs.list'] })
      .expect(200);
    const rotations = await times(6, () =>
      workspace().post(`/api-keys/${made.body.id}/rotate`, {}),
    );
    expect(statuses(rotations)).toEqual([200, 400, 400, 400, 400, 400]);
    expect(await h.db.apiKeySecret.count({ where: { apiKeyId: made.body.id } })).toBe(2);
    const won = rotations.find((answer) => answer.status === 200);
    for (const key of [made.body.key, won?.body.key]) await h.as(key).get('/configs').expect(200);
    await workspace().delete(`/api-keys/${made.body.id}`).expect(200);
    for (const key of [made.body.key, won?.body.key]) await h.as(key).get('/configs').expect(401);
  });

  it('a delete among updates comes before or after each of them, never in between', async () => {
    const policy = await workspace().post('/policies/rate-limits', policyBody).expect(200);
    const config = await workspace().post('/configs', { name: 'x', config: { provider: '@demo' } });
    for (const path of [
      `/policies/rate-limits/${policy.body.id}`,
      `/configs/${config.body.data.slug}`,
    ]) {
      const answers = await times(9, (index) =>
        index === 4 ? workspace().delete(path) : workspace().put(path, { name: `n${index}` }),
      );
      expect(answers[4]?.status).toBe(200);
      for (const { status } of answers) expect([200, 404]).toContain(status);
      await workspace().get(path).expect(404);
    }
    expect(await h.db.configVersion.count({ where: { configId: config.body.data.id } })).toBe(0);
  });

  it('50 updates of a config are 50 versions, each whole', async () => {
    const made = await workspace().post('/configs', { name: 'v1', config: { provider: '@demo' } });
    const path = `/configs/${made.body.data.slug}`;
    const updates = await times(50, (index) =>
      workspace().put(`${path}?allow_missing=true`, {
        name: `n${index}`,
        config: { provider: `@p${index}` },
      }),
    );
    expect(new Set(updates.map((answer) => answer.status))).toEqual(new Set([200]));
    const { body } = await workspace().get(`${path}/versions`).expect(200);
    expect(body.total).toBe(51);
    const numbers = body.data.map((row: { version: number }) => row.version);
    expect(numbers).toEqual(Array.from({ length: 51 }, (_, index) => 51 - index));
    expect(new Set(body.data.map((row: { version_id: string }) => row.version_id)).size).toBe(51);
    for (const row of body.data.slice(0, 50) as { name: string; config: string }[])
      expect(JSON.parse(row.config)).toEqual({ provider: row.name.replace('n', '@p') });
    const answered = new Set(updates.map((answer) => answer.body.data.version_id));
    expect(answered.has(body.data[0].version_id)).toBe(true);
  });

  it('several defaults of a workspace leave one', async () => {
    const made = await times(5, (index) =>
      workspace().post('/configs', {
        name: `d${index}`,
        config: { provider: '@demo' },
        isDefault: 1,
      }),
    );
    expect(statuses(made)).toEqual([200, 200, 200, 200, 200]);
    const where = { workspaceId: h.first.workspace_id, isDefault: true };
    expect(await h.db.config.count({ where })).toBe(1);
  });
});
