import { startRelay, testDatabase } from '@sluice/testkit';
import { expect, it } from 'vitest';
import { createDatabaseClient } from './client.ts';
import { isDatabaseAway } from './faults.ts';

it('lets a transaction wait for a connection for longer than Prisma’s two seconds', async () => {
  const client = createDatabaseClient({ url: await testDatabase(), connectionsMax: 1 });
  try {
    const first = client.$transaction(async (db) => {
      await db.$executeRaw`SELECT pg_sleep(2.5)`;
    });
    const second = client.$transaction((db) => db.$queryRaw`SELECT 1 AS one`);
    expect((await Promise.all([first, second]))[1]).toEqual([{ one: 1 }]);
  } finally {
    await client.$disconnect();
  }
});

it('asks nothing more on a connection that did not answer, not even to roll back', async () => {
  const url = new URL(await testDatabase());
  const relay = await startRelay(Number(url.port));
  url.port = String(relay.port);
  const answersMs = 3_000;
  const client = createDatabaseClient({ url: url.href, connectionsMax: 1, answersMs });
  try {
    const asked: number[] = [];
    const changing = client.$transaction(async (db) => {
      await db.$queryRaw`SELECT 1`;
      relay.hang();
      asked.push(performance.now());
      await db.$queryRaw`SELECT 2`;
    });
    await expect(changing).rejects.toSatisfy(isDatabaseAway);
    // Once, and not once more for the end of the transaction.
    expect(performance.now() - Number(asked[0])).toBeLessThan(1.7 * answersMs);
    await relay.up();
    expect(await client.$queryRaw`SELECT 3 AS three`).toEqual([{ three: 3 }]);
  } finally {
    await client.$disconnect();
    await relay.down();
  }
});
