import { testDatabase } from '@sluice/testkit';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabaseClient, type DatabaseClient } from './client.ts';
import { createStatementNames } from './statement-names.ts';

describe('names of statements', () => {
  it('are for texts that come again, one for each, and no more than told', () => {
    const nameOf = createStatementNames(2);
    const told = ['a', 'b', 'a', 'a', 'b', 'c', 'c', 'a'].map((sql) => nameOf({ sql }));
    expect(told).toEqual(['', '', 's1', 's1', 's2', '', '', 's1']);
  });

  it('are for none where none may be, and for none whose text is a long list', () => {
    const none = createStatementNames(0);
    expect([none({ sql: 'a' }), none({ sql: 'a' })]).toEqual(['', '']);
    const nameOf = createStatementNames(2);
    const sql = 'x'.repeat(10_000);
    expect([nameOf({ sql }), nameOf({ sql })]).toEqual(['', '']);
  });

  it('are found among any number of texts that come once', () => {
    const nameOf = createStatementNames(2);
    for (let index = 0; index < 1000; index += 1) expect(nameOf({ sql: `${index}` })).toBe('');
    expect([nameOf({ sql: 'a' }), nameOf({ sql: 'a' })]).toEqual(['', 's1']);
  });
});

describe('a client that prepares', () => {
  let url: string;
  let migrating: Client;
  const clients: DatabaseClient[] = [];
  const connect = (preparedMax?: number) => {
    const client = createDatabaseClient({ url, connectionsMax: 1, preparedMax });
    clients.push(client);
    return client;
  };
  const prepared = async (client: DatabaseClient) => {
    const rows = await client.$queryRaw<
      { statement: string }[]
    >`SELECT statement FROM pg_prepared_statements`;
    return rows.map(({ statement }) => statement).filter((text) => text.includes('things'));
  };
  beforeAll(async () => {
    url = await testDatabase();
    migrating = new Client({ connectionString: url });
    await migrating.connect();
    await migrating.query('CREATE TABLE things (id int)');
    await migrating.query('INSERT INTO things VALUES (1), (2)');
  });
  afterAll(async () => {
    await Promise.all(clients.map((client) => client.$disconnect()));
    await migrating.end();
  });

  it('has each prepared once, and answers while columns are added', async () => {
    const client = connect(2);
    const read = (id: number) => client.$queryRaw`SELECT id FROM things WHERE id = ${id}`;
    for (const id of [1, 2, 1, 2]) expect(await read(id)).toEqual([{ id }]);
    expect(await prepared(client)).toEqual(['SELECT id FROM things WHERE id = $1']);
    await migrating.query('ALTER TABLE things ADD COLUMN name text');
    for (const id of [2, 1]) expect(await read(id)).toEqual([{ id }]);
  });

  it('keeps what a transaction prepared that did not come to pass', async () => {
    const client = connect(2);
    const count = 'SELECT count(*)::int AS n FROM things';
    await client.$queryRawUnsafe(count);
    const undone = client.$transaction(async (tx) => {
      await tx.$queryRawUnsafe(count);
      await tx.$queryRawUnsafe('SELECT 1 / 0');
    });
    await expect(undone).rejects.toThrow('division by zero');
    expect(await client.$queryRawUnsafe(count)).toEqual([{ n: 2 }]);
    expect(await prepared(client)).toEqual([count]);
  });

  it('prepares nothing where it was not told to', async () => {
    const client = connect();
    for (const _ of [1, 2, 3]) await client.$queryRaw`SELECT id FROM things`;
    expect(await prepared(client)).toEqual([]);
  });
});
