import type { GuardrailActions, GuardrailCheck, Page } from '@sluice/contracts/admin';
import { parseText } from '@sluice/json';
import { type Guardrail, type GuardrailVersion, Prisma } from '../../generated/prisma/client.ts';
import type { CredentialVault } from '../../kernel/credentials/envelope.ts';
import { bytes } from '../../kernel/database/change.ts';
import type { Database } from '../../kernel/database/client.ts';
import { paged } from '../../kernel/http/shapes.ts';
import { isUuid, newId } from '../../kernel/names/ids.ts';
import { shownChecks } from './secrets.ts';

export type GuardrailRow = Guardrail;
export type GuardrailVersionRow = GuardrailVersion;

/** Whose guardrails are meant. */
export type GuardrailOwner = { workspaceId: string } | 'every-workspace' | 'organisation';

const table = 'guardrail_versions';

/** Published with the prefix `guard_`, which is another spelling of ours. */
function slugOf(reference: string): string {
  return reference.replace(/^guard_/, 'pg-');
}

/** A guardrail of the organisation, by UUID or slug; slugs are made here and never look like UUIDs. */
export function findGuardrail(
  db: Database,
  organisationId: string,
  reference: string,
): Promise<GuardrailRow | null> {
  const named = isUuid(reference) ? { id: reference.toLowerCase() } : { slug: slugOf(reference) };
  return db.guardrail.findFirst({ where: { organisationId, ...named } });
}

export async function listGuardrails(
  db: Database,
  filter: {
    organisationId: string;
    owners: readonly GuardrailOwner[];
    references: readonly string[] | undefined;
  },
  page: Page,
): Promise<{ rows: GuardrailRow[]; total: number }> {
  const where: Prisma.GuardrailWhereInput = {
    organisationId: filter.organisationId,
    OR: filter.owners.map(ownedBy),
    AND: filter.references === undefined ? [] : [namedBy(filter.references)],
  };
  const [rows, total] = await Promise.all([
    db.guardrail.findMany({
      where,
      orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
      ...paged(page),
    }),
    db.guardrail.count({ where }),
  ]);
  return { rows, total };
}

function ownedBy(owner: GuardrailOwner): Prisma.GuardrailWhereInput {
  if (owner === 'organisation') return { workspaceId: null };
  return owner === 'every-workspace' ? { workspaceId: { not: null } } : owner;
}

function namedBy(references: readonly string[]): Prisma.GuardrailWhereInput {
  return {
    OR: [
      { id: { in: references.filter(isUuid).map((id) => id.toLowerCase()) } },
      { slug: { in: references.filter((name) => !isUuid(name)).map(slugOf) } },
    ],
  };
}

/** Where it may be named: in its workspace, or in all of its organisation. */
export async function workspacesWith(
  db: Database,
  { organisationId, workspaceId }: GuardrailRow,
): Promise<string[]> {
  const rows = await db.workspace.findMany({
    where: { organisationId, status: 'active', id: workspaceId ?? undefined },
    select: { id: true },
    orderBy: { id: 'asc' },
  });
  return rows.map(({ id }) => id);
}

export function currentVersion(db: Database, row: GuardrailRow): Promise<GuardrailVersionRow> {
  return db.guardrailVersion.findUniqueOrThrow({
    where: { guardrailId_version: { guardrailId: row.id, version: row.version } },
  });
}

/** As they may be shown: masked secrets are there all the same. */
export async function checksInForce(
  db: Database,
  { id, version }: GuardrailRow,
): Promise<GuardrailCheck[]> {
  const found = await db.guardrailVersion.findUnique({
    where: { guardrailId_version: { guardrailId: id, version } },
    select: { checks: true },
  });
  return (found?.checks ?? []) as unknown as GuardrailCheck[];
}

export function insertGuardrail(
  db: Database,
  data: Prisma.GuardrailUncheckedCreateInput,
): Promise<GuardrailRow> {
  return db.guardrail.create({ data });
}

export function updateGuardrail(
  db: Database,
  id: string,
  data: Prisma.GuardrailUncheckedUpdateInput,
): Promise<GuardrailRow> {
  return db.guardrail.update({ where: { id }, data });
}

/** Goes with its versions. */
export async function removeGuardrail(db: Database, id: string): Promise<void> {
  await db.guardrail.delete({ where: { id } });
}

/** The version a guardrail row points to: its checks sealed as a whole, and as they may be shown. */
export function insertVersion(
  db: Database,
  vault: CredentialVault,
  guardrail: GuardrailRow,
  content: { checks: readonly GuardrailCheck[]; actions: GuardrailActions },
  made: { by: string; at: Date },
): Promise<GuardrailVersionRow> {
  const id = newId();
  return db.guardrailVersion.create({
    data: {
      id,
      guardrailId: guardrail.id,
      version: guardrail.version,
      checks: shownChecks(content.checks) as unknown as Prisma.InputJsonValue,
      sealedChecks: bytes(vault.seal(JSON.stringify(content.checks), { table, id })),
      actions: content.actions,
      createdBy: made.by,
      createdAt: made.at,
    },
  });
}

/** The checks with their secrets. */
export function openChecks(
  vault: CredentialVault,
  version: Pick<GuardrailVersionRow, 'id' | 'sealedChecks'>,
): GuardrailCheck[] {
  return parseText(
    vault.open(Buffer.from(version.sealedChecks), { table, id: version.id }),
  ) as GuardrailCheck[];
}

/**
 * Where a guardrail is relied on: as a default of the organisation or of a
 * workspace, by its slug or id, named by an active config, or by the policy of an MCP integration or server.
 */
export async function countUses(db: Database, row: GuardrailRow) {
  const names = [row.slug, row.slug.replace(/^pg-/, 'guard_'), row.id];
  const where = {
    OR: [{ inputGuardrails: { hasSome: names } }, { outputGuardrails: { hasSome: names } }],
  };
  // Alone, or with a version.
  const quoted = names.flatMap((name) => [JSON.stringify(name), `"${name}@`]);
  const inPolicy = Prisma.sql`organisation_id = ${row.organisationId}::uuid
    AND EXISTS (SELECT FROM unnest(${quoted}::text[]) AS name
      WHERE position(name IN (policy->'input_guardrails')::text) > 0
        OR position(name IN (policy->'output_guardrails')::text) > 0)`;
  const [organisations, workspaces, configs, servers] = await Promise.all([
    db.organisation.count({ where: { id: row.organisationId, ...where } }),
    db.workspace.count({ where: { organisationId: row.organisationId, ...where } }),
    db.$queryRaw<{ count: number }[]>(
      Prisma.sql`SELECT count(*)::int AS count
        FROM configs JOIN config_versions AS current
          ON current.config_id = configs.id AND current.version = configs.version
        WHERE configs.organisation_id = ${row.organisationId}::uuid AND configs.status = 'active'
          AND EXISTS (SELECT FROM unnest(${quoted}::text[]) AS name WHERE position(name IN current.body) > 0)`,
    ),
    db.$queryRaw<{ count: number }[]>(
      Prisma.sql`SELECT (SELECT count(*) FROM mcp_integrations WHERE ${inPolicy})::int
        + (SELECT count(*) FROM mcp_servers WHERE ${inPolicy})::int AS count`,
    ),
  ]);
  return {
    organisations,
    workspaces,
    configs: configs[0]?.count ?? 0,
    servers: servers[0]?.count ?? 0,
  };
}
