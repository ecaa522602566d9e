import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create } from '@bufbuild/protobuf';
import { createServiceKey, hashServiceKey } from '@sluice/contracts';
import { config } from '@sluice/proto-stubs';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { ConfigSource, Holding, WatchEvent } from './config-source.ts';
import { ConfigStore, type ConfigStoreOptions } from './config-store.ts';
import type { HeldBundle, KnownState } from './held-bundle.ts';
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
  /** As sections bring it. */
  readonly known = new Map<string, KnownState>();
  readonly passed: bigint[] = [];
  keyCalls = 0;
  bundleCalls = 0;
  isAway = false;
  /** It tells of what is said to be held only; undefined = it is of the release before. */
  compares: { formats: Record<string, number> } | undefined;
  /** What was said to be held, and how it is answered: at once, unless a test does it. */
  readonly said: Holding[] = [];
  answersHolding = true;
  /** What it says of the keys. */
  keysCompared: { unknown: boolean; mark: string } = { unknown: false, mark: 'mark 1' };
  /** Lists of keys that were asked for. */
  readonly keyLists: number[] = [];
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

  async keyOfId(): Promise<config.Key | undefined> {
    return undefined;
  }

  async resolveKey(hash: Buffer): Promise<config.Key | undefined> {
    this.keyCalls++;
    if (this.isAway) throw new Error('away');
    return this.#answer(this.keys.get(hash.toString('hex')));
  }
  async resolveKeys(hashes: readonly Buffer[]): Promise<ReadonlyMap<string, config.Key>> {
    this.keyLists.push(hashes.length);
    if (this.isAway) throw new Error('away');
    const found = hashes.flatMap((hash): [string, config.Key][] => {
      const key = this.keys.get(hash.toString('hex'));
      return key === undefined ? [] : [[hash.toString('hex'), key]];
    });
    return this.#answer(new Map(found));
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
      known: this.known.get(workspaceId),
      since: '',
      startedOver: emptyTables(),
      changes: {},
    });
  }
  async getOrganisation(): ReturnType<ConfigSource['getOrganisation']> {
    return 'gone';
  }
  async reportRefusedTokens(): Promise<void> {}
  async reportDefinitions(): Promise<void> {}
  async issuerServers(): Promise<never> {
    throw new Error('not asked here');
  }
  async enterByIssuer(): Promise<never> {
    throw new Error('not asked here');
  }
  async upstreamToken(): Promise<never> {
    throw new Error('no server is signed in at');
  }
  async whyAway() {
    return this.isAway ? 'away' : undefined;
  }
  async signIdentity() {
    return { token: '', expiresAtMs: 0n };
  }
  watch(onEvent: (event: WatchEvent) => void) {
    const { promise, resolve } = Promise.withResolvers<void>();
    if (this.isAway) resolve();
    else {
      this.#listener = onEvent;
      this.#endStream = resolve;
      queueMicrotask(() => this.ready());
    }
    return {
      ended: promise,
      stop: resolve,
      passed: (barrier: bigint) => this.passed.push(barrier),
      holds: (holding: Holding) => {
        this.said.push(holding);
        if (this.answersHolding) this.compared(holding);
      },
    };
  }
  close(): void {}

  ready(): void {
    const compares = this.compares !== undefined;
    this.tell('ready', create(config.ReadySchema, { compares, ...this.compares }));
  }
  /** The answer to what was said. */
  compared({ number = 0n, keysMark }: Holding): void {
    const keys = keysMark === undefined ? undefined : { ...this.keysCompared };
    queueMicrotask(() =>
      this.tell('compared', create(config.ComparedSchema, { number, ...(keys && { keys }) })),
    );
  }
  /** Ids that were said to be held since the stream began. */
  get held(): string[] {
    return this.said.flatMap(({ held = [] }) => held.map(({ id = '' }) => id));
  }

  tell(kind: string, value: object): void {
    this.#listener?.({ case: kind, value } as never);
  }
  keyChanged(secret: string): void {
    this.tell('keyChanged', { keyId: `id of ${secret}` });
  }
  addBundle(workspaceId: string, known: KnownState | undefined): void {
    this.bundles.set(workspaceId, create(config.BundleSchema, { workspaceId, hash: 'h1' }));
    if (known !== undefined) this.known.set(workspaceId, known);
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
    peppers: [pepper],
    logger,
    retryMs: 10,
    spreadMs: 0,
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

  it('unknown ones are remembered, for as long as is said, whatever is done to the time of day', async () => {
    const source = new FakeControlPlane();
    const store = await startStore(source, { negativeTtlMs: 1_000 });
    const secret = createServiceKey('sl_');
    for (let tries = 0; tries < 20; tries++) expect(await store.findKey(secret)).toBeUndefined();
    expect(source.keyCalls).toBe(1);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 3_600_000 });
    onTestFinished(() => void vi.useRealTimers());
    await expect
      .poll(async () => {
        await store.findKey(secret);
        return source.keyCalls;
      })
      .toBe(2);
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

  it('that nobody has are asked for so often a second, and those that somebody has without an end', async () => {
    const source = new FakeControlPlane();
    const secrets = Array.from({ length: 30 }, () => source.addKey());
    const store = await startStore(source, { missesPerSecondMax: 5 });
    // Within one second.
    await new Promise((resolve) => setTimeout(resolve, 1_000 - (Date.now() % 1_000)));
    for (const secret of secrets) expect(await store.findKey(secret)).toBeDefined();
    const found = source.keyCalls;
    const tries = Array.from({ length: 100 }, () => store.findKey(createServiceKey('sl_')));
    const refused = (await Promise.allSettled(tries)).filter(({ status }) => status === 'rejected');
    expect([source.keyCalls - found, refused.length]).toEqual([5, 95]);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(await store.findKey(createServiceKey('sl_'))).toBeUndefined();
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

  it('are found at the first answer, however often others change meanwhile', async () => {
    const source = new FakeControlPlane();
    const [secret, other] = [source.addKey(), source.addKey()];
    const store = await startStore(source);
    const resolve = source.resolveKey.bind(source);
    vi.spyOn(source, 'resolveKey').mockImplementation((hash) => {
      const answer = resolve(hash);
      // Somebody makes keys by script; without an end the test would have none.
      if (source.keyCalls < 50) source.keyChanged(other);
      return answer;
    });
    expect((await store.findKey(secret))?.source.id).toBe(`id of ${secret}`);
    expect(source.keyCalls).toBe(1);
  });

  it('that nobody has are refused at last, however often others change meanwhile, and not remembered then', async () => {
    const source = new FakeControlPlane();
    const other = source.addKey();
    const store = await startStore(source);
    const resolve = source.resolveKey.bind(source);
    let changes = 50;
    vi.spyOn(source, 'resolveKey').mockImplementation((hash) => {
      const answer = resolve(hash);
      if (changes-- > 0) source.keyChanged(other);
      return answer;
    });
    const secret = createServiceKey('sl_');
    expect(await store.findKey(secret)).toBeUndefined();
    expect(source.keyCalls).toBeLessThan(6);
    const before = source.keyCalls;
    expect(await store.findKey(secret)).toBeUndefined();
    expect(source.keyCalls).toBeGreaterThan(before);
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

  it('a change that cannot be fetched is tried again once, however often the key changes', async () => {
    const source = new FakeControlPlane();
    const secret = source.addKey();
    const store = await startStore(source, { retryMs: 100 });
    await store.findKey(secret);
    source.isAway = true;
    for (let change = 0; change < 20; change += 1) {
      source.keyChanged(secret);
      await turn();
    }
    const before = source.keyCalls;
    await expect.poll(() => source.keyCalls, { interval: 2 }).toBeGreaterThan(before);
    // The next try comes 100 ms later at the earliest.
    expect(source.keyCalls - before).toBe(1);
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

  it('are answered with at last, and barriers passed, however often the workspace changes meanwhile', async () => {
    const source = new FakeControlPlane();
    source.setBundle('h0');
    const store = await startStore(source);
    const getBundle = source.getBundle.bind(source);
    let changes = 0;
    vi.spyOn(source, 'getBundle').mockImplementation(async (...asked) => {
      const answer = await getBundle(...asked);
      if (changes < 50) source.setBundle(`h${++changes}`);
      await turn();
      return answer;
    });
    expect(await store.bundle('ws')).toBeDefined();
    expect(source.bundleCalls).toBeLessThan(6);
    source.tell('workspaceChanged', { workspaceId: 'ws' });
    source.tell('barrier', { number: 1n });
    const before = source.bundleCalls;
    await expect.poll(() => source.passed, { interval: 1 }).toEqual([1n]);
    expect(source.bundleCalls - before).toBeLessThan(20);
    // The last change is in force all the same.
    await expect.poll(async () => (await store.bundle('ws'))?.source.hash).toBe('h50');
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

  it('are passed late when a change could be fetched only later', async () => {
    const source = new FakeControlPlane();
    source.setBundle('h1');
    const secret = source.addKey();
    const store = await startStore(source, { retryMs: 50 });
    await store.bundle('ws');
    await store.findKey(secret);
    source.isAway = true;
    source.setBundle('h2');
    source.keyChanged(secret);
    source.tell('barrier', { number: 1n });
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(source.passed).toEqual([]);
    source.isAway = false;
    await expect.poll(() => source.passed).toEqual([1n]);
    expect((await store.bundle('ws'))?.source.hash).toBe('h2');
  });

  it('are not passed on a stream that ended before a change could be fetched', async () => {
    const source = new FakeControlPlane();
    source.setBundle('h1');
    const store = await startStore(source, { retryMs: 20 });
    await store.bundle('ws');
    source.isAway = true;
    source.setBundle('h2');
    source.tell('barrier', { number: 1n });
    await turn();
    source.breakStream();
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

describe('a control plane that compares', () => {
  const formats = {
    configs: 1,
    prompts: 1,
    promptVersions: 1,
    partials: 1,
    partialVersions: 1,
    guardrails: 1,
    guardrailVersions: 1,
    mcpServers: 1,
    agentServers: 1,
  };
  const comparing = () => {
    const source = new FakeControlPlane();
    source.compares = { formats };
    return source;
  };
  /** As sections bring it. */
  const known = (revision: bigint) => ({
    revision,
    stamp: `stamp ${revision}`,
    coreHash: '',
    formats,
  });
  const gap = async (source: FakeControlPlane, store: ConfigStore) => {
    source.said.length = 0;
    source.breakStream();
    await expect.poll(() => store.connected).toBe(false);
    await expect.poll(() => store.connected).toBe(true);
    await expect.poll(() => source.said.at(-1)?.keysMark).toBeDefined();
    await turn();
  };

  it('is told of a workspace before it is asked for its keys and its bundle', async () => {
    const source = comparing();
    source.setBundle('h1');
    const secret = source.addKey();
    const store = await startStore(source);
    source.answersHolding = false;
    const finding = store.findKey(secret);
    await expect.poll(() => source.held).toEqual(['ws']);
    // What is known so far may be from before a change that nobody told.
    expect(source.keyCalls).toBe(1);
    source.edit(secret, { name: 'renamed meanwhile' });
    source.compared(source.said.at(-1) ?? {});
    expect((await finding)?.source.name).toBe('renamed meanwhile');
    await store.bundle('ws');
    expect(source.held).toEqual(['ws']);
  });

  it.each([
    ['while that is on its way', false],
    ['once that is done', true],
  ])(
    'is asked again for a key that it answered before it was told of its workspace for another, %s',
    async (_when, isTold) => {
      const source = comparing();
      source.setBundle('h1');
      const [first, second] = [source.addKey(), source.addKey()];
      const store = await startStore(source);
      source.answersHolding = false;
      source.heldBack = [];
      const finding = [store.findKey(first), store.findKey(second)];
      await expect.poll(() => source.heldBack?.length).toBe(2);
      const [giveFirst, giveSecond] = source.heldBack;
      source.heldBack = undefined;
      giveFirst?.();
      await expect.poll(() => source.held).toEqual(['ws']);
      // Revoked when nobody was to be told of it, and after it was read.
      source.edit(second, undefined);
      const tell = () => source.compared(source.said.at(-1) ?? {});
      if (isTold) {
        tell();
        await finding[0];
      }
      giveSecond?.();
      await turn();
      if (!isTold) tell();
      expect(await finding[0]).toBeDefined();
      expect(await finding[1]).toBeUndefined();
      expect(store.heldKey(second)).toBeUndefined();
    },
  );

  it('after a gap is told what is held, and asked for what it says has changed and for nothing else', async () => {
    const source = comparing();
    const secrets = [source.addKey(), source.addKey()] as const;
    for (const id of ['ws', 'ws-2']) source.addBundle(id, known(1n));
    const store = await startStore(source);
    for (const secret of secrets) await store.findKey(secret);
    for (const id of ['ws', 'ws-2']) await store.bundle(id);
    const [keyCalls, bundleCalls] = [source.keyCalls, source.bundleCalls];
    await gap(source, store);
    expect(source.said).toMatchObject([
      {
        held: [
          { id: 'ws', revision: 1n, stamp: 'stamp 1' },
          { id: 'ws-2', revision: 1n, stamp: 'stamp 1' },
        ],
      },
      { held: [], keysMark: 'mark 1' },
    ]);
    expect([source.keyCalls, source.bundleCalls, source.keyLists]).toEqual([
      keyCalls,
      bundleCalls,
      [],
    ]);
    source.edit(secrets[0], undefined);
    source.keyChanged(secrets[0]);
    await expect.poll(() => store.heldKey(secrets[0])).toBeUndefined();
    expect(source.keyCalls).toBe(keyCalls + 1);
  });

  it('is asked for what came in another format, and for what came from one that does not compare', async () => {
    const source = comparing();
    source.addBundle('ws', known(1n));
    source.addBundle('of before', undefined);
    const store = await startStore(source);
    for (const id of ['ws', 'of before']) await store.bundle(id);
    const before = source.bundleCalls;
    await gap(source, store);
    await expect.poll(() => source.bundleCalls).toBe(before + 1);
    source.compares = { formats: { ...formats, prompts: 2 } };
    await gap(source, store);
    await expect.poll(() => source.bundleCalls).toBe(before + 3);
    source.compares = { formats: { ...formats, core: 2 } };
    await gap(source, store);
    await expect.poll(() => source.bundleCalls).toBe(before + 5);
  });

  it('that does not remember so far back is asked for all keys, many at a time', async () => {
    const source = comparing();
    const secrets = Array.from({ length: 450 }, () => source.addKey());
    const store = await startStore(source);
    for (const secret of secrets) await store.findKey(secret);
    source.keysCompared = { unknown: true, mark: 'mark 2' };
    const [gone = '', kept = ''] = secrets;
    source.edit(gone, undefined);
    await gap(source, store);
    await expect.poll(() => store.heldKey(gone)).toBeUndefined();
    expect(await store.findKey(kept)).toBeDefined();
    expect(source.keyLists.toSorted((a, b) => a - b)).toEqual([50, 200, 200]);
    await gap(source, store);
    expect(source.said.at(-1)?.keysMark).toBe('mark 2');
  });

  it('names a mark that counts when all before it is in force, also after a restart', async () => {
    const source = comparing();
    const secret = source.addKey();
    const first = await startStore(source);
    await first.findKey(secret);
    source.isAway = true;
    source.tell('keyChanged', { keyId: `id of ${secret}`, mark: 'mark 2' });
    await turn();
    source.isAway = false;
    await gap(source, first);
    expect(source.said.at(-1)?.keysMark).toBe('mark 1');
    source.tell('keyChanged', { keyId: `id of ${secret}`, mark: 'mark 3' });
    source.tell('heartbeat', { mark: 'mark 4' });
    await turn();
    await first.stop();
    source.said.length = 0;
    await startStore(source);
    await expect.poll(() => source.said.at(-1)?.keysMark).toBe('mark 4');
  });

  it('and one of the release before it that does not: everything is asked for', async () => {
    const source = comparing();
    const secret = source.addKey();
    const store = await startStore(source);
    await store.findKey(secret);
    source.compares = undefined;
    source.said.length = 0;
    source.edit(secret, undefined);
    source.breakStream();
    await expect.poll(() => store.heldKey(secret)).toBeUndefined();
    expect(source.said).toEqual([]);
    source.compares = { formats };
    await gap(source, store);
    expect(source.said.at(-1)?.keysMark).toBe('');
  });

  it('that answers nothing to what is held is one that is away', async () => {
    const source = comparing();
    const secret = source.addKey();
    const store = await startStore(source, { holdTimeoutMs: 20 });
    source.answersHolding = false;
    await expect(store.findKey(secret)).rejects.toMatchObject({ code: 'auth.unavailable' });
    source.answersHolding = true;
    expect(await store.findKey(secret)).toBeDefined();
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
    // With nothing held it would wait five seconds.
    expect(performance.now() - startedAt).toBeLessThan(4_000);
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
