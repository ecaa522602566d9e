import { type CompiledBundle, compileBundle, withTables } from '../compiled/compiled-bundle.ts';
import type { ConfigSource } from './config-source.ts';
import {
  type BundleUpdate,
  type HeldBundle,
  isWorn,
  type KnownState,
  renewed,
  updated,
} from './held-bundle.ts';
import { formatNames } from './sections/index.ts';

export interface HeldBundlesOptions {
  source: Pick<ConfigSource, 'getBundle'>;
  countMax: number;
  /** Makes sure that changes of this workspace are told; undefined = they are. */
  hold: (workspaceId: string) => Promise<void> | undefined;
  /** Told of what is worth keeping; no update = the workspace is gone. */
  onChange: (workspaceId: string, update: BundleUpdate | undefined) => void;
}

/** A workspace, or something without revisions, as it is held. */
export interface HeldState {
  readonly id: string;
  /** With an empty stamp: there is nothing to compare. */
  readonly revision: bigint;
  readonly stamp: string;
}

interface Entry {
  held: HeldBundle;
  compiled: CompiledBundle;
}

/** The bundles the gateway holds: fetched when they are first asked for, and what is different of them when they have changed. */
export class HeldBundles {
  readonly #options: HeldBundlesOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #underWay = new Map<string, Promise<CompiledBundle | undefined>>();
  /** Changed while they were being fetched: what was read may be from before. */
  readonly #stale = new Set<string>();

  constructor(options: HeldBundlesOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#entries.size;
  }

  held(workspaceId: string): CompiledBundle | undefined {
    return this.#entries.get(workspaceId)?.compiled;
  }

  ids(): Iterable<string> {
    return this.#entries.keys();
  }

  /** What a control plane could compare; of what is being fetched for the first time there is nothing yet. */
  *states(): Generator<HeldState> {
    for (const [id, { held }] of this.#entries)
      yield { id, revision: held.known?.revision ?? 0n, stamp: held.known?.stamp ?? '' };
    for (const id of this.#underWay.keys())
      if (!this.#entries.has(id)) yield { id, revision: 0n, stamp: '' };
  }

  /**
   * What cannot be compared by its revision, or is being fetched while nothing is told.
   * @param formats in which the control plane sends sections
   */
  uncertain(formats: Readonly<Record<string, number>>): string[] {
    const ids = new Set(this.#underWay.keys());
    for (const [id, { held }] of this.#entries) if (!isComparable(held.known, formats)) ids.add(id);
    return [...ids];
  }

  all(): HeldBundle[] {
    return [...this.#entries.values()].map((entry) => entry.held);
  }

  restore(bundles: readonly HeldBundle[]): void {
    for (const held of bundles)
      this.#entries.set(held.source.workspaceId, { held, compiled: compileBundle(held) });
  }

  /** What is in force, once it is here; undefined when the workspace is gone. Of two at a time the older answer could arrive last. */
  fetch(workspaceId: string): Promise<CompiledBundle | undefined> {
    const underWay = this.#underWay.get(workspaceId);
    if (underWay !== undefined) return underWay;
    const fetching = this.#fetch(workspaceId).finally(() => this.#underWay.delete(workspaceId));
    this.#underWay.set(workspaceId, fetching);
    return fetching;
  }

  /** Fetches what changed, if the workspace is held or about to be; until it is here the old state stays in force. */
  async changed(workspaceId: string): Promise<void> {
    if (this.#underWay.has(workspaceId)) this.#stale.add(workspaceId);
    else if (!this.#entries.has(workspaceId)) return;
    await this.fetch(workspaceId);
  }

  async #fetch(workspaceId: string): Promise<CompiledBundle | undefined> {
    do {
      this.#stale.delete(workspaceId);
      const holding = this.#options.hold(workspaceId);
      if (holding !== undefined) await holding;
      const answer = await this.#options.source.getBundle(
        workspaceId,
        this.#entries.get(workspaceId)?.held,
      );
      if (answer === 'gone') this.#drop(workspaceId);
      else if (answer !== 'unchanged') this.#put(workspaceId, answer);
    } while (this.#stale.has(workspaceId));
    return this.#entries.get(workspaceId)?.compiled;
  }

  #drop(workspaceId: string): void {
    if (this.#entries.delete(workspaceId)) this.#options.onChange(workspaceId, undefined);
  }

  #put(workspaceId: string, update: BundleUpdate): void {
    const before = this.#entries.get(workspaceId);
    const held = updated(before?.held, update);
    const compiled =
      before === undefined || update.core !== undefined
        ? compileBundle(held, before?.compiled)
        : withTables(before.compiled, held);
    if (before === undefined) this.#makeRoom();
    const entry = { held, compiled };
    this.#entries.set(workspaceId, entry);
    this.#options.onChange(workspaceId, update);
    if (isWorn(held)) void this.#renew(workspaceId, entry);
  }

  /** The state stays the same, so nobody waits for this; when it changes meanwhile, the next change tries again. */
  async #renew(workspaceId: string, entry: Entry): Promise<void> {
    const held = await renewed(entry.held);
    if (this.#entries.get(workspaceId) !== entry) return;
    this.#entries.set(workspaceId, { held, compiled: withTables(entry.compiled, held) });
  }

  /** Maps keep insertion order: the first are the oldest. */
  #makeRoom(): void {
    const { countMax } = this.#options;
    if (this.#entries.size < countMax) return;
    let left = Math.ceil(countMax / 10);
    for (const id of this.#entries.keys()) {
      if (left-- <= 0) return;
      this.#drop(id);
    }
  }
}

/** Of the same revision there may be a core or sections that came in another format, or not at all. */
function isComparable(
  known: KnownState | undefined,
  formats: Readonly<Record<string, number>>,
): boolean {
  if (known === undefined) return false;
  return formatNames.every((name) => known.formats[name] === formats[name]);
}
