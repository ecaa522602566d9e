import type { config } from '@sluice/proto-stubs';
import { type BundleUpdate, type HeldBundle, updated } from '../held-bundle.ts';
import { emptyTables, sectionNames } from '../sections/index.ts';
import {
  bundleEntries,
  type Entry,
  type KeptOrganisation,
  type SnapshotContent,
} from './entries.ts';
import { sectionsBefore } from './release-before.ts';

export function* contentEntries(content: SnapshotContent): Generator<Entry> {
  for (const key of content.keys) yield { kind: 'key', ...key };
  for (const bundle of content.bundles) yield* bundleEntries(bundle);
  for (const each of content.organisations) yield { kind: 'organisation', ...each };
  yield { kind: 'keysMark', mark: content.keysMark };
}

/** Entries put together again, in the order in which they were written. */
export class ContentReader {
  readonly #keys = new Map<string, config.Key>();
  readonly #bundles = new Map<string, HeldBundle>();
  readonly #organisations = new Map<string, KeptOrganisation>();
  /** Of bundles whose state has not come yet. */
  readonly #updates = new Map<string, BundleUpdate>();
  #keysMark = '';
  #isCut = false;

  get content(): SnapshotContent {
    return {
      keys: [...this.#keys].map(([hashHex, key]) => ({ hashHex, key })),
      bundles: [...this.#bundles.values()],
      organisations: [...this.#organisations.values()],
      // What was lost may have been keys that a later mark counts on.
      keysMark: this.#isCut ? '' : this.#keysMark,
    };
  }

  read(entry: Entry): void {
    switch (entry.kind) {
      case 'key':
        this.#keys.set(entry.hashHex, entry.key);
        return;
      case 'keyGone':
        this.#keys.delete(entry.hashHex);
        return;
      case 'organisation': {
        const { organisation, keyDocument } = entry;
        this.#organisations.set(organisation.id, { organisation, keyDocument });
        return;
      }
      case 'organisationGone':
        this.#organisations.delete(entry.id);
        return;
      case 'bundleGone':
        this.#bundles.delete(entry.workspaceId);
        this.#updates.delete(entry.workspaceId);
        return;
      case 'keysMark':
        this.#keysMark = entry.mark;
        return;
      case 'end':
        return;
      default:
        this.#readOfBundle(entry);
    }
  }

  /** What was begun in a file and not ended with a state was cut off with it. */
  endFile(isCut: boolean): void {
    this.#updates.clear();
    this.#isCut ||= isCut;
  }

  #readOfBundle(entry: Extract<Entry, { workspaceId: string }>): void {
    const { workspaceId } = entry;
    const update = this.#updates.get(workspaceId) ?? nothing();
    this.#updates.set(workspaceId, update);
    if (entry.kind === 'core') this.#updates.set(workspaceId, { ...update, core: entry.core });
    else if (entry.kind === 'startsOver') {
      Object.assign(update.startedOver, { [entry.section]: emptyTables()[entry.section] });
      delete update.changes[entry.section];
    } else if (entry.kind === 'item') {
      const table = update.startedOver[entry.section];
      if (table !== undefined) table.add(entry.bytes);
      else changeOf(update, entry.section).upserts.push(Buffer.from(entry.bytes));
    } else if (entry.kind === 'itemGone') changeOf(update, entry.section).gone.push(entry.id);
    else if (entry.kind === 'state') {
      this.#updates.delete(workspaceId);
      const next = nextBundle(this.#bundles.get(workspaceId), update, entry);
      if (next !== undefined) this.#bundles.set(workspaceId, next);
    }
  }
}

/** What is held after an update as it was written down. */
function nextBundle(
  held: HeldBundle | undefined,
  update: BundleUpdate,
  { revision, hash, known, since }: Extract<Entry, { kind: 'state' }>,
): HeldBundle | undefined {
  // What the release before wrote has no more than its sections; a lost part of a difference says none of them.
  const expected = since === '' ? sectionsBefore : sectionNames;
  const isWhole = expected.every((name) => update.startedOver[name] !== undefined);
  if (isWhole) return updated(held, { ...update, revision, hash, known });
  // The difference to something that was lost with a damaged file.
  if (held === undefined) return undefined;
  // The base was written when this had happened already.
  if (held.known !== undefined && held.known.revision >= revision) return held;
  // After a part that is damaged: in force, but not to be built upon.
  const isNext = held.known?.stamp === since;
  return updated(held, { ...update, revision, hash, known: isNext ? known : undefined });
}

function nothing(): BundleUpdate {
  return {
    core: undefined,
    revision: 0n,
    hash: '',
    known: undefined,
    since: '',
    startedOver: {},
    changes: {},
  };
}

function changeOf(update: BundleUpdate, section: keyof BundleUpdate['changes']) {
  const change = update.changes[section] ?? { upserts: [], gone: [] };
  update.changes[section] = change;
  return change;
}
