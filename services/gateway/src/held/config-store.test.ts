import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create } from '@bufbuild/protobuf';
import { createServiceKey, hashServiceKey } from '@sluice/contracts';
import { config } from '@sluice/proto-stubs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ConfigSource, WatchEvent } from './config-source.ts';
import { ConfigStore, type ConfigStoreOptions } from './config-store.ts';
import type { HeldBundle } from './held-bundle.ts';
import { emptyTables } from './sections/index.ts';
import { Snapshot } from './snapshot/snapshot.ts';

const pepper = Buffer.alloc(32, 1);
const logger = { info: () => {}, warn: () => {}, error: () => {} } as never;
let dir: string;
let stores: ConfigStore[] = [];
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'sluice-config-'));
  stores = [];
});
afterEach(async () => {
  for (const store of stores) await store.stop();
  rmSync(dir, { recursive: true, force: true });
});

/** A control plane in a few maps, whose answers can be held back. */
class FakeControlPlane implements ConfigSource {
  readonly keys = new Map<string, config.Key>();
  readonly bundles = new Map<string, config.Bundle>();
  readonly passed: bigint[] = [];
  keyCalls = 0;
  bundleCalls = 0;
  isAway = false;
  /** When set, answers are computed at once and given when told. */
  heldBack: (() => void)[] | undefined;
  #listener: ((event: WatchEvent) => void) | undefined;
  #endStream: (() => void) | undefined;

  addKey(over: Partial<config.Key> = {}): string {
    const secret = createServiceKey('sl_');
    const key = create(config.KeySchema, {
      id: `id of ${secret}`,
      workspaceId: 'ws',
      type: config.KeyType.WORKSPACE_SERVICE,
      scopes: ['completions.write'],
      ...over,
    } as never);
    this.keys.set(this.hash(secret), key);
    return secret;
  }
  edit(secret: string, over: Partial<config.Key> | undefined): void {
    const hash = this.hash(secret);
    const key = this.keys.get(hash);
    if (over === undefined || key === undefined) this.keys.delete(hash);
    else this.keys.set(hash, { ...key, ...over });
  }
  hash(secret: string): string {
    return hashServiceKey(secret, pepper).toString('hex');
  }

  async resolveKey(hash: Buffer): Promise<config.Key | undefined> {
    this.keyCalls++;
    if (this.isAway) throw new Error('away');
    return this.#answer(this.keys.get(hash.toString('hex')));
  }
  async getBundle(
    workspaceId: string,
    held: HeldBundle | undefined,
  ): ReturnType<ConfigSource['getBundle']> {
    this.bundleCalls++;
    if (this.isAway) throw new Error('away');
    const bundle = this.bundles.get(workspaceId);
    if (bundle === undefined) return this.#answer<'gone'>('gone');
    if (bundle.hash === held?.source.hash) return this.#answer<'unchanged'>('unchanged');
    const { hash, revision } = bundle;
    return this.#answer({
      core: bundle,
      hash,
      revision,
      known: undefined,
      since: '',
      startedOver: emptyTables(),
      changes: {},
    });
  }
  async getOrganisation(): ReturnType<ConfigSource['getOrganisation']> {
    return 'gone';
  }
  async reportRefusedTokens(): Promise<void> {}
  watch(onEvent: (event: WatchEvent) => void) {
    const { promise, resolve } = Promise.withResolvers<void>();
    if (this.isAway) resolve();
    else {
      this.#listener = onEvent;
      this.#endStream = resolve;
      queueMicrotask(() => this.tell('ready', create(config.ReadySchema)));
    }
    return {
      ended: promise,
      stop: resolve,
      passed: (barrier: bigint) => this.passed.push(barrier),
    };
  }
  close(): void {}

  tell(kind: string, value: object): void {
    this.#listener?.({ case: kind, value } as never);
  }
  keyChanged(secret: string): void {
    this.tell('keyChanged', { keyId: `id of ${secret}` });
  }
  setBundle(hash: string): void {
    this.bundles.set('ws', create(config.BundleSchema, { workspaceId: 'ws', hash }));
    this.tell('workspaceChanged', { workspaceId: 'ws' });
  }
  breakStream(): void {
    this.#endStream?.();
  }
  /** Gives the answers held back, the newest first. */
  release(): void {
    const held = this.heldBack ?? [];
    this.heldBack = undefined;
    for (const give of held.reverse()) give();
  }

  #answer<T>(value: T): Promise<T> {
    const held = this.heldBack;
    if (held === undefined) return Promise.resolve(value);
    return new Promise((resolve) => held.push(() => resolve(value)));
  }
}

const snapshotUnder = (key: number) =>
  new Snapshot({
    dir: join(dir, 'held'),
    key: Buffer.alloc(32, key),
    releaseBefore: join(dir, 'snapshot.bin'),
    logger,
  });

async function startStore(
  source: FakeControlPlane,
  over: Partial<ConfigStoreOptions> = {},
): Promise<ConfigStore> {
  const store = new ConfigStore({
    source,
    snapshot: snapshotUnder(2),
    pepper,
    logger,
    retryMs: 10,
    ...over,
  });
  stores.push(store);
  await store.start();
  return store;
}
const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('keys', () => {
  it('are asked for once, however many wait', async () => {
    const source = new FakeControlPlane();
    const secret = source.addKey();
    const store = await startStore(source);
    const found = await Promise.all(Array.from({ length: 50 }, () => store.findKey(secret)));
    expect(new Set(found).size).toBe(1);
    expect(store.heldKey(secret)).toBe(found[0]);
    expect(source.keyCalls).toBe(1);
  });

  it('unknown ones are remembered, for as long as is said', async () => {
    const source = new FakeControlPlane();
    const store = await startStore(source, { negativeTtlMs: 30 });
    const secret = createServiceKey('sl_');
    for (let tries = 0; tries < 20; tries++) expect(await store.findKey(secret)).toBeUndefined();
    expect(source.keyCalls).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 40));
    await store.findKey(secret);
    expect(source.keyCalls).toBe(2);
  });

  it('the memory of unknown ones has a cap', async () => {
    const source = new FakeControlPlane();
    const store = await startStore(source, { negativeMax: 10, lookupsMax: 100 });
    const secrets = Array.from({ length: 30 }, () => createServiceKey('sl_'));
    for (const secret of secrets) await store.findKey(secret);
    for (const secret of secrets) await store.findKey(secret);
    expect(source.keyCalls).toBeGreaterThan(45);
  });

  it('a storm of forged ones stays here, and does not keep out the known', async () => {
    const source = new FakeControlPlane();
    const secret = source.addKey();
    const store = await startStore(source, { lookupsMax: 5 });
    await store.findKey(secret);
    source.heldBack = [];
    const storm = Array.from({ length: 100 }, () => store.findKey(createServiceKey('sl_')));
    const outcomes = Promise.allSettled(storm);
    expect(source.keyCalls).toBe(1 + 5);
    expect(store.heldKey(secret)).toBeDefined();
    source.release();
    const refused = (await outcomes).filter(({ status }) => status === 'rejected');
    expect(refused).toHaveLength(95);
    expect(refused[0]).toMatchObject({ reason: { code: 'auth.unavailable' } });
  });

  it('are refused when deleted, and when changed during their first look-up', async () => {
    const source = new FakeControlPlane();
    const secret = source.addKey();
    const store = await startStore(source);
    source.heldBack = [];
    const first = store.findKey(secret);
    // The look-up has read the key; now it is deleted, and the store is told.
    source.edit(secret, undefined);
    source.keyChanged(secret);
    source.release();
    expect(await first).toBeUndefined();
    expect(store.heldKey(secret)).toBeUndefined();
  });

  it('an older answer that comes last does not revive a deleted key', async () => {
    const source = new FakeControlPlane();
    const secret = source.addKey();
    const store = await startStore(source);
    await store.findKey(secret);
    source.heldBack = [];
    source.edit(secret, { name: 'renamed' });
    source.keyChanged(secret);
    source.edit(secret, undefined);
    source.keyChanged(secret);
    source.release();
    await expect.poll(() => store.keyCount).toBe(0);
    expect(store.heldKey(secret)).toBeUndefined();
    expect(await store.findKey(secret)).toBeUndefined();
  });

  it('a change that could not be fetched is fetched again', async () => {
    const source = new FakeControlPlane();
    const secret = source.addKey();
    const store = await startStore(source);
    await store.findKey(secret);
    source.edit(secret, undefined);
    source.isAway = true;
    source.keyChanged(secret);
    await turn();
    expect(store.heldKey(secret)).toBeDefined();
    source.isAway = false;
    await expect.poll(() => store.heldKey(secret)).toBeUndefined();
  });

  it('one that was refused and has come back is taken at once', async () => {
    const source = new FakeControlPlane();
    const secret = source.addKey();
    const key = source.keys.get(source.hash(secret));
    const store = await startStore(source);
    source.edit(secret, undefined);
    expect(await store.findKey(secret)).toBeUndefined();
    if (key !== undefined) source.keys.set(source.hash(secret), key);
    source.keyChanged(secret);
    expect(await store.findKey(secret)).toBeDefined();
  });

  it('never seen, with the control plane away, are neither refused nor admitted', async () => {
    const source = new FakeControlPlane();
    const store = await startStore(source);
    source.isAway = true;
    await expect(store.findKey(createServiceKey('sl_'))).rejects.toMatchObject({
      code: 'auth.unavailable',
    });
    expect(await store.findKey('sl_mistyped')).toBeUndefined();
  });
});

describe('bundles', () => {
  it('are fetched once, kept, and replaced when they change', async () => {
    const source = new FakeControlPlane();
    source.setBundle('h1');
    const store = await startStore(source);
    await Promise.all([store.bundle('ws'), store.bundle('ws')]);
    expect(source.bundleCalls).toBe(1);
    source.setBundle('h2');
    await expect.poll(async () => (await store.bundle('ws'))?.source.hash).toBe('h2');
  });

  it('a change during a look-up repeats it, before anybody is answered', async () => {
    const source = new FakeControlPlane();
    source.setBundle('h1');
    const store = await startStore(source);
    source.heldBack = [];
    const first = store.bundle('ws');
    source.setBundle('h2');
    source.release();
    expect((await first)?.source.hash).toBe('h2');
  });

  it('have a cap', async () => {
    const source = new FakeControlPlane();
    const store = await startStore(source, { bundlesMax: 10 });
    for (let index = 0; index < 50; index++) {
      const workspaceId = `ws-${index}`;
      source.bundles.set(workspaceId, create(config.BundleSchema, { workspaceId, hash: 'h' }));
      await store.bundle(workspaceId);
    }
    expect(store.bundleCount).toBeLessThanOrEqual(10);
  });
});

describe('barriers', () => {
  it('are passed when all that was told before them is in force, and not before', async () => {
    const source = new FakeControlPlane();
    const secret = source.addKey();
    source.setBundle('h1');
    const store = await startStore(source);
    await store.findKey(secret);
    await store.bundle('ws');
    source.heldBack = [];
    source.edit(secret, undefined);
    source.keyChanged(secret);
    source.setBundle('h2');
    source.tell('barrier', { number: 7n });
    await turn();
    expect(source.passed).toEqual([]);
    source.release();
    await expect.poll(() => source.passed).toEqual([7n]);
    expect(store.heldKey(secret)).toBeUndefined();
    expect((await store.bundle('ws'))?.source.hash).toBe('h2');
  });

  it('do not wait for what was told after them, nor for what nobody holds', async () => {
    const source = new FakeControlPlane();
    source.setBundle('h1');
    const store = await startStore(source);
    source.tell('workspaceChanged', { workspaceId: 'not held' });
    source.tell('keyChanged', { keyId: 'not held' });
    source.tell('barrier', { number: 1n });
    await expect.poll(() => source.passed).toEqual([1n]);
    await store.bundle('ws');
    source.tell('barrier', { number: 2n });
    source.heldBack = [];
    source.setBundle('h2');
    await expect.poll(() => source.passed).toEqual([1n, 2n]);
    source.release();
  });

  it('are not passed when a change could not be fetched', async () => {
    const source = new FakeControlPlane();
    source.setBundle('h1');
    const store = await startStore(source);
    await store.bundle('ws');
    source.isAway = true;
    source.setBundle('h2');
    source.tell('barrier', { number: 1n });
    source.isAway = false;
    await expect.poll(async () => (await store.bundle('ws'))?.source.hash).toBe('h2');
    expect(source.passed).toEqual([]);
  });

  it('a key that was looked for while it was made is not remembered as unknown', async () => {
    const source = new FakeControlPlane();
    const secret = source.addKey();
    const key = source.keys.get(source.hash(secret));
    source.edit(secret, undefined);
    const store = await startStore(source);
    source.heldBack = [];
    const tooEarly = store.findKey(secret);
    if (key !== undefined) source.keys.set(source.hash(secret), key);
    source.keyChanged(secret);
    source.release();
    expect(await tooEarly).toBeDefined();
  });
});

describe('the stream', () => {
  it('after a gap everything held is fetched again', async () => {
    const source = new FakeControlPlane();
    const secret = source.addKey();
    source.setBundle('h1');
    const store = await startStore(source);
    await store.findKey(secret);
    await store.bundle('ws');
    source.breakStream();
    await expect.poll(() => store.connected).toBe(false);
    // Changed while nobody was told.
    source.edit(secret, undefined);
    source.bundles.set('ws', create(config.BundleSchema, { workspaceId: 'ws', hash: 'h2' }));
    await expect.poll(() => store.heldKey(secret)).toBeUndefined();
    await expect.poll(async () => (await store.bundle('ws'))?.source.hash).toBe('h2');
  });

  it('without it the last state stays in force, also after a restart', async () => {
    const source = new FakeControlPlane();
    const secret = source.addKey();
    source.setBundle('h1');
    const first = await startStore(source);
    await first.findKey(secret);
    await first.bundle('ws');
    await first.stop();
    source.isAway = true;
    const startedAt = performance.now();
    const second = await startStore(source);
    expect(performance.now() - startedAt).toBeLessThan(1000);
    expect((await second.findKey(secret))?.source.workspaceId).toBe('ws');
    expect((await second.bundle('ws'))?.source.hash).toBe('h1');
    expect(source.hash(secret)).toBeTruthy();
  });

  it('a snapshot of another key or a damaged one is as good as none', async () => {
    const source = new FakeControlPlane();
    const secret = source.addKey();
    const first = await startStore(source);
    await first.findKey(secret);
    await first.stop();
    const other = await startStore(source, {
      snapshot: snapshotUnder(3),
    });
    expect(other.keyCount).toBe(0);
    expect(await other.findKey(secret)).toBeDefined();
  });
});
