import { setTimeout as delay } from 'node:timers/promises';
import { type Changed, pepperName } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import type { config } from '@sluice/proto-stubs';
import { callFault } from '@sluice/rpc';
import type { Logger } from '@sluice/telemetry';
import type { CompiledBundle } from '../compiled/compiled-bundle.ts';
import { type ResolvedKey, resolvedKey } from '../compiled/resolved-key.ts';
import type { ConfigSource, WatchEvent, Watching } from './config-source.ts';
import { ControlPlaneState } from './control-plane-state.ts';
import { HeldBundles, type HeldState } from './held-bundles.ts';
import { HeldKeys } from './held-keys.ts';
import { KeysMark } from './keys-mark.ts';
import { NewerBundles } from './newer-bundles.ts';
import type { Organisations } from './organisations.ts';
import { Refreshes } from './refreshes.ts';
import { SaidHolding } from './said-holding.ts';
import { updateEntries } from './snapshot/entries.ts';
import type { Snapshot } from './snapshot/snapshot.ts';

export interface ConfigStoreOptions {
  source: ConfigSource;
  snapshot: Pick<Snapshot, 'load' | 'note' | 'close' | 'content'>;
  /** Kept fresh and saved along with the rest; undefined = JWTs are no credentials here. */
  organisations?: Organisations | undefined;
  /** Told of each sign of life of the control plane. */
  onHeartbeat?: ((heartbeat: config.Heartbeat) => void) | undefined;
  /** The first is in use; keys may be held and known by hashes under the others. */
  peppers: readonly Buffer[];
  /** Of the control plane, for the log. */
  address?: string;
  logger: Logger;
  keysMax?: number;
  bundlesMax?: number;
  negativeMax?: number;
  negativeTtlMs?: number;
  /** After a failed refresh, while the control plane is otherwise there. */
  retryMs?: number;
  lookupsMax?: number;
  missesPerSecondMax?: number;
  /** Gateways that come back together spread what they ask for over about so long. */
  spreadMs?: number;
  /** A control plane that is there answers at once to what is said to be held. */
  holdTimeoutMs?: number;
}

/**
 * Keys and bundles the gateway holds, kept fresh by the watch stream. A request
 * waits only for a key or workspace never seen before; everything else is a map
 * look-up. When the control plane is away the last state stays in force.
 */
export class ConfigStore {
  readonly #source: ConfigSource;
  readonly #snapshot: ConfigStoreOptions['snapshot'];
  readonly #organisations: Organisations | undefined;
  readonly #logger: Logger;
  readonly #keys: HeldKeys;
  readonly #bundles: HeldBundles;
  /** For names that are not known here. */
  readonly newer: NewerBundles;
  readonly #refreshes: Refreshes;
  #watching: Watching | undefined;
  /** What was told since the last barrier: whether it is in force here now. */
  #toldSinceBarrier: Promise<boolean>[] = [];
  readonly #said: SaidHolding;
  readonly #spreadMs: number;
  readonly #keysMark: KeysMark;
  readonly #onHeartbeat: ConfigStoreOptions['onHeartbeat'];
  #isStopped = false;
  readonly #controlPlane: ControlPlaneState;
  #onFirstReady: () => void = () => {};

  constructor(options: ConfigStoreOptions) {
    const { source, snapshot, organisations, logger } = options;
    this.#onHeartbeat = options.onHeartbeat;
    this.#source = source;
    this.#controlPlane = new ControlPlaneState({
      address: options.address ?? '',
      pepperNames: options.peppers.map(pepperName),
      why: () => source.whyAway(),
      logger,
    });
    this.#snapshot = snapshot;
    this.#organisations = organisations;
    this.#logger = logger;
    this.#refreshes = new Refreshes({
      retryMs: options.retryMs ?? 1_000,
      isConnected: () => this.connected && !this.#isStopped,
    });
    this.#spreadMs = options.spreadMs ?? 1_000;
    this.#keysMark = new KeysMark((mark) => snapshot.note([{ kind: 'keysMark', mark }]));
    this.#said = new SaidHolding({ timeoutMs: options.holdTimeoutMs ?? 3_000 });
    const hold = (id: string) => this.#said.hold(id);
    this.#keys = new HeldKeys({
      source,
      peppers: options.peppers,
      countMax: options.keysMax ?? 100_000,
      negativeMax: options.negativeMax ?? 50_000,
      negativeTtlMs: options.negativeTtlMs ?? 60_000,
      lookupsMax: options.lookupsMax ?? 64,
      missesPerSecondMax: options.missesPerSecondMax ?? 200,
      hold: (subject, askedAt) => this.#said.hold(subject, askedAt),
      moment: () => this.#said.moment,
      onChange: (hashHex, key) =>
        snapshot.note([
          key === undefined ? { kind: 'keyGone', hashHex } : { kind: 'key', hashHex, key },
        ]),
    });
    this.#bundles = new HeldBundles({
      source,
      countMax: options.bundlesMax ?? 20_000,
      hold,
      onChange: (workspaceId, update) =>
        snapshot.note(
          update === undefined
            ? [{ kind: 'bundleGone', workspaceId }]
            : updateEntries(workspaceId, update),
        ),
    });
    this.newer = new NewerBundles({
      held: (workspaceId) => this.#bundles.held(workspaceId),
      fetch: async (workspaceId) => {
        await this.#bundles.changed(workspaceId);
        return this.#bundles.held(workspaceId);
      },
      isConnected: () => this.connected,
    });
    if (organisations !== undefined) {
      organisations.hold = hold;
      organisations.onKeep = (id) => {
        const kept = organisations.keptOf(id);
        snapshot.note([
          kept === undefined ? { kind: 'organisationGone', id } : { kind: 'organisation', ...kept },
        ]);
      };
    }
    snapshot.content = () => ({
      keys: this.#keys.all(),
      bundles: this.#bundles.all(),
      organisations: organisations?.kept() ?? [],
      keysMark: this.#keysMark.value,
    });
  }

  get keyCount(): number {
    return this.#keys.size;
  }

  /** Keys asked of the control plane. */
  get lookups(): number {
    return this.#keys.lookups;
  }

  /** Whether the watch stream is live. */
  get connected(): boolean {
    return this.#controlPlane.connected;
  }

  /** Since when it is not, Unix ms. */
  get disconnectedSinceMs(): number {
    return this.#controlPlane.disconnectedSinceMs;
  }

  /** The control plane knows keys by none of the peppers here. */
  get pepperDiffers(): boolean {
    return this.#controlPlane.pepperDiffers;
  }

  /** Whether some caller could be answered without the control plane. */
  get holdsAnything(): boolean {
    return this.#keys.size > 0 || (this.#organisations?.size ?? 0) > 0;
  }

  get bundleCount(): number {
    return this.#bundles.size;
  }

  /**
   * Loads the snapshot and starts watching. With nothing held it waits a moment
   * for the control plane, since nothing could be answered anyway; else not at all.
   */
  async start(): Promise<void> {
    await this.#restore();
    const firstReady = new Promise<void>((resolve) => {
      this.#onFirstReady = resolve;
    });
    void this.#watchForever();
    if (this.holdsAnything) return;
    let timer: NodeJS.Timeout | undefined;
    await Promise.race([
      firstReady,
      new Promise<void>((resolve) => (timer = setTimeout(resolve, firstWaitMs))),
    ]);
    clearTimeout(timer);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#watching?.stop();
    this.#refreshes.forget();
    this.#organisations?.stop();
    await this.#snapshot.close();
    this.#source.close();
  }

  /** The key, when it is held: no waiting. */
  heldKey(secret: string): ResolvedKey | undefined {
    return this.#keys.held(secret);
  }

  /** What is held now of a key, or of a grant, that was held then; undefined = it is gone. */
  heldNow(key: Pick<ResolvedKey, 'hashHex'>): ResolvedKey | undefined {
    return this.#keys.heldNow(key);
  }

  /**
   * The key of a secret; undefined when there is none.
   * @throws GatewayError `auth.unavailable` when it is not known here and cannot be asked for.
   */
  findKey(secret: string): Promise<ResolvedKey | undefined> {
    return this.#keys.find(secret);
  }

  /** What is held now, or asked for, of a key that was in force here or at another gateway. @throws as `findKey` does */
  keyOfHash(hashHex: string): Promise<ResolvedKey | undefined> {
    return this.#keys.findByHash(hashHex);
  }

  /** The key that a grant to a client of MCP is of, when it is held: no waiting. */
  heldGrant(id: string): ResolvedKey | undefined {
    return this.#keys.heldGrant(id);
  }

  /** The same; undefined when there is no such grant. @throws as `findKey` does */
  findGrant(id: string): Promise<ResolvedKey | undefined> {
    return this.#keys.findGrant(id);
  }

  /** The key of somebody whom the issuer of an MCP server knows, when it is held: no waiting. */
  heldLogin(secret: string): ResolvedKey | undefined {
    return this.#keys.heldLogin(secret);
  }

  /** The same once the control plane has let them in. @throws as `findKey` does */
  findLogin(secret: string): Promise<ResolvedKey | undefined> {
    return this.#keys.findLogin(secret);
  }

  /** The workspaces whose bundles are held. */
  heldWorkspaces(): Iterable<string> {
    return this.#bundles.ids();
  }

  /** The key that a batch is of, when it is held: no waiting. */
  heldBatch(id: string): ResolvedKey | undefined {
    return this.#keys.heldBatch(id);
  }

  /** The same; undefined when there is no such batch, or no key of it any more. @throws as `findKey` does */
  findBatch(id: string): Promise<ResolvedKey | undefined> {
    return this.#keys.findBatch(id);
  }

  /**
   * A key by its id, which is asked for each time: only who administers keys does so.
   * @throws GatewayError `auth.unavailable` when the control plane cannot be asked.
   */
  async keyOfId(id: string): Promise<ResolvedKey | undefined> {
    const key = await this.#source.keyOfId(id).catch((error: unknown) => {
      throw new GatewayError('auth.unavailable', { cause: error, headers: { 'retry-after': '1' } });
    });
    return key === undefined ? undefined : resolvedKey('', key);
  }

  /** The bundle of a workspace; undefined when the workspace is gone. */
  bundle(workspaceId: string): CompiledBundle | Promise<CompiledBundle | undefined> {
    const held = this.#bundles.held(workspaceId);
    if (held !== undefined) return held;
    return this.#bundles.fetch(workspaceId).catch((error: unknown) => {
      throw new GatewayError('gateway.bundle_unavailable', {
        cause: error,
        headers: { 'retry-after': '1' },
      });
    });
  }

  /**
   * Makes sure that these changes are in force here. False when that could not be
   * known in time; the work goes on all the same.
   */
  async catchUp(changes: readonly Changed[], timeoutMs: number): Promise<boolean> {
    const { promise: late, resolve } = Promise.withResolvers<false>();
    const timer = setTimeout(resolve, timeoutMs, false as const);
    const all = Promise.all(changes.map((change) => this.#catchUp(change)));
    const inForce = await Promise.race([all.then((each) => !each.includes(false)), late]);
    clearTimeout(timer);
    return inForce;
  }

  #catchUp(change: Changed): Promise<boolean> | boolean {
    if ('key' in change) return this.#refreshKey(change.key);
    if ('organisation' in change) return this.#organisations?.changed(change.organisation) ?? true;
    const held = this.#bundles.held(change.workspace);
    const isHeld = held !== undefined && held.source.revision >= BigInt(change.revision);
    return isHeld || this.#refreshBundle(change.workspace);
  }

  /** Fetches a held bundle again before the old one is dropped; on failure the old one stays until the next `ready`. */
  #refreshBundle(workspaceId: string): Promise<boolean> {
    return this.#refreshes.refresh(
      workspaceId,
      () => this.#bundles.changed(workspaceId),
      (err) =>
        this.#logger.warn(
          { workspace_id: workspaceId, ...callFault(err) },
          'a changed bundle could not be fetched',
        ),
    );
  }

  #refreshKey(keyId: string): Promise<boolean> {
    return this.#refreshes.refresh(
      keyId,
      () => this.#keys.changed(keyId),
      (err) =>
        this.#logger.warn(
          { api_key_id: keyId, ...callFault(err) },
          'a changed key could not be fetched',
        ),
    );
  }

  async #watchForever(): Promise<void> {
    for (let pauseMs = 100; !this.#isStopped; pauseMs = Math.min(pauseMs * 2, 1000)) {
      let lastEventAt = performance.now();
      const stream = this.#source.watch((event) => {
        lastEventAt = performance.now();
        if (event.case === 'ready') pauseMs = 100;
        this.#onEvent(event);
      });
      this.#watching = stream;
      // Heartbeats come every 5 s; a silent stream is a dead one.
      const watchdog = setInterval(() => {
        if (performance.now() - lastEventAt > 15_000) stream.stop();
        void this.#controlPlane.look(this.holdsAnything);
      }, 1000);
      await stream.ended;
      clearInterval(watchdog);
      this.#toldSinceBarrier = [];
      this.#refreshes.forget();
      this.#said.end();
      this.#keysMark.missed();
      this.#organisations?.unwatched();
      this.#controlPlane.lost();
      if (this.#isStopped) return;
      void this.#controlPlane.look(this.holdsAnything);
      await delay(pauseMs * (0.5 + Math.random()));
    }
  }

  #onEvent(event: WatchEvent): void {
    if (event.case === 'ready') void this.#onReady(event.value);
    else if (event.case === 'keyChanged') {
      const { keyId } = event.value;
      const refresh = this.#refreshes.untilDone(keyId, this.#refreshKey(keyId));
      this.#told(refresh);
      this.#keysMark.told(refresh);
      this.#keysMark.reached(event.value.mark);
    } else if (event.case === 'workspaceChanged') {
      const { workspaceId } = event.value;
      this.#told(this.#refreshes.untilDone(workspaceId, this.#refreshBundle(workspaceId)));
    } else if (event.case === 'organisationChanged' && this.#organisations !== undefined)
      this.#told(this.#organisations.changed(event.value.organisationId));
    else if (event.case === 'barrier') this.#pass(event.value.number);
    else if (event.case === 'heartbeat') {
      this.#keysMark.reached(event.value.mark);
      this.#onHeartbeat?.(event.value);
    } else if (event.case === 'compared') this.#onCompared(event.value);
  }

  async #onReady({ compares, formats, pepperNames }: config.Ready): Promise<void> {
    const { size: keys } = this.#keys;
    this.#controlPlane.ready(pepperNames, { keys, bundles: this.#bundles.size });
    this.#onFirstReady();
    this.#keys.missed();
    this.#keysMark.missed();
    const stream = this.#watching;
    if (compares && stream !== undefined) {
      const uncertain = this.#bundles.uncertain(formats);
      await this.#said.begin(stream, this.#heldStates(), this.#keysMark.value);
      await this.#fewAtATime(uncertain.map((id) => () => this.#refreshBundle(id)));
    } else {
      // Nobody says of which changes it was told: the next one that compares has to tell all.
      this.#keysMark.lose();
      void this.#refreshEverything();
    }
    if (this.connected && this.#watching === stream) this.#organisations?.watched();
  }

  /** With the workspaces and organisations whose keys are held, though nothing else of them may be. */
  #heldStates(): HeldState[] {
    const states = [...this.#bundles.states()];
    const named = new Set(states.map(({ id }) => id));
    for (const id of [...this.#keys.subjects(), ...(this.#organisations?.ids() ?? [])])
      if (!named.has(id)) {
        named.add(id);
        states.push({ id, revision: 0n, stamp: '' });
      }
    return states;
  }

  #onCompared({ number, keys }: config.Compared): void {
    this.#said.compared(number);
    if (keys === undefined) return;
    this.#keysMark.compared();
    if (keys.unknown) {
      const refresh = this.#refreshAllKeys();
      this.#told(refresh);
      this.#keysMark.told(refresh);
    }
    this.#keysMark.reached(keys.mark);
  }

  /** A stream without barriers collects nothing. */
  #told(work: Promise<boolean>): void {
    if (this.#toldSinceBarrier.length < toldMax) this.#toldSinceBarrier.push(work);
  }

  /** Says that what was told before is in force here, once it is. */
  #pass(barrier: bigint): void {
    const told = this.#toldSinceBarrier;
    this.#toldSinceBarrier = [];
    const stream = this.#watching;
    void Promise.all(told).then((inForce) => {
      if (!inForce.includes(false)) stream?.passed(barrier);
    });
  }

  /** After a gap that nobody can compare anything may have changed. */
  async #refreshEverything(): Promise<void> {
    await this.#fewAtATime([...this.#bundles.ids()].map((id) => () => this.#refreshBundle(id)));
    await this.#refreshAllKeys();
  }

  /** In batches, and not all gateways the first of theirs at once. */
  async #refreshAllKeys(): Promise<boolean> {
    const hashes = this.#keys.hashes();
    const batches: (() => Promise<boolean>)[] = [];
    for (let at = 0; at < hashes.length; at += keysPerBatch) {
      const batch = hashes.slice(at, at + keysPerBatch);
      batches.push(async () => {
        await delay(this.#spreadMs * Math.random());
        return this.#refreshKeys(batch);
      });
    }
    return this.#fewAtATime(batches);
  }

  /** A reconnect must not be a storm. Whether all of it is done. */
  async #fewAtATime(work: (() => Promise<boolean>)[]): Promise<boolean> {
    let isDone = true;
    const worker = async () => {
      for (let next = work.shift(); next !== undefined; next = work.shift())
        isDone = this.connected && (await next()) && isDone;
    };
    await Promise.all(Array.from({ length: 8 }, worker));
    return isDone;
  }

  #refreshKeys(hashes: readonly string[]): Promise<boolean> {
    return this.#refreshes.refresh(
      hashes[0] ?? '',
      () => this.#keys.refreshAll(hashes),
      (err) => this.#logger.warn(callFault(err), 'held keys could not be fetched'),
    );
  }

  async #restore(): Promise<void> {
    const { content, reason } = await this.#snapshot.load();
    if (reason !== undefined) this.#logger.warn({ reason }, 'the snapshot is not used');
    if (content === undefined) return;
    this.#keys.restore(content.keys);
    this.#keysMark.restore(content.keysMark);
    this.#bundles.restore(content.bundles);
    this.#organisations?.restore(content.organisations);
    this.#logger.info(
      { keys: this.#keys.size, bundles: this.#bundles.size },
      'started from the snapshot',
    );
  }
}

const firstWaitMs = 5000;
/** In one question. */
const keysPerBatch = 200;
/** A control plane of the release before tells no barriers. */
const toldMax = 10_000;
