import { defineSettings } from '@sluice/env';
import { testCertificate } from '@sluice/testkit';
import { describe, expect, it } from 'vitest';
import { readRedisPlace, redisSettings } from './redis-settings.ts';

const read = (variables: Record<string, string>) =>
  readRedisPlace(defineSettings({ Redis: redisSettings }).readEnv(variables));

describe('readRedisPlace', () => {
  it('finds none where no address is named', () => {
    expect(read({})).toBeUndefined();
    expect(read({ REDIS_PASSWORD: 'x', REDIS_TLS_ENABLED: 'true' })).toBeUndefined();
  });

  it('reads a URL, and takes what it does not say from the other variables', () => {
    expect(read({ REDIS_URL: 'rediss://me:p%40ss@redis.example:7000/2' })).toMatchObject({
      mode: 'standalone',
      addresses: [{ host: 'redis.example', port: 7000 }],
      username: 'me',
      password: 'p@ss',
      db: 2,
      tls: { ca: undefined },
    });
    expect(
      read({ REDIS_URL: 'redis://[::1]', REDIS_USERNAME: 'me', REDIS_PASSWORD: 'x' }),
    ).toMatchObject({
      addresses: [{ host: '::1', port: 6379 }],
      username: 'me',
      password: 'x',
      db: 0,
      tls: undefined,
    });
  });

  it('reads parts in place of a URL', () => {
    expect(read({ REDIS_HOST: 'redis', REDIS_TLS_ENABLED: 'ON' })).toMatchObject({
      addresses: [{ host: 'redis', port: 6379 }],
      tls: { ca: undefined },
    });
  });

  it('reads lists of addresses: IPv4, IPv6 and names', () => {
    const list = '10.0.0.1:7000, [2001:db8::1]:7001,2001:db8::2:7002 ,redis-0.redis';
    expect(read({ REDIS_MODE: 'cluster', REDIS_CLUSTER_ENDPOINTS: list })?.addresses).toEqual([
      { host: '10.0.0.1', port: 7000 },
      { host: '2001:db8::1', port: 7001 },
      { host: '2001:db8::2', port: 7002 },
      { host: 'redis-0.redis', port: 6379 },
    ]);
  });

  it('begins a cluster with the one address, where no list is given', () => {
    const place = read({ REDIS_MODE: 'cluster', REDIS_URL: 'redis://configuration:6380' });
    expect(place?.addresses).toEqual([{ host: 'configuration', port: 6380 }]);
  });

  it.each([
    [{ REDIS_URL: 'http://redis' }, 'REDIS_URL must be'],
    [{ REDIS_URL: 'redis' }, 'REDIS_URL must be'],
    [{ REDIS_MODE: 'cluster' }, 'needs REDIS_CLUSTER_ENDPOINTS'],
    [{ REDIS_MODE: 'cluster', REDIS_URL: 'redis://redis/1' }, 'names a database'],
    [{ REDIS_MODE: 'cluster', REDIS_CLUSTER_ENDPOINTS: ' , ' }, 'at least one'],
    [{ REDIS_MODE: 'sentinel', REDIS_SENTINEL_MASTER: 'm' }, 'REDIS_SENTINELS must name'],
    [{ REDIS_MODE: 'sentinel', REDIS_SENTINELS: 's' }, 'needs REDIS_SENTINEL_MASTER'],
    [
      { REDIS_URL: 'redis://redis', REDIS_TLS_CERTS: testCertificate('authority') },
      'REDIS_TLS_ENABLED',
    ],
  ] as [Record<string, string>, string][])('refuses %o', (variables, fault) => {
    expect(() => read(variables)).toThrow(fault);
  });

  it('does not print a password that stands in a URL it cannot read', () => {
    expect(() => read({ REDIS_URL: 'redis://:secret words@:x' })).toThrow(
      expect.objectContaining({ faults: ['REDIS_URL must be a redis:// or rediss:// URL'] }),
    );
  });
});
