import { createLogger } from '@sluice/telemetry';
import { eventually } from '@sluice/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { repeat } from '../../src/kernel/database/repeat.ts';
import { maintainKeys } from '../../src/people/api-keys/maintenance.ts';
import { brokenLink } from '../support/audit-chain.ts';
import { type Harness, startHarness } from '../support/harness.ts';

let h: Harness;
beforeAll(async () => {
  h = await startHarness();
});
afterAll(() => h.stop());
beforeEach(() => {
  h.clock.offsetMs = 0;
});

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const workspace = () => h.as(h.first.workspace_key);
const now = () => new Date(Date.now() + h.clock.offsetMs);
const run = () => maintainKeys({ client: h.db, now });

async function make(change: object = {}) {
  const body = { name: 'x', scopes: ['configs.list'], ...change };
  const answer = await workspace().post('/api-keys/workspace/service', body).expect(200);
  return answer.body as { id: string; key: string };
}

/** What nobody asked for, in the order in which it was done. */
async function automatic(id: string) {
  const rows = await h.db.auditEntry.findMany({
    where: { resourceId: id, userType: 'system' },
    orderBy: { sequence: 'asc' },
  });
  return rows.map((row) => ({ ...row, detail: JSON.parse(row.detail ?? '{}') }));
}

describe('maintenance of keys', () => {
  it('leaves nothing to do of a rotation without an overlap, which ends every earlier secret', async () => {
    const made = await make();
    const rotate = (ms?: number) =>
      workspace().post(
        `/api-keys/${made.id}/rotate`,
        ms === undefined ? {} : { key_transition_period_ms: ms },
      );
    const second = await rotate().expect(200);
    await rotate().expect(400);
    await rotate(1).expect(400);
    const third = await rotate(0).expect(200);
    for (const key of [made.key, second.body.key]) await h.as(key).get('/configs').expect(401);
    await h.as(third.body.key).get('/configs').expect(200);
    const fourth = await rotate(0).expect(200);
    await h.as(third.body.key).get('/configs').expect(401);
    await h.as(fourth.body.key).get('/configs').expect(200);
  });

  it('removes the previous secret when its overlap is over, and says so once', async () => {
    const made = await make();
    const rotated = await workspace().post(`/api-keys/${made.id}/rotate`).expect(200);
    await run();
    expect(await h.db.apiKeySecret.count({ where: { apiKeyId: made.id } })).toBe(2);
    for (const key of [made.key, rotated.body.key]) await h.as(key).get('/configs').expect(200);

    h.clock.offsetMs = hourMs;
    await run();
    await run();
    expect(await h.db.apiKeySecret.count({ where: { apiKeyId: made.id } })).toBe(1);
    await h.as(made.key).get('/configs').expect(401);
    await h.as(rotated.body.key).get('/configs').expect(200);
    const [entry, ...others] = await automatic(made.id);
    expect(others).toEqual([]);
    expect(entry).toMatchObject({
      action: 'update',
      resourceType: 'api_keys',
      workspaceId: h.first.workspace_id,
      apiKeyId: null,
      userId: null,
      clientIp: '',
      responseStatusCode: 200,
      detail: {
        api_key_id: made.id,
        change: 'previous_secret_removed',
        transition_expires_at: rotated.body.key_transition_expires_at,
      },
    });
    expect(JSON.stringify(entry?.detail)).not.toContain(made.key);
  });

  it('tells once of a key that has ended, and again when it got another end', async () => {
    const end = (ms: number) => new Date(now().getTime() + ms).toISOString();
    const made = await make({ expires_at: end(hourMs) });
    await run();
    expect(await automatic(made.id)).toEqual([]);
    h.clock.offsetMs = 2 * hourMs;
    await run();
    await run();
    const [entry, ...others] = await automatic(made.id);
    expect(others).toEqual([]);
    expect(entry?.detail).toMatchObject({ change: 'expired' });
    expect(JSON.parse(entry?.before ?? '')).toMatchObject({ id: made.id, status: 'active' });
    expect(JSON.parse(entry?.after ?? '')).toMatchObject({ id: made.id, status: 'expired' });

    await workspace()
      .put(`/api-keys/${made.id}`, { expires_at: end(hourMs) })
      .expect(200);
    await run();
    expect(await automatic(made.id)).toHaveLength(1);
    h.clock.offsetMs = 4 * hourMs;
    await run();
    expect(await automatic(made.id)).toHaveLength(2);
  });

  it('tells once of a rotation that is due, and leaves the key as it is', async () => {
    const made = await make({ rotation_policy: { rotation_period_days: 2 } });
    const path = `/api-keys/${made.id}`;
    const dueAt = (await workspace().get(path)).body.rotation_policy.next_rotation_at;
    h.clock.offsetMs = 2 * dayMs;
    await run();
    await run();
    const [entry, ...others] = await automatic(made.id);
    expect(others).toEqual([]);
    expect(entry).toMatchObject({
      action: 'rotate',
      detail: { rotation_mode: 'auto', due_at: dueAt, performed: false, rotation_period_days: 2 },
    });
    expect(await h.db.apiKeySecret.count({ where: { apiKeyId: made.id } })).toBe(1);
    await h.as(made.key).get('/configs').expect(200);
    expect((await workspace().get(path)).body.rotation_policy.next_rotation_at).toBe(dueAt);

    // Somebody rotates it: the next date is another one, of which the log will hear too.
    await workspace().post(`${path}/rotate`).expect(200);
    await run();
    h.clock.offsetMs = 5 * dayMs;
    await run();
    const dates = (await automatic(made.id)).filter(({ action }) => action === 'rotate');
    expect(dates).toHaveLength(2);
    expect(new Set(dates.map(({ detail }) => detail.due_at)).size).toBe(2);
  });

  it('is done by one of several replicas, and the audit chain stays whole', async () => {
    const keys = await Promise.all(
      Array.from({ length: 12 }, () =>
        make({ expires_at: new Date(now().getTime() + hourMs).toISOString() }),
      ),
    );
    h.clock.offsetMs = 2 * hourMs;
    await Promise.all([run(), run(), run()]);
    for (const { id } of keys) expect(await automatic(id)).toHaveLength(1);
    expect(await brokenLink(h)).toBeUndefined();
    const answer = await h
      .as(h.first.admin_key)
      .get(
        '/audit-logs?user_type=system&start_time=2020-01-01T00:00:00Z&end_time=2099-01-01T00:00:00Z',
      )
      .expect(200);
    expect(answer.body.total).toBeGreaterThanOrEqual(12);
    expect(answer.body.records[0]).toMatchObject({ user_type: 'api_key', client_ip: '' });
    expect(answer.body.records[0]).not.toHaveProperty('api_key_id');
  });

  it('runs by itself at its interval until it is stopped', async () => {
    const logger = createLogger({ service: 'test', level: 'silent' });
    const run = () => maintainKeys({ client: h.db, now });
    const made = await make({ expires_at: '2020-01-01T00:00:00Z' });
    const maintenance = repeat('maintenance', run, { logger, intervalMs: 5 });
    await eventually(async () => (await automatic(made.id)).length === 1);
    await maintenance.stop();
    // Stopped, or told never to run, it has the time of some requests in which to do so nevertheless.
    const never = repeat('maintenance', run, { logger, intervalMs: 0 });
    const late = await make({ expires_at: '2020-01-01T00:00:00Z' });
    for (let other = 0; other < 5; other += 1) await make();
    expect(await automatic(late.id)).toEqual([]);
    await never.stop();
  });
});
