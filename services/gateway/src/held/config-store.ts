import { hashServiceKey, isWellFormedServiceKey } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import type { config } from '@sluice/proto-stubs';
import type { Logger } from '@sluice/telemetry';
import { type CompiledBundle, compileBundle } from '../compiled/compiled-bundle.ts';
import { type ResolvedKey, resolvedKey } from '../compiled/resolved-key.ts';
import type { ConfigSource } from '../config-sync/config-source.ts';
import type { Organisations } from './organisations.ts';
import type { SnapshotContent, SnapshotFile } from './snapshot.ts';

export interface ConfigStoreOptions {
  source: ConfigSource;
  snapshot: SnapshotFile;
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
  /** Look-ups of unknown keys under way at once; the rest is refused, so that a storm stays here. */
  lookupsMax?: number;
}

/**
 * Keys and bundles the gateway holds, kept fresh by the watch stream. A request
 * waits only for a key or workspace never seen before; everything else is a map
 * look-up. When the control plane is away the last state stays in force.
 */
export class ConfigStore {
  private readonly options: Required<Omit<ConfigStoreOptions, 'organisations'>>;
  private readonly organisations: Organisations | undefined;
  /** By the secret as sent, so that the usual request costs no HMAC. */
  private readonly bySecret = new Map<string, ResolvedKey>();
  private readonly byHash = new Map<string, ResolvedKey>();
  private readonly bundles = new Map<string, CompiledBundle>();
  /** Hash of a key that does not exist → when to ask again. */
  private readonly unknown = new Map<string, number>();
  private readonly keyLookups = new Map<string, Promise<ResolvedKey | undefined>>();
  private readonly bundleLookups = new Map<string, Promise<CompiledBundle | undefined>>();
  private readonly staleBundles = new Set<string>();
  /** Keys being fetched again → whether they have changed meanwhile. */
  private readonly keyRefreshes = new Map<string, boolean>();
  private readonly retries = new Set<NodeJS.Timeout>();
  private watching: { stop(): void } | undefined;
  private stopped = false;
  private saveTimer: NodeJS.Timeout | undefined;
  private saving: Promise<void> = Promise.resolve();
  /** Whether the watch stream is live, and since when it is not (Unix ms). */
  connected = false;
  disconnectedSinceMs = Date.now();
  lookups = 0;
  private onFirstReady: () => void = () => {};
  private changes = 0;
  private saveTookMs = 0;

  constructor({ organisations, ...options }: ConfigStoreOptions) {
    this.organisations = organisations;
    if (organisations !== undefined) organisations.onKeep = () => this.saveSoon();
    this.options = {
      keysMax: 100_000,
      bundlesMax: 20_000,
      retryMs: 1000,
      negativeMax: 50_000,
      negativeTtlMs: 60_000,
      lookupsMax: 64,
      ...options,
    };
  }

  get keyCount(): number {
    return this.byHash.size;
  }

  /** Whether some caller could be answered without the control plane. */
  get holdsAnything(): boolean {
    return this.byHash.size > 0 || (this.organisations?.size ?? 0) > 0;
  }

  get bundleCount(): number {
    return this.bundles.size;
  }

  /**
   * Loads the snapshot and starts watching. With nothing held it waits a moment
   * for the control plane, since nothing could be answered anyway; else not at all.
   */
  async start(): Promise<void> {
    const { content, reason } = await this.options.snapshot.load();
    if (reason !== undefined) this.options.logger.warn({ reason }, 'the snapshot is not used');
    if (content !== undefined) this.restore(content);
    const firstReady = new Promise<void>((resolve) => {
      this.onFirstReady = resolve;
    });
    void this.watchForever();
    if (this.holdsAnything) return;
    let timer: NodeJS.Timeout | undefined;
    await Promise.race([
      firstReady,
      new Promise<void>((resolve) => (timer = setTimeout(resolve, firstWaitMs))),
    ]);
    clearTimeout(timer);
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.watching?.stop();
    for (const timer of this.retries) clearTimeout(timer);
    this.organisations?.stop();
    if (this.saveTimer !== undefined) {
      clearTimeout(this.saveTimer);
      this.saveTimer = undefined;
      await this.save();
    }
    await this.saving;
    this.options.source.close();
  }

  /** The key, when it is held: no waiting. */
  heldKey(secret: string): ResolvedKey | undefined {
    return this.bySecret.get(secret);
  }

  /**
   * The key of a secret; undefined when there is none.
   * @throws GatewayError `auth.unavailable` when it is not known here and cannot be asked for.
   */
  async findKey(secret: string): Promise<ResolvedKey | undefined> {
    if (!isWellFormedServiceKey(secret)) return undefined;
    const hash = hashServiceKey(secret, this.options.pepper);
    const hashHex = hash.toString('hex');
    const held = this.byHash.get(hashHex) ?? (await this.lookUpKey(hash, hashHex));
    if (held !== undefined) this.bySecret.set(secret, held);
    return held;
  }

  /** The bundle of a workspace; undefined when the workspace is gone. */
  bundle(workspaceId: string): CompiledBundle | Promise<CompiledBundle | undefined> {
    const held = this.bundles.get(workspaceId);
    if (held !== undefined) return held;
    return this.fetchBundle(workspaceId, undefined, 'request').catch((error: unknown) => {
      throw new GatewayError('gateway.bundle_unavailable', { cause: error });
    });
  }

  private async lookUpKey(hash: Buffer, hashHex: string): Promise<ResolvedKey | undefined> {
    const askAgainAt = this.unknown.get(hashHex);
    if (askAgainAt !== undefined && askAgainAt > Date.now()) return undefined;
    const underWay = this.keyLookups.get(hashHex);
    if (underWay !== undefined) return underWay;
    if (this.keyLookups.size >= this.options.lookupsMax)
      throw new GatewayError('auth.unavailable', { headers: { 'retry-after': '1' } });
    this.lookups++;
    const changesBefore = this.changes;
    const lookup = this.options.source
      .resolveKey(hash)
      .then((key) => {
        if (key === undefined) this.rememberUnknown(hashHex);
        else {
          this.holdKey(resolvedKey(hashHex, key));
          // A change told meanwhile may be one of this very key.
          if (this.changes !== changesBefore)
            return this.refreshKey(resolvedKey(hashHex, key)).then(() => this.byHash.get(hashHex));
        }
        return this.byHash.get(hashHex);
      })
      .catch((error: unknown) => {
        throw new GatewayError('auth.unavailable', {
          cause: error,
          headers: { 'retry-after': '1' },
        });
      })
      .finally(() => this.keyLookups.delete(hashHex));
    this.keyLookups.set(hashHex, lookup);
    return lookup;
  }

  private rememberUnknown(hashHex: string): void {
    if (this.unknown.size >= this.options.negativeMax)
      dropOldest(this.unknown, this.options.negativeMax / 10);
    this.unknown.set(hashHex, Date.now() + this.options.negativeTtlMs);
  }

  private holdKey(key: ResolvedKey): void {
    if (this.byHash.size >= this.options.keysMax) {
      dropOldest(this.byHash, this.options.keysMax / 10);
      this.bySecret.clear();
    }
    this.byHash.set(key.hashHex, key);
    this.unknown.delete(key.hashHex);
    this.saveSoon();
  }

  private forgetKey(hashHex: string): void {
    this.byHash.delete(hashHex);
    // Secrets are not listed by key: the map is rebuilt by the next requests.
    this.bySecret.clear();
    this.saveSoon();
  }

  private fetchBundle(
    workspaceId: string,
    known: CompiledBundle | undefined,
    reason: 'request' | 'change',
  ): Promise<CompiledBundle | undefined> {
    const underWay = this.bundleLookups.get(workspaceId);
    if (underWay !== undefined) {
      // The look-up may have read the state from before the change: it is repeated.
      if (reason === 'change') this.staleBundles.add(workspaceId);
      return underWay;
    }
    const lookup = this.options.source
      .getBundle(workspaceId, known?.source.hash ?? '')
      .then((answer) => {
        if (answer === 'unchanged') return known;
        if (answer === 'gone') {
          this.bundles.delete(workspaceId);
          return undefined;
        }
        const compiled = compileBundle(answer);
        if (!this.bundles.has(workspaceId) && this.bundles.size >= this.options.bundlesMax)
          dropOldest(this.bundles, this.options.bundlesMax / 10);
        this.bundles.set(workspaceId, compiled);
        this.saveSoon();
        return compiled;
      })
      .finally(() => {
        this.bundleLookups.delete(workspaceId);
        if (this.staleBundles.delete(workspaceId)) void this.refreshBundle(workspaceId);
      });
    this.bundleLookups.set(workspaceId, lookup);
    return lookup;
  }

  /** Fetches a held bundle again before the old one is dropped; on failure the old one stays until the next `ready`. */
  private async refreshBundle(workspaceId: string): Promise<void> {
    const known = this.bundles.get(workspaceId);
    if (known === undefined && !this.bundleLookups.has(workspaceId)) return;
    try {
      await this.fetchBundle(workspaceId, known, 'change');
    } catch (error) {
      this.options.logger.warn(
        { workspace_id: workspaceId, err: error },
        'a changed bundle could not be fetched',
      );
      this.tryAgain(() => this.refreshBundle(workspaceId));
    }
  }

  /**
   * Fetches a held key again. One fetch a key at a time: of two under way the
   * older answer could arrive last and revive a key that was deleted.
   */
  private async refreshKey(key: ResolvedKey): Promise<void> {
    const { hashHex } = key;
    if (this.keyRefreshes.has(hashHex)) return void this.keyRefreshes.set(hashHex, true);
    do {
      this.keyRefreshes.set(hashHex, false);
      try {
        const current = await this.options.source.resolveKey(Buffer.from(hashHex, 'hex'));
        if (current === undefined) {
          this.forgetKey(hashHex);
          this.rememberUnknown(hashHex);
        } else {
          this.bySecret.clear();
          this.holdKey(resolvedKey(hashHex, current));
        }
      } catch (error) {
        this.options.logger.warn(
          { api_key_id: key.source.id, err: error },
          'a changed key could not be fetched',
        );
        this.tryAgain(() => this.refreshKey(key));
        break;
      }
    } while (this.keyRefreshes.get(hashHex) === true);
    this.keyRefreshes.delete(hashHex);
  }

  /** One failed fetch must not leave a revoked key in force. Without the stream `ready` repeats everything. */
  private tryAgain(work: () => Promise<void>): void {
    if (!this.connected || this.stopped) return;
    const timer = setTimeout(() => {
      this.retries.delete(timer);
      if (this.connected && !this.stopped) void work();
    }, this.options.retryMs);
    timer.unref();
    this.retries.add(timer);
  }

  private async watchForever(): Promise<void> {
    for (let pauseMs = 100; !this.stopped; pauseMs = Math.min(pauseMs * 2, 1000)) {
      let lastEventAt = Date.now();
      const stream = this.options.source.watch((event) => {
        lastEventAt = Date.now();
        if (event.case === 'ready') pauseMs = 100;
        this.onEvent(event);
      });
      this.watching = stream;
      // Heartbeats come every 5 s; a silent stream is a dead one.
      const watchdog = setInterval(() => {
        if (Date.now() - lastEventAt > 15_000) stream.stop();
      }, 1000);
      await stream.ended;
      clearInterval(watchdog);
      this.organisations?.unwatched();
      if (this.connected) {
        this.connected = false;
        this.disconnectedSinceMs = Date.now();
        if (!this.stopped)
          this.options.logger.warn('the control plane is away; the last state stays in force');
      }
      if (!this.stopped) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }

  private onEvent(event: config.WatchResponse['event']): void {
    if (event.case === 'ready') {
      this.connected = true;
      this.onFirstReady();
      this.options.logger.info(
        { keys: this.byHash.size, bundles: this.bundles.size },
        'watching the control plane',
      );
      this.unknown.clear();
      this.organisations?.watched();
      void this.refreshEverything();
    } else if (event.case === 'keyChanged') {
      this.changes++;
      // One that was refused may have come back; whoever asks again costs one look-up.
      this.unknown.clear();
      for (const key of this.byHash.values())
        if (key.source.id === event.value.keyId) void this.refreshKey(key);
    } else if (event.case === 'workspaceChanged') {
      void this.refreshBundle(event.value.workspaceId);
    } else if (event.case === 'organisationChanged') {
      this.organisations?.changed(event.value.organisationId);
    }
  }

  /** After a gap anything may have changed. A few at a time: a reconnect must not be a storm. */
  private async refreshEverything(): Promise<void> {
    const work = [
      ...[...this.bundles.keys()].map((id) => () => this.refreshBundle(id)),
      ...[...this.byHash.values()].map((key) => () => this.refreshKey(key)),
    ];
    const worker = async () => {
      for (let next = work.shift(); next !== undefined && this.connected; next = work.shift())
        await next();
    };
    await Promise.all(Array.from({ length: 8 }, worker));
  }

  private restore(content: SnapshotContent): void {
    for (const { hashHex, key } of content.keys)
      this.byHash.set(hashHex, resolvedKey(hashHex, key));
    for (const bundle of content.bundles)
      this.bundles.set(bundle.source.workspaceId, compileBundle(bundle));
    this.organisations?.restore(content.organisations);
    this.options.logger.info(
      { keys: this.byHash.size, bundles: this.bundles.size },
      'started from the snapshot',
    );
  }

  private saveSoon(): void {
    if (this.saveTimer !== undefined || this.stopped) return;
    this.saveTimer = setTimeout(
      () => {
        this.saveTimer = undefined;
        void this.save();
        // A large snapshot is written less often: at most a tenth of the time goes into it.
      },
      Math.max(200, this.saveTookMs * 10),
    );
  }

  private save(): Promise<void> {
    this.saving = this.saving.then(async () => {
      const startedAt = Date.now();
      try {
        await this.options.snapshot.save({
          keys: [...this.byHash.values()].map((key) => ({ hashHex: key.hashHex, key: key.source })),
          bundles: [...this.bundles.values()],
          organisations: this.organisations?.kept() ?? [],
        });
      } catch (error) {
        this.options.logger.error({ err: error }, 'the snapshot could not be written');
      }
      this.saveTookMs = Date.now() - startedAt;
    });
    return this.saving;
  }
}

const firstWaitMs = 5000;

/** Maps keep insertion order: the first are the oldest. */
function dropOldest(map: Map<string, unknown>, count: number): void {
  let left = count;
  for (const key of map.keys()) {
    if (left-- <= 0) return;
    map.delete(key);
  }
}
