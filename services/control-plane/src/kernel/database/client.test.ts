import { testDatabase } from '@sluice/testkit';
import { expect, it } from 'vitest';
import { createDatabaseClient } from './client.ts';

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
