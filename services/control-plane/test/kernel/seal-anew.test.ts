import { randomBytes } from 'node:crypto';
import { createLogger } from '@sluice/telemetry';
import { testDatabase } from '@sluice/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createCredentialVault } from '../../src/kernel/credentials/envelope.ts';
import { createDatabaseClient, type DatabaseClient } from '../../src/kernel/database/client.ts';
import { SealAnew, sealedColumns } from '../../src/kernel/database/seal-anew.ts';
import { applyMigrations } from '../../src/kernel/migrations/apply.ts';

const [before, after] = [randomBytes(32), randomBytes(32)];
const logger = createLogger({ service: 'test', level: 'silent' });
const organisation = '0197b1b0-0000-7000-8000-000000000001';
/** More than one reading takes. */
const count = 230;
let db: DatabaseClient;
beforeAll(async () => {
  const url = await testDatabase();
  await applyMigrations(url);
  db = createDatabaseClient({ url, connectionsMax: 2 });
});
afterAll(() => db.$disconnect());

it('knows every column that is sealed', async () => {
  const found = await db.$queryRaw<{ name: string }[]>`
    SELECT table_name || '.' || column_name AS name FROM information_schema.columns
    WHERE table_schema = 'public' AND column_name LIKE 'sealed%'`;
  const known = sealedColumns.map(({ table, column }) => `${table}.${column}`);
  expect(found.map(({ name }) => name).sort()).toEqual([...known].sort());
});

it('seals all anew, some at a time, and counts what no key opens', async () => {
  const old = createCredentialVault(before);
  const vault = createCredentialVault(after, [before]);
  const table = 'secret_references';
  const ids = Array.from(
    { length: count },
    (_, at) => `0197b1b0-0000-7000-8000-${String(at).padStart(12, '0')}`,
  );
  await db.organisation.create({
    data: { id: organisation, name: 'o', auditHash: new Uint8Array(32) },
  });
  await db.secretReference.createMany({
    data: ids.map((id) => ({
      id,
      organisationId: organisation,
      name: id,
      slug: id,
      managerType: 'aws_sm',
      secretPath: 'x',
      authConfig: {},
      sealedAuthConfig: new Uint8Array(old.seal(`text of ${id}`, { table, id })),
      createdBy: organisation,
    })),
  });
  const [broken = '', ...whole] = ids;
  await db.secretReference.update({
    where: { id: broken },
    data: {
      sealedAuthConfig: new Uint8Array(
        createCredentialVault(randomBytes(32)).seal('?', { table, id: broken }),
      ),
    },
  });
  const anew = new SealAnew({ db, vault, logger, isRotating: true });
  const stopped = new AbortController();
  stopped.abort();
  await anew.run(stopped.signal);
  expect(anew.left).toBe(0);
  const going = new AbortController().signal;
  await anew.run(going);
  expect(anew.left).toBe(count);
  await anew.run(going);
  expect(anew.left).toBe(1);
  const only = createCredentialVault(after);
  for (const row of await db.secretReference.findMany({ where: { id: { in: whole } } }))
    expect(only.open(Buffer.from(row.sealedAuthConfig), { table, id: row.id })).toBe(
      `text of ${row.id}`,
    );
});
