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

/** Of what is in force of a workspace; of two at a time the older answer could arrive last. */
interface Reading {
  readonly done: Promise<void>;
  /** For what changed since this one began. */
  behind: Reading | undefined;
}

/** Of a workspace that changes all the time: who waits for its first state has waited long enough. */
const repeatsMax = 3;

interface Entry {
  held: HeldBundle;
  compiled: CompiledBundle;
}

/** The bundles the gateway holds: fetched when they are first asked for, and what is different of them when they have changed. */
export class HeldBundles {
  readonly #options: HeldBundlesOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #underWay = new Map<string, Reading>();

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

  /** What is in force, once it is here; undefined when the workspace is gone. */
  async fetch(workspaceId: string): Promise<CompiledBundle | undefined> {
    let reading = this.#underWay.get(workspaceId) ?? this.#begin(workspaceId);
    await reading.done;
    // Changed meanwhile: what was read may be from before.
    for (let repeats = 0; reading.behind !== undefined && repeats < repeatsMax; repeats += 1) {
      reading = reading.behind;
      // What was read before stays in force, and whoever told of the change has it read again.
      await reading.done.catch(() => {});
    }
    return this.#entries.get(workspaceId)?.compiled;
  }

  /** Fetches what changed, if the workspace is held or about to be; until it is here the old state stays in force. */
  async changed(workspaceId: string): Promise<void> {
    const underWay = this.#underWay.get(workspaceId);
    if (underWay !== undefined) {
      underWay.behind ??= this.#reading(
        workspaceId,
        underWay.done.catch(() => {}),
      );
      await underWay.behind.done;
    } else if (this.#entries.has(workspaceId)) await this.#begin(workspaceId).done;
  }

  #begin(workspaceId: string): Reading {
    const reading = this.#reading(workspaceId);
    this.#underWay.set(workspaceId, reading);
    return reading;
  }

  /** @param before it begins, this ends */
  #reading(workspaceId: string, before?: Promise<void>): Reading {
    const read = async () => {
      try {
        await before;
        await this.#read(workspaceId);
      } finally {
        if (reading.behind === undefined) this.#underWay.delete(workspaceId);
        else this.#underWay.set(workspaceId, reading.behind);
      }
    };
    const reading: Reading = { done: Promise.resolve().then(read), behind: undefined };
    return reading;
  }

  async #read(workspaceId: string): Promise<void> {
    const holding = this.#options.hold(workspaceId);
    if (holding !== undefined) await holding;
    const held = this.#entries.get(workspaceId)?.held;
    const answer = await this.#options.source.getBundle(workspaceId, held);
    if (answer === 'gone') this.#drop(workspaceId);
    else if (answer !== 'unchanged') this.#put(workspaceId, answer);
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
