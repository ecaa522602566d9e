import { fromBinary, toBinary } from '@bufbuild/protobuf';
import { config } from '@sluice/proto-stubs';
import type { BundleUpdate, HeldBundle, KnownState } from '../held-bundle.ts';
import { isSectionName, type SectionName, sectionNames } from '../sections/index.ts';

/** One fact of what is held. A later one of the same thing takes its place. */
export type Entry =
  | { kind: 'key'; hashHex: string; key: config.Key }
  | { kind: 'keyGone'; hashHex: string }
  | { kind: 'organisation'; organisation: config.Organisation; keyDocument: string }
  | { kind: 'organisationGone'; id: string }
  /** What follows of a bundle is in force with its `state`, and not before. */
  | { kind: 'core'; workspaceId: string; core: config.Bundle }
  | { kind: 'startsOver'; workspaceId: string; section: SectionName }
  | { kind: 'item'; workspaceId: string; section: SectionName; bytes: Uint8Array }
  | { kind: 'itemGone'; workspaceId: string; section: SectionName; id: string }
  | {
      kind: 'state';
      workspaceId: string;
      revision: bigint;
      hash: string;
      known: KnownState | undefined;
      /** Stamp of the state that it is the difference to. */
      since: string;
    }
  | { kind: 'bundleGone'; workspaceId: string }
  /** What the keys before it are fresh of. */
  | { kind: 'keysMark'; mark: string }
  /** The file is complete. */
  | { kind: 'end' };

/** In the order of their numbers on disk. */
const kinds = [
  'key',
  'keyGone',
  'organisation',
  'organisationGone',
  'core',
  'startsOver',
  'item',
  'itemGone',
  'state',
  'bundleGone',
  'end',
  'keysMark',
] as const satisfies readonly Entry['kind'][];

/** A whole bundle. */
export function* bundleEntries(held: HeldBundle): Generator<Entry> {
  const { source, known } = held;
  const { workspaceId, revision, hash } = source;
  yield { kind: 'core', workspaceId, core: source };
  for (const section of sectionNames) {
    yield { kind: 'startsOver', workspaceId, section };
    for (const bytes of held[section].encoded())
      yield { kind: 'item', workspaceId, section, bytes };
  }
  yield { kind: 'state', workspaceId, revision, hash, known, since: '' };
}

/** What changed of a bundle. */
export function* updateEntries(workspaceId: string, update: BundleUpdate): Generator<Entry> {
  const { core, startedOver, changes, revision, hash, known, since } = update;
  if (core !== undefined) yield { kind: 'core', workspaceId, core };
  for (const section of sectionNames) {
    const table = startedOver[section];
    if (table !== undefined) {
      yield { kind: 'startsOver', workspaceId, section };
      for (const bytes of table.encoded()) yield { kind: 'item', workspaceId, section, bytes };
    }
    for (const bytes of changes[section]?.upserts ?? [])
      yield { kind: 'item', workspaceId, section, bytes };
    for (const id of changes[section]?.gone ?? [])
      yield { kind: 'itemGone', workspaceId, section, id };
  }
  yield { kind: 'state', workspaceId, revision, hash, known, since };
}

/** The number of its kind, how many parts it has, and the parts, each after its length. */
export function encodeEntry(entry: Entry): Buffer {
  const parts = partsOf(entry);
  const lengths = parts.reduce((sum, part) => sum + 4 + part.length, 2);
  const bytes = Buffer.allocUnsafe(lengths);
  let at = bytes.writeUInt8(kinds.indexOf(entry.kind), 0);
  at = bytes.writeUInt8(parts.length, at);
  for (const part of parts) {
    at = bytes.writeUInt32LE(part.length, at);
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** @throws when these are not entries; the bytes of items are parts of what was given. */
export function* decodeEntries(bytes: Buffer): Generator<Entry> {
  for (let at = 0; at < bytes.length; ) {
    const kind = kinds[bytes.readUInt8(at)];
    const count = bytes.readUInt8(at + 1);
    at += 2;
    const parts: Buffer[] = [];
    for (let left = count; left > 0; left -= 1) {
      const length = bytes.readUInt32LE(at);
      if (at + 4 + length > bytes.length) throw new Error('an entry is cut off');
      parts.push(bytes.subarray(at + 4, at + 4 + length));
      at += 4 + length;
    }
    const entry = kind === undefined ? undefined : entryOf(kind, parts);
    // Of a later release, or about a section that there is no more.
    if (entry !== undefined) yield entry;
  }
}

function partsOf(entry: Entry): Uint8Array[] {
  switch (entry.kind) {
    case 'key':
      return [Buffer.from(entry.hashHex, 'hex'), toBinary(config.KeySchema, entry.key)];
    case 'keyGone':
      return [Buffer.from(entry.hashHex, 'hex')];
    case 'organisation':
      return [
        toBinary(config.OrganisationSchema, entry.organisation),
        Buffer.from(entry.keyDocument),
      ];
    case 'organisationGone':
      return [Buffer.from(entry.id)];
    case 'core':
      return [Buffer.from(entry.workspaceId), toBinary(config.BundleSchema, entry.core)];
    case 'startsOver':
      return [Buffer.from(entry.workspaceId), Buffer.from(entry.section)];
    case 'item':
      return [Buffer.from(entry.workspaceId), Buffer.from(entry.section), entry.bytes];
    case 'itemGone':
      return [Buffer.from(entry.workspaceId), Buffer.from(entry.section), Buffer.from(entry.id)];
    case 'state':
      return [
        Buffer.from(entry.workspaceId),
        toBinary(config.SectionsEndSchema, endOf(entry)),
        Buffer.from(entry.since),
      ];
    case 'bundleGone':
      return [Buffer.from(entry.workspaceId)];
    case 'keysMark':
      return [Buffer.from(entry.mark)];
    case 'end':
      return [];
  }
}

function entryOf(kind: Entry['kind'], parts: readonly Buffer[]): Entry | undefined {
  const [first = none, second = none, third = none] = parts;
  const section = second.toString();
  switch (kind) {
    case 'key':
      return { kind, hashHex: first.toString('hex'), key: fromBinary(config.KeySchema, second) };
    case 'keyGone':
      return { kind, hashHex: first.toString('hex') };
    case 'organisation':
      return {
        kind,
        organisation: fromBinary(config.OrganisationSchema, first),
        keyDocument: second.toString(),
      };
    case 'organisationGone':
      return { kind, id: first.toString() };
    case 'core':
      return {
        kind,
        workspaceId: first.toString(),
        core: fromBinary(config.BundleSchema, second),
      };
    case 'startsOver':
      return isSectionName(section) ? { kind, workspaceId: first.toString(), section } : undefined;
    case 'item':
      return isSectionName(section)
        ? { kind, workspaceId: first.toString(), section, bytes: third }
        : undefined;
    case 'itemGone':
      return isSectionName(section)
        ? { kind, workspaceId: first.toString(), section, id: third.toString() }
        : undefined;
    case 'state':
      return {
        ...stateOf(fromBinary(config.SectionsEndSchema, second)),
        kind,
        workspaceId: first.toString(),
        since: third.toString(),
      };
    case 'bundleGone':
      return { kind, workspaceId: first.toString() };
    case 'keysMark':
      return { kind, mark: first.toString() };
    case 'end':
      return { kind };
  }
}

const none = Buffer.alloc(0);

function endOf({ revision, hash, known }: Extract<Entry, { kind: 'state' }>): config.SectionsEnd {
  return {
    $typeName: 'sluice.config.v1.SectionsEnd',
    revision,
    hash,
    stamp: known?.stamp ?? '',
    coreHash: known?.coreHash ?? '',
    formats: { ...known?.formats },
  };
}

function stateOf({ revision, hash, stamp, coreHash, formats }: config.SectionsEnd) {
  const known = stamp === '' ? undefined : { revision, stamp, coreHash, formats };
  return { revision, hash, known };
}

/** What survives a restart without the control plane: every key, bundle and organisation held, nothing else. */
export interface SnapshotContent {
  keys: readonly { hashHex: string; key: config.Key }[];
  bundles: readonly HeldBundle[];
  organisations: readonly KeptOrganisation[];
  /** What the keys are fresh of, as the control plane said; empty = of nothing that is known. */
  keysMark: string;
}

export interface KeptOrganisation {
  organisation: config.Organisation;
  /** The keys that its identity provider gave; empty = none were fetched. */
  keyDocument: string;
}
