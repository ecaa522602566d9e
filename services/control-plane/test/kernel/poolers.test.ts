import { type SpawnedServer, startPgBouncer, testDatabase } from '@sluice/testkit';
import { afterAll, describe, expect, it } from 'vitest';
import { applyMigrations } from '../../src/kernel/migrations/apply.ts';
import { startHarness } from '../support/harness.ts';

const poolers: SpawnedServer[] = [];
afterAll(() => Promise.all(poolers.map((each) => each.stop())));

async function behindPooler(mode: 'session' | 'transaction'): Promise<string> {
  const pooler = await startPgBouncer(await testDatabase(), mode);
  poolers.push(pooler);
  return pooler.url;
}

describe('PgBouncer, as its package sets it up', () => {
  it('that keeps a session for a client is as good as Postgres', async () => {
    const h = await startHarness({ databaseUrl: await behindPooler('session') });
    try {
      const admin = h.as(h.first.admin_key);
      const body = { name: 'behind a pooler' };
      const made = await admin.post('/admin/workspaces', body).expect(200);
      const read = await admin.get(`/admin/workspaces/${made.body.id}`).expect(200);
      expect(read.body.name).toBe(body.name);
      const [limits] = await h.db.$queryRaw<{ statement: string; idle: string }[]>`
        SELECT current_setting('statement_timeout') AS statement,
          current_setting('idle_in_transaction_session_timeout') AS idle`;
      expect(limits).toEqual({ statement: '15s', idle: '1min' });
    } finally {
      await h.stop();
    }
  });

  it('that gives each transaction another one is refused, and what to do instead is said', async () => {
    const url = await behindPooler('transaction');
    await expect(applyMigrations(url)).rejects.toThrow(
      /^DATABASE_URL leads to a pooler .* pool_mode = session/,
    );
  });
});
