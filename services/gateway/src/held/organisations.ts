import { GatewayError } from '@sluice/errors';
import type { GuardedFetch } from '@sluice/outbound';
import type { config } from '@sluice/proto-stubs';
import { callFault } from '@sluice/rpc';
import type { Logger } from '@sluice/telemetry';
import type { ConfigSource } from './config-source.ts';
import { type HeldOrganisation, holdOrganisation } from './held-organisation.ts';
import type { KeptOrganisation } from './snapshot/entries.ts';

export interface OrganisationsOptions {
  source: Pick<ConfigSource, 'getOrganisation'>;
  fetch: GuardedFetch;
  logger: Logger;
  /** Held from the start on, whether a token has come or not. */
  listed: readonly string[];
  countMax?: number;
  /** Look-ups under way at once; the rest is refused, so that a storm stays here. */
  lookupsMax?: number;
  unknownTtlMs?: number;
  unknownMax?: number;
  /** After a failed refresh. */
  retryMs?: number;
}

/**
 * Organisations whose tokens the gateway validates: fetched when they are listed
 * or first named, and again when the watch stream says so. What is held stays in
 * force while the control plane is away.
 */
export class Organisations {
  readonly #options: Required<OrganisationsOptions>;
  readonly #held = new Map<string, HeldOrganisation>();
  /** Id that no organisation has → when to ask again. */
  readonly #unknown = new Map<string, number>();
  readonly #underWay = new Map<string, Promise<HeldOrganisation | undefined>>();
  /** Changed while they were being fetched. */
  readonly #stale = new Set<string>();
  readonly #retries = new Map<string, NodeJS.Timeout>();
  #isWatched = false;
  /** Told which organisation is different now. */
  onChange: (id: string) => void = () => {};
  /** Makes sure that changes of an organisation are told; undefined = they are. */
  hold: (id: string) => Promise<void> | undefined = () => undefined;
  /** Told which organisation is worth saving as it is now. */
  onKeep: (id: string) => void = () => {};

  constructor(options: OrganisationsOptions) {
    this.#options = {
      countMax: 10_000,
      lookupsMax: 32,
      unknownTtlMs: 60_000,
      unknownMax: 10_000,
      retryMs: 1_000,
      ...options,
    };
  }

  get size(): number {
    return this.#held.size;
  }

  /**
   * The organisation with this id; undefined when there is none.
   * @throws GatewayError `auth.unavailable` when it is not known here and cannot be asked for.
   */
  find(id: string): HeldOrganisation | Promise<HeldOrganisation | undefined> {
    const held = this.#held.get(id);
    return held ?? this.#lookUp(id);
  }

  /** What changes are to be told of. */
  ids(): Set<string> {
    return new Set([...this.#options.listed, ...this.#held.keys(), ...this.#underWay.keys()]);
  }

  /** As they are kept over a restart. */
  kept(): KeptOrganisation[] {
    return [...this.#held.values()].map(asKept);
  }

  /** Undefined = it is not held. */
  keptOf(id: string): KeptOrganisation | undefined {
    const held = this.#held.get(id);
    return held === undefined ? undefined : asKept(held);
  }

  restore(kept: readonly KeptOrganisation[]): void {
    for (const { organisation, keyDocument } of kept)
      this.#hold(organisation, keyDocument === '' ? undefined : keyDocument);
  }

  /** The stream is live: after the gap anything may have changed. */
  watched(): void {
    this.#isWatched = true;
    this.#unknown.clear();
    const ids = [...this.ids()];
    const worker = async () => {
      for (let id = ids.shift(); id !== undefined && this.#isWatched; id = ids.shift())
        await this.#refresh(id);
    };
    for (let count = 0; count < refreshesMax; count += 1) void worker();
  }

  /** What fails from now on is repeated when the stream is back. */
  unwatched(): void {
    this.#isWatched = false;
  }

  /** Whether the change is in force here, once it is known. */
  async changed(id: string): Promise<boolean> {
    this.#unknown.delete(id);
    const isWanted = this.#held.has(id) || this.#underWay.has(id);
    return isWanted || this.#options.listed.includes(id) ? this.#refresh(id) : true;
  }

  stop(): void {
    this.#isWatched = false;
    for (const timer of this.#retries.values()) clearTimeout(timer);
    this.#retries.clear();
  }

  async #lookUp(id: string): Promise<HeldOrganisation | undefined> {
    if ((this.#unknown.get(id) ?? 0) > performance.now()) return undefined;
    const isStorm = this.#underWay.size >= this.#options.lookupsMax && !this.#underWay.has(id);
    if (isStorm) throw unavailable();
    return this.#load(id).catch((error: unknown) => {
      throw unavailable(error);
    });
  }

  async #refresh(id: string): Promise<boolean> {
    if (this.#underWay.has(id)) this.#stale.add(id);
    try {
      await this.#load(id);
      return true;
    } catch (error) {
      const { logger, retryMs } = this.#options;
      logger.warn(
        { organisation_id: id, ...callFault(error) },
        'an organisation could not be fetched',
      );
      clearTimeout(this.#retries.get(id));
      if (this.#isWatched) {
        const timer = setTimeout(() => this.#refresh(id), retryMs);
        timer.unref();
        this.#retries.set(id, timer);
      }
      return false;
    }
  }

  /** One fetch an organisation at a time: of two the older answer could arrive last. */
  #load(id: string): Promise<HeldOrganisation | undefined> {
    const underWay = this.#underWay.get(id);
    if (underWay !== undefined) return underWay;
    const load = this.#fetch(id).finally(() => this.#underWay.delete(id));
    this.#underWay.set(id, load);
    return load;
  }

  async #fetch(id: string): Promise<HeldOrganisation | undefined> {
    let answer: Awaited<ReturnType<ConfigSource['getOrganisation']>>;
    do {
      this.#stale.delete(id);
      const holding = this.hold(id);
      if (holding !== undefined) await holding;
      const knownHash = this.#held.get(id)?.source.hash ?? '';
      answer = await this.#options.source.getOrganisation(id, knownHash);
      // What was read may be from before the change that was told meanwhile.
    } while (this.#stale.has(id));
    if (answer === 'unchanged') return this.#held.get(id);
    if (answer === 'gone') {
      this.#rememberUnknown(id);
      if (this.#held.delete(id)) this.#tell(id);
      return undefined;
    }
    const held = this.#hold(answer);
    this.#tell(id);
    return held;
  }

  #hold(source: config.Organisation, keyDocument?: string): HeldOrganisation {
    const { id } = source;
    const before = this.#held.get(id);
    const options = { fetch: this.#options.fetch, onKeyDocument: () => this.onKeep(id) };
    const held = holdOrganisation(source, before, options, keyDocument);
    if (before === undefined && this.#held.size >= this.#options.countMax)
      this.#held.delete(this.#held.keys().next().value as string);
    this.#held.set(id, held);
    return held;
  }

  #tell(id: string): void {
    this.onChange(id);
    this.onKeep(id);
  }

  #rememberUnknown(id: string): void {
    if (this.#unknown.size >= this.#options.unknownMax) this.#unknown.clear();
    this.#unknown.set(id, performance.now() + this.#options.unknownTtlMs);
  }
}

/** Under way at once after a gap: a reconnect must not be a storm. */
const refreshesMax = 8;

function asKept({ source, authority }: HeldOrganisation): KeptOrganisation {
  return { organisation: source, keyDocument: authority?.keyDocument ?? '' };
}

function unavailable(cause?: unknown): GatewayError {
  return new GatewayError('auth.unavailable', { cause, headers: { 'retry-after': '1' } });
}
