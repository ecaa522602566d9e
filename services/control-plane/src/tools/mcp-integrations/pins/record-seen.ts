import { Prisma } from '../../../generated/prisma/client.ts';
import type { Change } from '../../../kernel/database/change.ts';
import type { Database } from '../../../kernel/database/client.ts';
import { noJson } from '../../../kernel/database/no-json.ts';
import { serversOf } from '../../registry/integrations-store.ts';
import { mcpKind } from '../kind.ts';
import { detailOf, offerNameOf } from '../offer-of.ts';
import { findingsIn, type Seen } from './findings.ts';

/** Of a report. */
interface ToldOf {
  /** Types of which it has all there is. */
  readonly completeTypes: readonly string[];
  /** What was seen after that stands: reports of several gateways come in any order. */
  readonly seenAt: Date;
}

/** Whose lists they are. */
export interface SeenAt {
  readonly id: string;
  readonly slug: string;
  readonly workspaceId: string | null;
  readonly newCapabilities: string;
  readonly onDrift: string;
  readonly settledTypes: readonly string[];
}

/** What is known, and what of it is to change. */
interface Plan {
  readonly added: readonly Seen[];
  readonly moved: readonly (Seen & { readonly pinnedHash: string | null })[];
  readonly gone: readonly { type: string; name: string }[];
  readonly newOffers: readonly Seen[];
  readonly settled: readonly string[];
}

/** Of one integration; what comes beyond is not pinned. */
const pinsMax = 5_000;
/** Of one report, in the audit log. */
const driftsTold = 50;
const idOf = ({ type, name }: { type: string; name: string }) => `${type} ${name}`;

/** Whether there is anything to write down. */
export async function saysSomethingNew(
  db: Database,
  integration: SeenAt,
  seen: readonly Seen[],
  told: ToldOf,
): Promise<boolean> {
  const plan = await planOf(db, integration, seen, told);
  return Object.values(plan).some((list) => list.length > 0);
}

/**
 * Keeps what servers list: as what may be switched, and as pins. The first list
 * is approved as it comes, and what appears later only where drift does not
 * block; what is not as it was approved is told in the audit log.
 */
export async function recordSeen(
  change: Change,
  integration: SeenAt,
  seen: readonly Seen[],
  { now, ...told }: ToldOf & { now: Date },
): Promise<void> {
  const { db } = change;
  const { seenAt } = told;
  const { id: integrationId } = integration;
  const plan = await planOf(db, integration, seen, told);
  const settled = await settledTypes(db, integration, now);
  const findingsOf = await findingsIn(db, integrationId, [...plan.added, ...plan.moved]);
  const isApproved = ({ type }: Seen) => integration.onDrift !== 'block' || !settled.has(type);
  await db.mcpPin.createMany({
    data: plan.added.map((each) => {
      const definition = jsonOf(each.definition);
      const approved = isApproved(each);
      return {
        integrationId,
        type: each.type,
        name: each.name,
        pinnedHash: approved ? each.hash : null,
        pinnedDefinition: approved ? definition : noJson,
        pinnedAt: approved ? now : null,
        seenHash: each.hash,
        seenDefinition: definition,
        findings: findingsOf(each),
        seenAt,
        createdAt: now,
      };
    }),
    skipDuplicates: true,
  });
  for (const each of plan.moved) {
    const { type, name, hash, definition } = each;
    await db.mcpPin.update({
      where: { integrationId_type_name: { integrationId, type, name } },
      data: {
        seenHash: hash,
        seenDefinition: jsonOf(definition),
        findings: findingsOf(each),
        seenAt,
      },
    });
  }
  if (plan.gone.length > 0)
    await db.mcpPin.updateMany({
      where: { integrationId, OR: [...plan.gone] },
      data: { seenHash: null, seenDefinition: Prisma.DbNull, seenAt },
    });
  await keepOffers(db, integration, plan, now);
  if (plan.settled.length > 0)
    await db.mcpIntegration.update({
      where: { id: integrationId },
      data: { settledTypes: [...integration.settledTypes, ...plan.settled] },
    });
  // What gateways decide by: pins, and what may be switched.
  const drifts = integration.onDrift === 'block' ? plan.moved.length + plan.gone.length : 0;
  if (plan.added.length + plan.newOffers.length + drifts > 0)
    for (const server of await serversOf(db, mcpKind, integrationId))
      change.touchWorkspace(server.workspaceId);
  tell(change, integration, plan, isApproved);
}

/** Lists may be too long for anybody to say that they are whole: the first minutes are the first sight. */
const firstSightMs = 10 * 60_000;

/** Types of which what comes now is new. */
async function settledTypes(
  db: Database,
  { id: integrationId, settledTypes }: SeenAt,
  now: Date,
): Promise<ReadonlySet<string>> {
  const old = await db.mcpPin.findMany({
    where: { integrationId, createdAt: { lt: new Date(now.getTime() - firstSightMs) } },
    distinct: ['type'],
    select: { type: true },
  });
  return new Set([...settledTypes, ...old.map(({ type }) => type)]);
}

async function planOf(
  db: Database,
  { id: integrationId, settledTypes }: SeenAt,
  seen: readonly Seen[],
  { completeTypes, seenAt }: ToldOf,
): Promise<Plan> {
  const pins = await db.mcpPin.findMany({
    where: { integrationId },
    select: { type: true, name: true, pinnedHash: true, seenHash: true, seenAt: true },
  });
  const known = new Map(pins.map((pin) => [idOf(pin), pin]));
  const offered = await offeredNames(db, integrationId);
  const room = Math.max(0, pinsMax - pins.length);
  const moved = seen.flatMap((each) => {
    const pin = known.get(idOf(each));
    return pin === undefined || pin.seenHash === each.hash || pin.seenAt > seenAt
      ? []
      : [{ ...each, pinnedHash: pin.pinnedHash }];
  });
  const named = new Set(seen.map(idOf));
  return {
    added: seen.filter((each) => !known.has(idOf(each))).slice(0, room),
    moved,
    gone: pins
      .filter((pin) => completeTypes.includes(pin.type) && pin.seenHash !== null)
      .filter((pin) => pin.seenAt <= seenAt)
      .filter((pin) => !named.has(idOf(pin)))
      .map(({ type, name }) => ({ type, name })),
    newOffers: seen.filter((each) => !offered.has(idOf(each))).slice(0, room),
    settled: completeTypes.filter((type) => !settledTypes.includes(type)),
  };
}

/** What may be switched already, by what callers ask for. */
async function offeredNames(db: Database, integrationId: string): Promise<Map<string, string>> {
  const rows = await db.$queryRaw<{ type: string; name: string; address: string | null }[]>(
    Prisma.sql`SELECT type, name, COALESCE(detail->>'uri', detail->>'uri_template') AS address
      FROM mcp_capabilities WHERE integration_id = ${integrationId}::uuid`,
  );
  return new Map(
    rows.map(({ type, name, address }) => [idOf({ type, name: address ?? name }), name]),
  );
}

async function keepOffers(
  db: Database,
  { id: integrationId, newCapabilities }: SeenAt,
  { moved, newOffers }: Plan,
  now: Date,
): Promise<void> {
  const names = await offeredNames(db, integrationId);
  for (const { type, name: key, definition } of moved) {
    const name = names.get(idOf({ type, name: key }));
    if (name === undefined || definition === undefined) continue;
    await db.mcpCapability.update({
      where: { integrationId_type_name: { integrationId, type, name } },
      data: { detail: detailOf(definition) as Prisma.InputJsonObject, updatedAt: now },
    });
  }
  const rows = await db.mcpCapability.findMany({
    where: { integrationId },
    select: { type: true, name: true },
  });
  const taken = new Set(rows.map(idOf));
  const data = newOffers.flatMap(({ type, name: key, definition }) => {
    const isTaken = (name: string) => taken.has(idOf({ type, name }));
    const name = definition === undefined ? key : offerNameOf(definition, isTaken);
    if (name === undefined || isTaken(name)) return [];
    taken.add(idOf({ type, name }));
    const detail = detailOf(definition ?? {}) as Prisma.InputJsonObject;
    const enabled = newCapabilities === 'enabled';
    return [{ integrationId, type, name, enabled, detail, createdAt: now, updatedAt: now }];
  });
  await db.mcpCapability.createMany({ data, skipDuplicates: true });
}

function tell(
  { describe, alsoRecord }: Change,
  { id, slug, workspaceId, onDrift }: SeenAt,
  { added, moved, gone }: Plan,
  isApproved: (each: Seen) => boolean,
): void {
  const names = (list: readonly { type: string; name: string }[]) =>
    list.slice(0, driftsTold).map(idOf);
  const drifted = moved.filter(({ pinnedHash, hash }) => pinnedHash !== hash);
  const held = added.filter((each) => !isApproved(each));
  describe({
    resourceId: id,
    workspaceId: workspaceId ?? undefined,
    detail: {
      slug,
      added: names(added),
      held: names(held),
      drifted: names(drifted),
      gone: names(gone),
    },
  });
  for (const { type, name, hash, pinnedHash } of drifted.slice(0, driftsTold))
    alsoRecord({
      resourceType: 'mcp_integrations',
      resourceId: id,
      workspaceId: workspaceId ?? undefined,
      action: 'drift',
      detail: { slug, type, name, pinned_hash: pinnedHash, seen_hash: hash, on_drift: onDrift },
    });
}

function jsonOf(definition: Record<string, unknown> | undefined) {
  return definition === undefined ? noJson : (definition as Prisma.InputJsonObject);
}
