import type { Changed } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import type { Logger } from '@sluice/telemetry';
import type { CompiledBundle } from '../compiled/compiled-bundle.ts';
import type { ResolvedKey } from '../compiled/resolved-key.ts';
import type { ConfigSource, WatchEvent, Watching } from './config-source.ts';
import { HeldBundles } from './held-bundles.ts';
import { HeldKeys } from './held-keys.ts';
import { NewerBundles } from './newer-bundles.ts';
import type { Organisations } from './organisations.ts';
import { updateEntries } from './snapshot/entries.ts';
import type { Snapshot } from './snapshot/snapshot.ts';

export interface ConfigStoreOptions {
  source: ConfigSource;
  snapshot: Snapshot;
  /** Kept fresh and saved along with the rest; undefined = JWTs are no credentials here. */
  organisations?: Organisations | undefined;
  pepper: Buffer;
  logger: Logger;
  keysMax?: number;
  bundlesMax?: number;
  negativeMax?: number;
  negativeTtlMs?: number;
  /** After a failed refresh, while the control plane is otherwise there. */
  retryMs?: number;
  lookupsMax?: number;
}

/**
 * Keys and bundles the gateway holds, kept fresh by the watch stream. A request
 * waits only for a key or workspace never seen before; everything else is a map
 * look-up. When the control plane is away the last state stays in force.
 */
export class ConfigStore {
  readonly #source: ConfigSource;
  readonly #snapshot: Snapshot;
  readonly #organisations: Organisations | undefined;
  readonly #logger: Logger;
  readonly #retryMs: number;
  readonly #keys: HeldKeys;
  readonly #bundles: HeldBundles;
  /** For names that are not known here. */
  readonly newer: NewerBundles;
  readonly #retries = new Set<NodeJS.Timeout>();
  #watching: Watching | undefined;
  /** What was told since the last barrier: whether it is in force here now. */
  #toldSinceBarrier: Promise<boolean>[] = [];
  #isStopped = false;
  /** Whether the watch stream is live, and since when it is not (Unix ms). */
  connected = false;
  disconnectedSinceMs = Date.now();
  #onFirstReady: () => void = () => {};

  constructor(options: ConfigStoreOptions) {
    const { source, snapshot, organisations, logger } = options;
    this.#source = source;
    this.#snapshot = snapshot;
    this.#organisations = organisations;
    this.#logger = logger;
    this.#retryMs = options.retryMs ?? 1_000;
    this.#keys = new HeldKeys({
      source,
      pepper: options.pepper,
      countMax: options.keysMax ?? 100_000,
      negativeMax: options.negativeMax ?? 50_000,
      negativeTtlMs: options.negativeTtlMs ?? 60_000,
      lookupsMax: options.lookupsMax ?? 64,
      onChange: (hashHex, key) =>
        snapshot.note([
          key === undefined ? { kind: 'keyGone', hashHex } : { kind: 'key', hashHex, key },
        ]),
    });
    this.#bundles = new HeldBundles({
      source,
      countMax: options.bundlesMax ?? 20_000,
      onChange: (workspaceId, update) =>
        snapshot.note(
          update === undefined
            ? [{ kind: 'bundleGone', workspaceId }]
            : updateEntries(workspaceId, update),
        ),
    });
    this.newer = new NewerBundles({
      held: (workspaceId) => this.#bundles.held(workspaceId),
      fetch: (workspaceId) => this.#bundles.fetch(workspaceId),
      isConnected: () => this.connected,
    });
    if (organisations !== undefined)
      organisations.onKeep = (id) => {
        const kept = organisations.keptOf(id);
        snapshot.note([
          kept === undefined ? { kind: 'organisationGone', id } : { kind: 'organisation', ...kept },
        ]);
      };
    snapshot.content = () => ({
      keys: this.#keys.all(),
      bundles: this.#bundles.all(),
      organisations: organisations?.kept() ?? [],
    });
  }

  get keyCount(): number {
    return this.#keys.size;
  }

  /** Keys asked of the control plane. */
  get lookups(): number {
    return this.#keys.lookups;
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
    for (const timer of this.#retries) clearTimeout(timer);
    this.#organisations?.stop();
    await this.#snapshot.close();
    this.#source.close();
  }

  /** The key, when it is held: no waiting. */
  heldKey(secret: string): ResolvedKey | undefined {
    return this.#keys.held(secret);
  }

  /**
   * The key of a secret; undefined when there is none.
   * @throws GatewayError `auth.unavailable` when it is not known here and cannot be asked for.
   */
  findKey(secret: string): Promise<ResolvedKey | undefined> {
    return this.#keys.find(secret);
  }

  /** The bundle of a workspace; undefined when the workspace is gone. */
  bundle(workspaceId: string): CompiledBundle | Promise<CompiledBundle | undefined> {
    const held = this.#bundles.held(workspaceId);
    if (held !== undefined) return held;
    return this.#bundles.fetch(workspaceId).catch((error: unknown) => {
      throw new GatewayError('gateway.bundle_unavailable', { cause: error });
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
    return this.#refresh(
      () => this.#bundles.changed(workspaceId),
      (err) =>
        this.#logger.warn(
          { workspace_id: workspaceId, err },
          'a changed bundle could not be fetched',
        ),
    );
  }

  #refreshKey(keyId: string): Promise<boolean> {
    return this.#refresh(
      () => this.#keys.changed(keyId),
      (err) => this.#logger.warn({ api_key_id: keyId, err }, 'a changed key could not be fetched'),
    );
  }

  /** One failed fetch must not leave a revoked key in force. Without the stream `ready` repeats everything. */
  async #refresh(work: () => Promise<void>, onFault: (error: unknown) => void): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      onFault(error);
      if (!this.connected || this.#isStopped) return false;
      const timer = setTimeout(() => {
        this.#retries.delete(timer);
        if (this.connected && !this.#isStopped) void this.#refresh(work, onFault);
      }, this.#retryMs);
      timer.unref();
      this.#retries.add(timer);
      return false;
    }
  }

  async #watchForever(): Promise<void> {
    for (let pauseMs = 100; !this.#isStopped; pauseMs = Math.min(pauseMs * 2, 1000)) {
      let lastEventAt = Date.now();
      const stream = this.#source.watch((event) => {
        lastEventAt = Date.now();
        if (event.case === 'ready') pauseMs = 100;
        this.#onEvent(event);
      });
      this.#watching = stream;
      // Heartbeats come every 5 s; a silent stream is a dead one.
      const watchdog = setInterval(() => {
        if (Date.now() - lastEventAt > 15_000) stream.stop();
      }, 1000);
      await stream.ended;
      clearInterval(watchdog);
      this.#toldSinceBarrier = [];
      this.#organisations?.unwatched();
      if (this.connected) {
        this.connected = false;
        this.disconnectedSinceMs = Date.now();
        if (!this.#isStopped)
          this.#logger.warn('the control plane is away; the last state stays in force');
      }
      if (!this.#isStopped) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }

  #onEvent(event: WatchEvent): void {
    if (event.case === 'ready') this.#onReady();
    else if (event.case === 'keyChanged') this.#told(this.#refreshKey(event.value.keyId));
    else if (event.case === 'workspaceChanged')
      this.#told(this.#refreshBundle(event.value.workspaceId));
    else if (event.case === 'organisationChanged' && this.#organisations !== undefined)
      this.#told(this.#organisations.changed(event.value.organisationId));
    else if (event.case === 'barrier') this.#pass(event.value.number);
  }

  #onReady(): void {
    this.connected = true;
    this.#onFirstReady();
    this.#logger.info(
      { keys: this.#keys.size, bundles: this.#bundles.size },
      'watching the control plane',
    );
    this.#keys.forgetUnknown();
    this.#organisations?.watched();
    void this.#refreshEverything();
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

  /** After a gap anything may have changed. A few at a time: a reconnect must not be a storm. */
  async #refreshEverything(): Promise<void> {
    const work = [
      ...[...this.#bundles.ids()].map((id) => () => this.#refreshBundle(id)),
      ...this.#keys.hashes().map((hashHex) => () => this.#refreshHash(hashHex)),
    ];
    const worker = async () => {
      for (let next = work.shift(); next !== undefined && this.connected; next = work.shift())
        await next();
    };
    await Promise.all(Array.from({ length: 8 }, worker));
  }

  #refreshHash(hashHex: string): Promise<boolean> {
    return this.#refresh(
      () => this.#keys.refresh(hashHex),
      (err) => this.#logger.warn({ err }, 'a held key could not be fetched'),
    );
  }

  async #restore(): Promise<void> {
    const { content, reason } = await this.#snapshot.load();
    if (reason !== undefined) this.#logger.warn({ reason }, 'the snapshot is not used');
    if (content === undefined) return;
    this.#keys.restore(content.keys);
    this.#bundles.restore(content.bundles);
    this.#organisations?.restore(content.organisations);
    this.#logger.info(
      { keys: this.#keys.size, bundles: this.#bundles.size },
      'started from the snapshot',
    );
  }
}

const firstWaitMs = 5000;
/** A control plane of the release before tells no barriers. */
const toldMax = 10_000;
