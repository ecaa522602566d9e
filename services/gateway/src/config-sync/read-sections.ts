import { setImmediate as nextTurn } from 'node:timers/promises';
import { config } from '@sluice/proto-stubs';
import type { RpcClient } from '@sluice/rpc';
import type { BundleUpdate, HeldBundle, SectionChange } from '../held/held-bundle.ts';
import {
  emptyTables,
  formatNames,
  isSectionName,
  type SectionName,
  type SectionTables,
} from '../held/sections/index.ts';

const { getSections } = config.ConfigService.method;

/** What of a workspace is different from what is held. */
export async function readSections(
  client: RpcClient,
  workspaceId: string,
  held: HeldBundle | undefined,
  timeoutMs: number,
): Promise<BundleUpdate | 'unchanged' | 'gone'> {
  const known = held?.known;
  const stream = client.serverStream(getSections, {
    workspaceId,
    knownRevision: known?.revision ?? 0n,
    knownStamp: known?.stamp ?? '',
    knownCoreHash: known?.coreHash ?? '',
    knownFormats: { ...known?.formats },
  });
  const silence = setTimeout(() => stream.cancel(), timeoutMs);
  const pieces = new Pieces();
  let core: config.Bundle | undefined;
  let end: config.SectionsEnd | undefined;
  try {
    for await (const { part } of stream as AsyncIterable<config.GetSectionsResponse>) {
      silence.refresh();
      if (part.case === 'gone' || part.case === 'unchanged') return part.case;
      if (part.case === 'core') core = part.value;
      else if (part.case === 'piece') pieces.add(part.value);
      else if (part.case === 'end') end = part.value;
      // Requests get their turn between two pieces.
      await nextTurn();
    }
  } finally {
    clearTimeout(silence);
    stream.cancel();
  }
  if (end === undefined) throw new Error('the control plane did not send all of a bundle');
  const { revision, hash, stamp, coreHash, formats } = end;
  const next = { revision, stamp, coreHash, formats: ownFormats(formats) };
  return { core, revision, hash, known: next, since: known?.stamp ?? '', ...pieces };
}

/** A later release of this gateway must not take for held what this one left alone. */
function ownFormats(formats: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(formats).filter(([name]) => formatNames.includes(name)));
}

/** What came of each section. One that this release does not know is left alone. */
class Pieces {
  readonly startedOver: Partial<SectionTables> = {};
  readonly changes: Partial<Record<SectionName, SectionChange>> = {};

  add({ section, startsOver, upserts, gone }: config.SectionPiece): void {
    if (!isSectionName(section)) return;
    if (startsOver) Object.assign(this.startedOver, { [section]: emptyTables()[section] });
    const table = this.startedOver[section];
    if (table !== undefined) {
      for (const each of upserts) table.add(each);
      return;
    }
    const change = this.changes[section] ?? { upserts: [], gone: [] };
    change.upserts.push(...upserts);
    change.gone.push(...gone);
    this.changes[section] = change;
  }
}
