import { expect, it } from 'vitest';
import { FlagError } from './flags.ts';
import { ownSettings } from './own-settings.ts';

const start = { reset: false };

it('takes the stores that are set, and says which, without their passwords', () => {
  const own = ownSettings(
    {
      DATABASE_URL: 'postgres://me:s3cr@t@db.corp:5432/sluice',
      NATS_URL: 'nats://a:b@n1:4222, nats://n2:4222',
      HOST: '0.0.0.0',
    },
    start,
  );
  expect(own).toMatchObject({ host: '0.0.0.0', natsUrl: expect.any(String), redisUrl: undefined });
  expect(own.said).toEqual([
    '  Postgres at db.corp:5432, by DATABASE_URL',
    '  NATS at n1:4222, n2:4222, by NATS_URL',
    '  the gateway listens on 0.0.0.0, by HOST',
  ]);
});

it('says nothing where nothing is set; an empty variable is as good as none', () => {
  expect(ownSettings({ REDIS_URL: '' }, start)).toMatchObject({ host: '127.0.0.1', said: [] });
});

it('refuses a file that is not there, and a reset that would leave half', () => {
  expect(() => ownSettings({ DATABASE_URL: '/nowhere/url' }, start)).toThrow(FlagError);
  const url = 'http://default@ch:8123';
  expect(() => ownSettings({ CLICKHOUSE_URL: url }, { reset: true })).toThrow('--reset deletes');
});
