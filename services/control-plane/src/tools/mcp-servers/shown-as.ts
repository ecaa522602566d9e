import type { BodyOf } from '@sluice/contracts/admin';
import { invalidField } from '@sluice/errors';
import type { Prisma } from '../../generated/prisma/client.ts';
import type { Change } from '../../kernel/database/change.ts';
import type { Database } from '../../kernel/database/client.ts';

type Setting = BodyOf<'mcp-servers.capabilities.update'>['capabilities'][number];

/** What a server's callers are shown of a capability in place of what the upstream says, as it is stored. */
export interface ShownAs {
  readonly renamed_to?: string;
  readonly described_as?: string;
  readonly fixed_arguments?: Record<string, unknown>;
  readonly hidden_arguments?: string[];
}

const fields = ['renamed_to', 'described_as', 'fixed_arguments', 'hidden_arguments'] as const;
/** What can be said of which type. */
const typesOf: Readonly<Record<(typeof fields)[number], readonly string[]>> = {
  renamed_to: ['tool', 'prompt'],
  described_as: ['tool', 'prompt', 'resource', 'resource_template'],
  fixed_arguments: ['tool'],
  hidden_arguments: ['tool'],
};

/** @throws 400 for what cannot be said of a capability of that type */
export function requireShowable(settings: readonly Setting[]): void {
  for (const [index, setting] of settings.entries())
    for (const field of fields)
      if (setting[field] != null && !typesOf[field].includes(setting.type))
        throw invalidField(
          `body.capabilities[${index}].${field}`,
          `can be said of ${typesOf[field].join(' and ')} only`,
        );
}

/**
 * Keeps how capabilities are shown, whose switches are there already. What is left out stays, null takes it back.
 * @throws 400 when two capabilities would have one name
 */
export async function showAs(
  { db }: Pick<Change, 'db'>,
  server: { id: string; integrationId: string | null },
  settings: readonly Setting[],
  now: Date,
): Promise<void> {
  const changed = settings.filter((setting) =>
    fields.some((field) => setting[field] !== undefined),
  );
  if (changed.length === 0) return;
  const serverId = server.id;
  const rows = await db.mcpServerCapability.findMany({ where: { serverId } });
  const stored = new Map(rows.map((row) => [`${row.type} ${row.name}`, row.shown as ShownAs]));
  for (const setting of changed) {
    const { type, name } = setting;
    const said = fields.flatMap((field) =>
      setting[field] === undefined ? [] : [[field, setting[field]]],
    );
    const merged = { ...stored.get(`${type} ${name}`), ...Object.fromEntries(said) };
    const shown = Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== null));
    stored.set(`${type} ${name}`, shown);
    await db.mcpServerCapability.update({
      where: { serverId_type_name: { serverId, type, name } },
      data: { shown: shown as Prisma.InputJsonObject, updatedAt: now },
    });
  }
  await requireOwnNames(db, server, stored, settings);
}

/** How a server shows these capabilities, by type and name. */
export async function shownOn(
  db: Database,
  serverId: string,
  names: readonly { type: string; name: string }[],
): Promise<Map<string, ShownAs>> {
  const rows = await db.mcpServerCapability.findMany({
    where: { serverId, OR: names.map(({ type, name }) => ({ type, name })) },
    select: { type: true, name: true, shown: true },
  });
  return new Map(rows.map((row) => [`${row.type} ${row.name}`, row.shown as ShownAs]));
}

async function requireOwnNames(
  db: Database,
  { integrationId }: { integrationId: string | null },
  stored: ReadonlyMap<string, ShownAs>,
  settings: readonly Setting[],
): Promise<void> {
  const offered =
    integrationId === null
      ? []
      : await db.mcpCapability.findMany({
          where: { integrationId, type: { in: ['tool', 'prompt'] } },
          select: { type: true, name: true },
        });
  const all = new Set([...offered.map(({ type, name }) => `${type} ${name}`), ...stored.keys()]);
  const holders = new Map<string, string>();
  for (const key of all) {
    const [type = '', name = ''] = splitKey(key);
    const shownKey = `${type} ${stored.get(key)?.renamed_to ?? name}`;
    const holder = holders.get(shownKey);
    if (holder === undefined) {
      holders.set(shownKey, key);
      continue;
    }
    const index = settings.findIndex(
      (each) => each.renamed_to != null && [key, holder].includes(`${each.type} ${each.name}`),
    );
    throw invalidField(
      `body.capabilities[${Math.max(index, 0)}].renamed_to`,
      `is the name of another ${type} of this server`,
    );
  }
}

function splitKey(key: string): [type: string, name: string] {
  const space = key.indexOf(' ');
  return [key.slice(0, space), key.slice(space + 1)];
}
