import { rm } from 'node:fs/promises';
import { GetObjectCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { type S3Failure, startS3, type TestS3, temporaryFolder } from '@sluice/testkit';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { FolderStore } from './folder-store.ts';
import type { ObjectStore } from './object-store.ts';
import { S3Store } from './s3-store.ts';

let s3: TestS3;
let folder: string;
beforeAll(async () => {
  s3 = await startS3();
  folder = await temporaryFolder('object-store');
});
afterAll(async () => {
  await s3.close();
  await rm(folder, { recursive: true, force: true });
});
afterEach(() => s3.fail(undefined));

function openS3(over: Partial<ConstructorParameters<typeof S3Store>[0]> = {}): S3Store {
  return new S3Store({
    origin: s3.origin,
    basePath: `/${s3.bucket}`,
    region: s3.region,
    credentials: { accessKeyId: s3.accessKeyId, secretAccessKey: s3.secretAccessKey },
    timeoutMs: 1000,
    putHeaders: {},
    sendsChecksum: false,
    connectionsMax: 4,
    nowMs: Date.now,
    ...over,
  });
}

describe.each<[string, () => ObjectStore]>([
  ['a folder', () => new FolderStore(folder)],
  ['a folder, by a thread of its own', () => new FolderStore(folder, { blocks: true })],
  ['S3', openS3],
])('%s', (_name, open) => {
  it('gives back what it was given, and nothing where there is nothing', async () => {
    const store = open();
    const key = '30/org/it’s a (key) + more.json';
    await store.put(key, Buffer.from('{"a":"é"}'), 'application/json');
    await store.put(key, Buffer.from('{"a":"é2"}'), 'application/json');
    expect((await store.get(key))?.toString()).toBe('{"a":"é2"}');
    expect(await store.get('30/org/none.json')).toBeUndefined();
    expect(await store.get('30/org')).toBeUndefined();
    await store.delete([key, '30/org/none.json']);
    expect(await store.get(key)).toBeUndefined();
    expect(await store.list('30/org/')).toEqual({ keys: [], hasMore: false });
    await store.close();
  });

  it('lists in the order of bytes, page by page, folders among the files', async () => {
    const store = open();
    const keys = ['l/a.json', 'l/a/1.json', 'l/a/2.json', 'l/a-b/1.json', 'l/b.json', 'l/é.json'];
    for (const key of keys) await store.put(key, Buffer.from('1'), 'application/json');
    await store.put('m/other.json', Buffer.from('1'), 'application/json');
    const inOrder = [...keys].sort((one, other) =>
      Buffer.compare(Buffer.from(one), Buffer.from(other)),
    );
    expect((await store.list('l/')).keys).toEqual(inOrder);
    const paged: string[] = [];
    let after: string | undefined;
    for (;;) {
      const page = await store.list('l/', { after, max: 2 });
      paged.push(...page.keys);
      after = page.keys.at(-1);
      if (!page.hasMore) break;
    }
    expect(paged).toEqual(inOrder);
    expect((await store.list('l/a/')).keys).toEqual(['l/a/1.json', 'l/a/2.json']);
    await store.delete(keys);
    await store.close();
  });
});

it('a folder keeps inside itself', async () => {
  const store = new FolderStore(folder);
  await expect(store.put('../outside.json', Buffer.from(''))).rejects.toThrow('leads out');
  await expect(store.get('a/../../outside.json')).rejects.toThrow('leads out');
});

describe('S3', () => {
  it('what is written, the vendor’s own client reads, and what it is sent is encrypted as asked', async () => {
    const store = openS3({
      sendsChecksum: true,
      putHeaders: { 'x-amz-server-side-encryption': 'AES256' },
    });
    await store.put('30/org/a b.json', Buffer.from('{"one":1}'), 'application/json');
    expect(s3.headers.get('30/org/a b.json')).toMatchObject({
      'content-type': 'application/json',
      'x-amz-server-side-encryption': 'AES256',
      'x-amz-checksum-sha256': expect.any(String),
    });
    const theirs = new S3Client({
      endpoint: s3.origin,
      region: s3.region,
      forcePathStyle: true,
      credentials: { accessKeyId: s3.accessKeyId, secretAccessKey: s3.secretAccessKey },
    });
    const found = await theirs.send(
      new GetObjectCommand({ Bucket: s3.bucket, Key: '30/org/a b.json' }),
    );
    expect(await found.Body?.transformToString()).toBe('{"one":1}');
    const listed = await theirs.send(
      new ListObjectsV2Command({ Bucket: s3.bucket, Prefix: '30/' }),
    );
    expect(listed.Contents?.map(({ Key }) => Key)).toEqual(['30/org/a b.json']);
    theirs.destroy();
    await store.close();
  });

  it('an address opens one object until it expires', async () => {
    const store = openS3();
    await store.put('exports/1.jsonl', Buffer.from('{}\n'), 'application/jsonl');
    const address = await store.addressOf('exports/1.jsonl', 60);
    expect(await (await fetch(address)).text()).toBe('{}\n');
    expect((await fetch(address.replace('1.jsonl', '2.jsonl'))).status).toBe(403);
    const old = openS3({ nowMs: () => Date.now() - 120_000 });
    expect((await fetch(await old.addressOf('exports/1.jsonl', 60))).status).toBe(403);
    await Promise.all([store.close(), old.close()]);
  });

  it.each<[string, S3Failure, boolean]>([
    ['fails', 503, true],
    ['does not answer', 'hang', true],
    ['leads elsewhere, which is not followed', 'redirect', true],
    ['does not take what it is sent', 413, false],
  ])('tells when it %s', async (_name, failure, isAway) => {
    const store = openS3({ timeoutMs: 200 });
    s3.fail(failure);
    await expect(store.put('a', Buffer.from(''), 'text/plain')).rejects.toMatchObject({ isAway });
    s3.fail(undefined);
    await store.close();
  });

  it.each<[S3Failure, string]>([
    ['page', 'the store answered 200, but not as S3 does (text/html)'],
    ['login', 'the store answered 302, but not as S3 does (text/html)'],
    ['forbidden', 'the store answered 403, but not as S3 does (text/html)'],
    ['no-such-page', 'the store answered 404, but not as S3 does (text/html)'],
  ])(
    'is away, whatever is asked, while another answers in its place: %s',
    async (page, message) => {
      const store = openS3();
      await store.put('30/pages/a.json', Buffer.from('{}'), 'application/json');
      s3.fail(page);
      const told = { isAway: true, message };
      const key = '30/pages/b.json';
      await expect(store.put(key, Buffer.from('{}'), 'text/plain')).rejects.toMatchObject(told);
      await expect(store.get('30/pages/a.json')).rejects.toMatchObject(told);
      await expect(store.list('30/pages/')).rejects.toMatchObject(told);
      await expect(store.delete(['30/pages/a.json'])).rejects.toMatchObject(told);
      s3.fail(undefined);
      expect((await store.list('30/pages/')).keys).toEqual(['30/pages/a.json']);
      await store.delete(['30/pages/a.json']);
      await store.close();
    },
  );

  it('takes no half of a document for all of it', async () => {
    const store = openS3();
    const keys = ['c/1.json', 'c/2.json', 'c/3.json', 'c/4.json'];
    for (const key of keys) await store.put(key, Buffer.from('{}'), 'application/json');
    s3.fail('cut');
    await expect(store.list('c/')).rejects.toMatchObject({ isAway: true });
    await expect(store.delete([])).resolves.toBeUndefined();
    await expect(store.delete(keys.slice(0, 1))).rejects.toMatchObject({ isAway: true });
    s3.fail(undefined);
    await store.delete(keys);
    await store.close();
  });

  it('is away while its credential is wrong: that can be mended', async () => {
    const store = openS3({
      credentials: { accessKeyId: s3.accessKeyId, secretAccessKey: 'wrong' },
    });
    await expect(store.get('a')).rejects.toMatchObject({
      isAway: true,
      message: 'the store answered 403 SignatureDoesNotMatch',
    });
    await store.close();
  });
});
