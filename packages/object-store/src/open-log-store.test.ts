import { tmpdir } from 'node:os';
import { defineSettings } from '@sluice/env';
import { describe, expect, it } from 'vitest';
import { BreakingStore } from './breaking-store.ts';
import { logOfKey, logPath } from './log-path.ts';
import { logStoreSettings } from './log-store-settings.ts';
import { type ObjectStore, StoreError } from './object-store.ts';
import { openLogStore } from './open-log-store.ts';

const open = (env: Record<string, string>) =>
  openLogStore(defineSettings({ 'Log store': logStoreSettings }).readEnv(env));
const keys = { LOG_STORE_ACCESS_KEY: 'AKIA', LOG_STORE_SECRET_KEY: 'secret' };
const s3 = { ...keys, LOG_STORE: 's3', LOG_STORE_REGION: 'eu-west-1' };

describe('openLogStore', () => {
  it('keeps nothing unless it is told where', () => expect(open({})).toBeUndefined());

  it.each<[string, Record<string, string>, string]>([
    ['a folder', { LOG_STORE: 'local', LOG_STORE_DIR: tmpdir() }, `folder ${tmpdir()}`],
    [
      'a bucket',
      { ...s3, LOG_STORE_GENERATIONS_BUCKET: 'logs' },
      'https://logs.s3.eu-west-1.amazonaws.com',
    ],
    [
      'one with dots',
      { ...s3, LOG_STORE_GENERATIONS_BUCKET: 'my.logs' },
      'https://s3.eu-west-1.amazonaws.com/my.logs',
    ],
    [
      'one in China',
      { ...s3, LOG_STORE_REGION: 'cn-north-1', LOG_STORE_GENERATIONS_BUCKET: 'logs' },
      'https://logs.s3.cn-north-1.amazonaws.com.cn',
    ],
    [
      'Google’s',
      { ...s3, LOG_STORE: 'gcs', LOG_STORE_GENERATIONS_BUCKET: 'logs' },
      'https://storage.googleapis.com/logs',
    ],
    [
      'MinIO',
      { ...keys, LOG_STORE: 's3_custom', LOG_STORE_BASEPATH: 'http://minio:9000/logs/' },
      'http://minio:9000/logs',
    ],
    [
      'one without a scheme',
      { ...keys, LOG_STORE: 'r2', LOG_STORE_BASEPATH: 'acc.r2.example/logs' },
      'https://acc.r2.example/logs',
    ],
  ])('%s', (_name, env, name) => expect(open(env)?.name).toBe(name));

  it.each<[string, Record<string, string>, string]>([
    [
      'a kind of others',
      { LOG_STORE: 'azure' },
      'LOG_STORE: azure is not supported by this release: use one of local',
    ],
    [
      'roles',
      { LOG_STORE: 's3_assume' },
      'LOG_STORE: s3_assume is not supported by this release: use s3',
    ],
    ['an unknown kind', { LOG_STORE: 'floppy' }, 'LOG_STORE: floppy is unknown'],
    [
      'a file in place of a folder',
      { LOG_STORE: 'local', LOG_STORE_DIR: '/dev/null' },
      'LOG_STORE_DIR: the folder /dev/null cannot be written',
    ],
    ['no folder', { LOG_STORE: 'local' }, 'LOG_STORE_DIR: is required with LOG_STORE=local'],
    [
      'no key',
      { LOG_STORE: 's3', LOG_STORE_REGION: 'a', LOG_STORE_GENERATIONS_BUCKET: 'logs' },
      'LOG_STORE_ACCESS_KEY: is required',
    ],
    [
      'a region that is a host',
      { ...s3, LOG_STORE_REGION: 'evil.example/', LOG_STORE_GENERATIONS_BUCKET: 'logs' },
      'LOG_STORE_REGION',
    ],
    [
      'a bucket that is a host',
      { ...s3, LOG_STORE_GENERATIONS_BUCKET: 'evil.example/logs' },
      'LOG_STORE_GENERATIONS_BUCKET',
    ],
    [
      'an address without a bucket',
      { ...keys, LOG_STORE: 's3_custom', LOG_STORE_BASEPATH: 'http://minio:9000' },
      'lacks the bucket',
    ],
    [
      'an address with a credential',
      { ...keys, LOG_STORE: 's3_custom', LOG_STORE_BASEPATH: 'http://a:b@minio/logs' },
      'credential',
    ],
    [
      'encryption of no kind',
      { ...s3, LOG_STORE_GENERATIONS_BUCKET: 'logs', SSE_ENCRYPTION_TYPE: 'rot13' },
      'SSE_ENCRYPTION_TYPE',
    ],
    ...['{"team":"a"}', 'eyJ0ZWFt', 'WyJhIl0=', 'eyJ0ZWFtIjoxfQ==', 'bnVsbA=='].map(
      (context): [string, Record<string, string>, string] => [
        `the context ${context}`,
        { ...s3, LOG_STORE_GENERATIONS_BUCKET: 'logs', KMS_ENCRYPTION_CONTEXT: context },
        'KMS_ENCRYPTION_CONTEXT must be base64 of a JSON object of texts',
      ],
    ),
  ])('refuses %s, by the name of the setting', (_name, env, message) =>
    expect(() => open(env)).toThrow(message),
  );
});

describe('BreakingStore', () => {
  it('asks no more after so many failures, and once again after the pause', async () => {
    let nowMs = 0;
    let asked = 0;
    let fault: Error | undefined = new StoreError('away', true);
    const inner = {
      name: 'inner',
      get: async () => {
        asked++;
        if (fault !== undefined) throw fault;
        return undefined;
      },
    } as Partial<ObjectStore> as ObjectStore;
    const told: string[] = [];
    const listener = {
      onAway: (reason: string) => told.push(reason),
      onBack: () => told.push('back'),
    };
    const rules = { failuresMax: 3, openMs: 1000, nowMs: () => nowMs, listener };
    const store = new BreakingStore(inner, rules);
    for (let count = 0; count < 10; count++) await store.get('a').catch(() => {});
    expect([asked, store.isOpen]).toEqual([3, true]);
    nowMs = 1000;
    await store.get('a').catch(() => {});
    await store.get('a').catch(() => {});
    expect([asked, store.isOpen]).toEqual([4, true]);
    nowMs = 2000;
    fault = undefined;
    expect(told).toEqual(['away']);
    await store.get('a');
    expect(store.isOpen).toBe(false);
    expect(told).toEqual(['away', 'back']);
    // Refused is answered.
    fault = new StoreError('refused', false);
    for (let count = 0; count < 10; count++) await store.get('a').catch(() => {});
    expect(store.isOpen).toBe(false);
  });
});

describe('logPath', () => {
  const logId = '019388b0-7c00-7000-8000-00000000000a';
  const under = { organisationId: 'o-1', workspaceSlug: 'ws-a', logId };

  it('is the published one, in both layouts, and names the log again', () => {
    expect(logPath('v1', under)).toBe(`30/o-1/${logId}.json`);
    expect(logPath('v2', under)).toMatch(
      /^30\/o-1\/ws-a\/2024\/12\/02\/\d\d\/019388b0-7c00-7000-8000-00000000000a\.json$/,
    );
    for (const format of ['v1', 'v2'] as const)
      expect(logOfKey(logPath(format, under))).toEqual({ logId, atMs: 0x019388b07c00 });
    expect(logOfKey('30/o-1/readme.json')).toBeUndefined();
  });
});
