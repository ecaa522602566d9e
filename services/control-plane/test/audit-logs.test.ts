import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { brokenLink } from './audit-chain.ts';
import { createServiceKey, policyBody } from './fixture.ts';
import { type Harness, startHarness } from './harness.ts';

let h: Harness;
beforeAll(async () => {
  h = await startHarness();
});
afterAll(() => h.stop());

const admin = () => h.as(h.first.admin_key);
const workspace = () => h.as(h.first.workspace_key);

async function records(query = '') {
  const answer = await admin().get(
    `/audit-logs?start_time=2020-01-01T00:00:00Z&end_time=2099-01-01T00:00:00Z&${query}`,
  );
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body as { records: Record<string, unknown>[]; total: number; object: string };
}

describe('the audit log', () => {
  it('holds every change with who, what, where from and what came of it', async () => {
    const created = await workspace()
      .post('/integrations', {
        name: 'x',
        slug: 'audited',
        ai_provider_id: 'openai',
        key: 'sk-not-for-the-log',
      })
      .set('x-forwarded-for', '203.0.113.7')
      .set('x-service-request-id', 'request-0001');
    expect(created.headers['x-service-request-id']).toBe('request-0001');
    const { records: found, total, object } = await records('request_id=request-0001');
    expect([total, object]).toEqual([1, 'analytics-graph']);
    expect(found[0]).toMatchObject({
      method: 'POST',
      uri: '/v1/integrations',
      request_id: 'request-0001',
      user_type: 'api_key',
      organisation_id: h.first.organisation_id,
      workspace_id: h.first.workspace_id,
      response_status_code: 200,
      resource_type: 'integrations',
      resource_id: created.body.id,
      action: 'create',
      client_ip: '203.0.113.7',
    });
    expect(JSON.parse(found[0]?.request_body as string)).toMatchObject({
      slug: 'audited',
      key: '*******',
    });
    expect(JSON.parse(found[0]?.request_headers as string)).toMatchObject({
      'x-service-api-key': '*******',
    });
    expect(JSON.stringify(found)).not.toContain('sk-not-for-the-log');
  });

  it('holds refused changes too, with their status', async () => {
    const narrow = await createServiceKey(h, h.first.workspace_id, ['configs.list']);
    const refused = [
      await h.as(narrow).post('/configs', { name: 'not mine', config: {} }),
      await workspace().post('/policies/rate-limits', { ...policyBody, value: 0 }),
      await workspace().delete('/configs/pc-none'),
      await admin().post('/configs', {}).set('content-type', 'application/json').send('{"broken'),
    ];
    expect(refused.map((answer) => answer.status)).toEqual([403, 400, 404, 400]);
    for (const answer of refused) {
      const { records: found } = await records(
        `request_id=${answer.headers['x-service-request-id']}`,
      );
      expect(found).toMatchObject([{ response_status_code: answer.status }]);
    }
    const forbidden = await records(
      'response_status_code=403&resource_type=configs&action=create&method=POST',
    );
    expect(
      forbidden.records.map((record) => JSON.parse(record.request_body as string).name),
    ).toContain('not mine');
  });

  it('holds no reads', async () => {
    const before = (await records()).total;
    await workspace().get('/configs');
    await workspace().get('/configs/pc-none');
    expect((await records()).total).toBe(before);
  });

  it('tells of a rotation which key, how, and until when the old secret works', async () => {
    const key = await workspace().post('/api-keys/workspace/service', {
      name: 'x',
      scopes: ['configs.list'],
    });
    const rotated = await workspace().post(`/api-keys/${key.body.id}/rotate`);
    const { records: found } = await records('action=rotate');
    expect(JSON.parse(found[0]?.detail as string)).toEqual({
      api_key_id: key.body.id,
      rotation_mode: 'manual',
      old_key_masked: expect.stringMatching(/^sl\*{7}/),
      transition_expires_at: rotated.body.key_transition_expires_at,
    });
    expect(JSON.stringify(found)).not.toContain(rotated.body.key);
  });

  it('pages, 100 at most, and is for organisation keys of the same organisation', async () => {
    const all = await records('page_size=100');
    const second = await records('page_size=1&current_page=1');
    expect(second.records).toEqual([all.records[1]]);
    const url = '/audit-logs?start_time=2020-01-01&end_time=2099-01-01';
    await admin().get(`${url}&page_size=101`).expect(400);
    await admin().get('/audit-logs').expect(400);
    await admin().get(`${url}&organisation_id=${h.first.organisation_id}`).expect(200);
    await admin().get(`${url}&organisation_id=${h.other.organisation_id}`).expect(403);
    await workspace().get(url).expect(403);
    expect((await h.as(h.other.admin_key).get(url)).body.total).toBe(0);
    const elsewhere = await records('start_time=2020-01-01&end_time=2020-01-02').catch(
      () => undefined,
    );
    expect(elsewhere).toBeUndefined();
    expect(
      (await admin().get('/audit-logs?start_time=2020-01-01&end_time=2020-01-02')).body.records,
    ).toEqual([]);
    expect((await records(`workspace_id=${h.first.workspace_slug}`)).total).toBeGreaterThan(0);
  });

  it('is one chain, also under changes at once, and shows any tampering', async () => {
    await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        workspace().post('/configs', { name: `c${index}`, config: { provider: '@demo' } }),
      ),
    );
    expect(await brokenLink(h)).toBeUndefined();
    await expect(
      h.db.auditEntry.updateMany({ where: { sequence: 2 }, data: { action: 'nothing' } }),
    ).rejects.toThrow('audit entries are never changed');
    await expect(h.db.auditEntry.deleteMany({ where: { sequence: 2 } })).rejects.toThrow(
      'audit entries are never changed',
    );
    // Someone who is master of the database can go around the trigger, but not around the hashes.
    await h.db.$executeRawUnsafe(
      'ALTER TABLE audit_entries DISABLE TRIGGER audit_entries_append_only',
    );
    await h.db.auditEntry.updateMany({
      where: { organisationId: h.first.organisation_id, sequence: 3 },
      data: { responseStatusCode: 418 },
    });
    expect(await brokenLink(h)).toBe(3n);
  });
});
