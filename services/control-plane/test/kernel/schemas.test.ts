import { randomBytes } from 'node:crypto';
import { inDatabase, testDatabase } from '@sluice/testkit';
import { expect, it } from 'vitest';
import { schemaOf } from '../../src/kernel/names/schema-of.ts';
import { startHarness } from '../support/harness.ts';

/** A role as a database administrator gives it: it has one schema, its search path leads to another, and it may do nothing else. */
async function asRoleOfOneSchema(url: string): Promise<string> {
  const role = `app_${randomBytes(4).toString('hex')}`;
  await inDatabase(url, async (db) => {
    await db.query(`CREATE ROLE ${role} LOGIN PASSWORD 'a-password'`);
    await db.query(`CREATE SCHEMA sluice AUTHORIZATION ${role}`);
    await db.query(`CREATE SCHEMA other AUTHORIZATION ${role}`);
    await db.query(`ALTER ROLE ${role} SET search_path = other`);
  });
  const own = new URL(url);
  own.username = role;
  own.password = 'a-password';
  return own.href;
}

it.each([
  ['that nobody has made yet', async (url: string) => url],
  ['of a role that has it and no other', asRoleOfOneSchema],
])('tables are in the schema that the address names: one %s', async (_which, prepare) => {
  const empty = await testDatabase();
  const h = await startHarness({ databaseUrl: `${await prepare(empty)}?schema=sluice` });
  try {
    const admin = h.as(h.first.admin_key);
    const made = await admin.post('/admin/workspaces', { name: 'elsewhere' }).expect(200);
    const read = await admin.get(`/admin/workspaces/${made.body.id}`).expect(200);
    expect(read.body.name).toBe('elsewhere');
    const { rows } = await inDatabase(empty, (db) =>
      db.query(
        "SELECT DISTINCT schemaname FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')",
      ),
    );
    expect(rows).toEqual([{ schemaname: 'sluice' }]);
  } finally {
    await h.stop();
  }
});

it.each(['a-b', '1st', 'a"b', '', 'x'.repeat(64)])(
  'a schema is a plain name, and not %j',
  (name) => {
    const url = new URL('postgres://me:secret@db/sluice');
    url.searchParams.set('schema', name);
    expect(() => schemaOf(url.href)).toThrow('names a schema');
  },
);
