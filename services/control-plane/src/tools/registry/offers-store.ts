import { isDeepStrictEqual } from 'node:util';
import type { Page } from '@sluice/contracts/admin';
import type { Prisma } from '../../generated/prisma/client.ts';
import type { Database } from '../../kernel/database/client.ts';
import type { RegistryKind } from './registry-kind.ts';

/** What an integration offers, by the name it has there. */
export interface OfferName {
  type: string;
  name: string;
}

export interface Offer extends OfferName {
  detail: Record<string, unknown>;
}

export interface OfferRow extends Offer {
  /** What counts: on for the integration, and on for the server that was asked about. */
  enabled: boolean;
  integrationEnabled: boolean;
  createdAt: Date;
  updatedAt: Date;
}

export interface OfferCount {
  total: number;
  enabled: number;
}

const keyOf = ({ type, name }: OfferName) => `${type} ${name}`;

/**
 * A page of what an integration offers, as it counts on the integration itself
 * or on one of its servers. A server may have switched off what nobody has seen
 * there yet.
 */
export async function listOffers(
  db: Database,
  kind: RegistryKind,
  /** Without an integration, what was said of the server alone. */
  of: { integrationId: string | null; serverId?: string },
  filter: { type?: string | undefined },
  page: Page,
): Promise<{ rows: OfferRow[]; total: number; counts: ReadonlyMap<string, OfferCount> }> {
  const { offers, offerNames, switches } = kind.tables(db);
  const { integrationId, serverId } = of;
  const select = { type: true, name: true, enabled: true } as const;
  const [known, switched] = await Promise.all([
    integrationId === null ? [] : offerNames.findMany({ where: { integrationId }, select }),
    serverId === undefined
      ? []
      : switches.findMany({
          where: { serverId },
          select: { ...select, createdAt: true, updatedAt: true },
        }),
  ]);
  const integrationEnabled = new Map(known.map((row) => [keyOf(row), row.enabled]));
  const onServer = new Map(switched.map((row) => [keyOf(row), row]));
  const unseen = switched.filter((row) => !integrationEnabled.has(keyOf(row)));
  const all = [...known, ...unseen].map((row) => {
    const key = keyOf(row);
    const open = integrationEnabled.get(key) ?? true;
    return {
      type: row.type,
      name: row.name,
      integrationEnabled: open,
      enabled: open && (onServer.get(key)?.enabled ?? true),
    };
  });
  const matching = all
    .filter((row) => filter.type === undefined || row.type === filter.type)
    .sort((a, b) => compare(a.type, b.type) || compare(a.name, b.name));
  const shown = matching.slice(
    page.currentPage * page.pageSize,
    (page.currentPage + 1) * page.pageSize,
  );
  const details =
    integrationId === null
      ? []
      : await offers.findMany({
          where: { integrationId, OR: shown.map(({ type, name }) => ({ type, name })) },
        });
  const stored = new Map(
    [...unseen.map((row) => ({ ...row, detail: {} })), ...details].map((row) => [keyOf(row), row]),
  );
  return {
    rows: shown.flatMap((row) => {
      const found = stored.get(keyOf(row));
      if (found === undefined) return []; // Gone since it was counted.
      const { createdAt, updatedAt } = found;
      return [{ ...row, detail: found.detail as Offer['detail'], createdAt, updatedAt }];
    }),
    total: matching.length,
    counts: countByType(all),
  };
}

/** By code unit, so that the order is the same everywhere. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function countByType(rows: readonly (OfferName & { enabled: boolean })[]): Map<string, OfferCount> {
  const counts = new Map<string, OfferCount>();
  for (const { type, enabled } of rows) {
    const before = counts.get(type) ?? { total: 0, enabled: 0 };
    counts.set(type, {
      total: before.total + 1,
      enabled: before.enabled + (enabled ? 1 : 0),
    });
  }
  return counts;
}

/** Which of these an integration has on and off; what nobody has seen or said there is neither. */
export async function offersNamed(
  db: Database,
  kind: RegistryKind,
  integrationId: string,
  names: readonly OfferName[],
): Promise<OfferState[]> {
  const where = { integrationId, OR: names.map(({ type, name }) => ({ type, name })) };
  const select = { type: true, name: true, enabled: true } as const;
  return inOrder(await kind.tables(db).offerNames.findMany({ where, select }));
}

/** The same of what was said of one server. */
export async function switchesNamed(
  db: Database,
  kind: RegistryKind,
  serverId: string,
  names: readonly OfferName[],
): Promise<OfferState[]> {
  const where = { serverId, OR: names.map(({ type, name }) => ({ type, name })) };
  const select = {
    type: true,
    name: true,
    enabled: true,
    createdAt: true,
    updatedAt: true,
  } as const;
  return inOrder(await kind.tables(db).switches.findMany({ where, select }));
}

type OfferState = OfferName & { enabled: boolean };

function inOrder(rows: readonly OfferState[]): OfferState[] {
  return rows
    .map(({ type, name, enabled }) => ({ type, name, enabled }))
    .sort((a, b) => compare(a.type, b.type) || compare(a.name, b.name));
}

/** Turns offers on and off for everyone; what is not known yet is kept for when it is. */
export async function setOffers(
  db: Database,
  kind: RegistryKind,
  integrationId: string,
  names: readonly OfferName[],
  { enabled, now }: { enabled: boolean; now: Date },
): Promise<void> {
  if (names.length === 0) return;
  const { offers } = kind.tables(db);
  await offers.updateMany({
    where: { integrationId, enabled: !enabled, OR: [...names] },
    data: { enabled, updatedAt: now },
  });
  await offers.createMany({
    data: names.map((name) => ({
      integrationId,
      ...name,
      enabled,
      createdAt: now,
      updatedAt: now,
    })),
    skipDuplicates: true,
  });
}

/** The same for one server. */
export async function setSwitches(
  db: Database,
  kind: RegistryKind,
  serverId: string,
  names: readonly OfferName[],
  { enabled, now }: { enabled: boolean; now: Date },
): Promise<void> {
  if (names.length === 0) return;
  const { switches } = kind.tables(db);
  await switches.updateMany({
    where: { serverId, enabled: !enabled, OR: [...names] },
    data: { enabled, updatedAt: now },
  });
  await addSwitches(db, kind, serverId, names, now, enabled);
}

/** Those that are there stay as they are. */
export async function addSwitches(
  db: Database,
  kind: RegistryKind,
  serverId: string,
  names: readonly OfferName[],
  now: Date,
  enabled = true,
): Promise<void> {
  await kind.tables(db).switches.createMany({
    data: names.map((name) => ({ serverId, ...name, enabled, createdAt: now, updatedAt: now })),
    skipDuplicates: true,
  });
}

/**
 * Makes the offers of an integration those that were found there. What is new
 * is on, unless it is said otherwise. What is off stays on the list although it
 * is gone: it must not come back as something new.
 */
export async function replaceOffers(
  db: Database,
  kind: RegistryKind,
  integrationId: string,
  found: readonly Offer[],
  { now, enabled = true }: { now: Date; enabled?: boolean },
): Promise<void> {
  const { offers } = kind.tables(db);
  const before = await offers.findMany({ where: { integrationId } });
  const named = new Set(found.map(keyOf));
  const gone = before.filter((row) => row.enabled && !named.has(keyOf(row)));
  if (gone.length > 0)
    await offers.deleteMany({
      where: { integrationId, OR: gone.map(({ type, name }) => ({ type, name })) },
    });
  const details = new Map(before.map((row) => [keyOf(row), row.detail]));
  for (const { type, name, detail } of found) {
    const known = details.get(keyOf({ type, name }));
    if (known === undefined || isDeepStrictEqual(known, detail)) continue;
    await offers.update({
      where: { integrationId_type_name: { integrationId, type, name } },
      data: { detail: detail as Prisma.InputJsonObject, updatedAt: now },
    });
  }
  await offers.createMany({
    data: found.map(({ type, name, detail }) => ({
      integrationId,
      type,
      name,
      enabled,
      detail: detail as Prisma.InputJsonObject,
      createdAt: now,
      updatedAt: now,
    })),
    skipDuplicates: true,
  });
}
