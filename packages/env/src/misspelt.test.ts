import { expect, it } from 'vitest';
import { misspelt } from './misspelt.ts';

const settings = ['REDIS_URL', 'ENABLE_PROMETHEUS', 'HOST', 'LOG_LEVEL', 'NATS_URL'];
const found = (...names: string[]) =>
  misspelt(settings, Object.fromEntries(names.map((name) => [name, 'a-secret']))).map(
    ({ name, meant }) => [name, meant],
  );

it.each([
  ['REDIS_ULR', 'REDIS_URL'],
  ['REDIS_URI', 'REDIS_URL'],
  ['REDISURL', 'REDIS_URL'],
  ['PROMETHEUS_ENABLE', 'ENABLE_PROMETHEUS'],
  ['PROMETHEUS_ENABLED', 'ENABLE_PROMETHEUS'],
  ['LOGLEVEL', 'LOG_LEVEL'],
])('%s is almost %s', (name, meant) => {
  expect(found(name)).toEqual([[name, meant]]);
});

it.each(['REDIS_URL', 'HOSTS', 'HOSTNAME', 'REDIS_PORT', 'DATABASE_URL', 'redis_ulr', ''])(
  '%s is nothing of ours',
  (name) => {
    expect(found(name)).toEqual([]);
  },
);
