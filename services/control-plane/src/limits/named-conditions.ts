import { operations } from '@sluice/contracts';
import type { PolicyCondition, PolicyTarget } from '@sluice/contracts/admin';
import { GatewayError } from '@sluice/errors';
import { Prisma } from '../generated/prisma/client.ts';
import type { Database } from '../kernel/database/client.ts';
import type { AdminRequest } from '../kernel/http/operation.ts';
import { isUuid } from '../kernel/names/ids.ts';
import { nearestAdvice } from '../kernel/names/nearest.ts';

/** Where the names of a policy are looked for: without a workspace, in all of the organisation. */
export interface PolicyScope {
  readonly organisationId: string;
  readonly workspaceId: string | null;
}

/** Ids of the catalogue, by which requests are told apart: not its other names. */
export type CatalogueIds = readonly string[];

/** Where names are looked for: a table whose rows have a slug, and which of them a workspace may know. */
interface Place {
  readonly table: string;
  readonly knownTo?: (workspaceId: string) => Prisma.Sql;
}

/** By what, and where, a policy may name what it counts. */
export interface PolicyNaming {
  readonly target: PolicyTarget;
  readonly scope: PolicyScope;
  readonly ids: CatalogueIds;
}

/** What condition keys name, by the table that has it. */
const tables = {
  api_key: { table: 'api_keys' },
  workspace_id: { table: 'workspaces', knownTo: (id) => Prisma.sql`id = ${id}::uuid` },
  virtual_key: { table: 'providers' },
  config: { table: 'configs' },
  prompt: { table: 'prompts' },
  mcp_server: { table: 'mcp_servers' },
} satisfies Readonly<Record<string, Place>>;

/** Budgets count calls of tools and agents, too: as providers `mcp` and `agent`, by their servers. */
const servers: readonly Place[] = [{ table: 'mcp_servers' }, { table: 'agent_servers' }];
const serverKinds = ['mcp', 'agent'];

function tableOf(key: string): Place | undefined {
  return Object.hasOwn(tables, key) ? tables[key as keyof typeof tables] : undefined;
}

function placesOf(key: string, target: PolicyTarget): readonly Place[] {
  const place = tableOf(key);
  if (place === undefined) return [];
  return key === 'virtual_key' && target === 'usage' ? [place, ...servers] : [place];
}

function providersFor(target: PolicyTarget, ids: CatalogueIds): readonly string[] {
  return target === 'usage' ? [...ids, ...serverKinds] : ids;
}

const itsOwn = (id: string) => Prisma.sql`workspace_id = ${id}::uuid`;

/** Gateways know these by both; of the others by the slug alone, so that an id is kept as its slug. */
const matchedById: ReadonlySet<string> = new Set(['api_key', 'workspace_id']);

/** From how many names the nearest is looked for. */
const comparedMax = 1000;

/**
 * Conditions whose values name something by slug or UUID, as gateways match them.
 * @param allowMissing  a value that names nothing is warned of, for set-up in odd order
 * @param path  where they were sent; `body.conditions` unless told
 * @throws 400 with the path of every value that names nothing, and the nearest name
 */
export async function namedConditions(
  call: AdminRequest,
  db: Database,
  conditions: readonly PolicyCondition[],
  naming: PolicyNaming & { allowMissing: boolean; path?: string },
): Promise<PolicyCondition[]> {
  const faults: { field: string; message: string }[] = [];
  const named: PolicyCondition[] = [];
  for (const [index, condition] of conditions.entries()) {
    const { key } = condition;
    const known = await knownNames(db, naming, key, namesIn(condition));
    const read = async (field: 'value' | 'excludes', value: string | string[]) => {
      for (const [at, each] of asList(value).entries()) {
        const name = nameIn(key, each);
        if (name === undefined || known === undefined || known.has(name)) continue;
        const path = `${naming.path ?? 'body.conditions'}[${index}].${field}${Array.isArray(value) ? `[${at}]` : ''}`;
        const there = await namesThere(db, naming, key);
        const what = key === 'model' ? 'provider' : key;
        const message = `names no ${what} "${name.slice(0, 80)}"${nearestAdvice(name, there)}`;
        faults.push({ field: path, message });
      }
      const kept = (each: string) => known?.get(each.trim()) ?? each;
      return Array.isArray(value) ? value.map(kept) : kept(value);
    };
    const { value, excludes } = condition;
    named.push({
      ...condition,
      value: await read('value', value),
      ...(excludes === undefined ? {} : { excludes: await read('excludes', excludes) }),
    });
  }
  const lines = faults.slice(0, 20).map(({ field, message }) => `${field}: ${message}`);
  const [first] = faults;
  if (first !== undefined && !naming.allowMissing)
    throw new GatewayError('admin.validation', {
      field: first.field,
      message: lines[0] ?? '',
      faults: lines,
    });
  call.notes.warnings.push(...lines);
  return named;
}

/** Of what gateways count by id: the id of the one that is named by slug. */
export async function idOfNamed(
  db: Database,
  scope: PolicyScope,
  key: string,
  name: string,
): Promise<string | undefined> {
  const place = tableOf(key);
  if (place === undefined || !matchedById.has(key) || isUuid(name)) return undefined;
  const rows = await db.$queryRaw<{ id: string }[]>(Prisma.sql`
    SELECT id::text FROM ${Prisma.raw(place.table)} WHERE ${within(place, scope)} AND slug = ${name} LIMIT 1`);
  return rows[0]?.id;
}

function asList(value: string | string[] | undefined): string[] {
  return value === undefined ? [] : Array.isArray(value) ? value : [value];
}

function namesIn({ key, value, excludes }: PolicyCondition): string[] {
  return [...asList(value), ...asList(excludes)]
    .map((each) => nameIn(key, each))
    .filter((name) => name !== undefined);
}

/** What a value names: nothing where it is a pattern; of a model the provider before it, unless its vendor calls it so (`@cf/…`). */
function nameIn(key: string, value: string): string | undefined {
  const text = value.trim();
  if (key === 'model') return /^@(?!cf\/|hf\/)([^/]+)\//i.exec(text)?.[1];
  return text.endsWith('*') ? undefined : text;
}

/** What is kept for each value that names something; undefined where any text may be meant. */
async function knownNames(
  db: Database,
  { scope, target, ids }: PolicyNaming,
  key: string,
  values: readonly string[],
): Promise<ReadonlyMap<string, string> | undefined> {
  const same = (known: readonly string[]) =>
    new Map(
      values
        .filter((value) => known.some((each) => each.toLowerCase() === value.toLowerCase()))
        .map((value) => [value, value]),
    );
  if (key === 'provider') return same(providersFor(target, ids));
  if (key === 'endpoint_type') return same(Object.keys(operations));
  if (key === 'organisation_id') return same([scope.organisationId]);
  if (key === 'model') return same([...ids, ...(await savedProviders(db, scope, values))]);
  const places = placesOf(key, target);
  if (places.length === 0 || values.length === 0) return undefined;
  const named = places.map(
    (place) => Prisma.sql`
    SELECT id::text, slug FROM ${Prisma.raw(place.table)}
    WHERE ${within(place, scope)}
      AND (slug = ANY(${values}::text[]) OR id = ANY(${values.filter(isUuid)}::uuid[]))`,
  );
  const rows = await db.$queryRaw<{ id: string; slug: string }[]>(
    Prisma.join(named, ' UNION ALL '),
  );
  const known = new Map(rows.map(({ slug }) => [slug, slug]));
  for (const { id, slug } of rows)
    for (const value of values)
      if (value.toLowerCase() === id) known.set(value, matchedById.has(key) ? value : slug);
  // Tokens stand for keys, by ids that are kept nowhere.
  if (key === 'api_key') for (const value of values.filter(isUuid)) known.set(value, value);
  return known;
}

/** Slugs of saved providers that stand before models after an `@`, in whatever case they are named there. */
async function savedProviders(
  db: Database,
  scope: PolicyScope,
  values: readonly string[],
): Promise<string[]> {
  if (values.length === 0) return [];
  const named = values.map((value) => value.toLowerCase());
  const rows = await db.$queryRaw<{ slug: string }[]>(Prisma.sql`
    SELECT DISTINCT slug FROM providers
    WHERE ${within(tables.virtual_key, scope)} AND lower(slug) = ANY(${named}::text[])`);
  return rows.map(({ slug }) => slug);
}

async function namesThere(db: Database, naming: PolicyNaming, key: string): Promise<string[]> {
  const { scope, target, ids } = naming;
  if (key === 'model')
    return [...ids, ...(await namesThere(db, { ...naming, target: 'llm' }, 'virtual_key'))];
  if (key === 'provider') return [...providersFor(target, ids)];
  if (key === 'endpoint_type') return Object.keys(operations);
  const places = placesOf(key, target);
  if (places.length === 0) return [scope.organisationId];
  const slugs = places.map(
    (place) =>
      Prisma.sql`SELECT slug FROM ${Prisma.raw(place.table)} WHERE ${within(place, scope)}`,
  );
  const rows = await db.$queryRaw<{ slug: string }[]>(Prisma.sql`
    ${Prisma.join(slugs, ' UNION ')} ORDER BY slug LIMIT ${comparedMax}`);
  return rows.map(({ slug }) => slug);
}

function within({ knownTo = itsOwn }: Place, { organisationId, workspaceId }: PolicyScope) {
  const ofOrganisation = Prisma.sql`organisation_id = ${organisationId}::uuid`;
  return workspaceId === null
    ? ofOrganisation
    : Prisma.sql`${ofOrganisation} AND ${knownTo(workspaceId)}`;
}
