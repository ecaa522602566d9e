import type { ConfigNode } from '@sluice/contracts';
import type { Database } from '../../kernel/database/client.ts';
import { isUuid } from '../../kernel/names/ids.ts';
import { nearestAdvice } from '../../kernel/names/nearest.ts';
import { sharedWith } from '../shares/share.ts';
import { type NamedThing, namesIn } from './names-in.ts';

/** The providers that need not be saved. */
export interface ProviderCatalogue {
  has(name: string): boolean;
  readonly ids: readonly string[];
}

/** From how many names the nearest is looked for. */
const comparedMax = 1000;

/**
 * What a document names and the workspace does not have.
 * @returns for each its path, `config.provider`, and what is wrong with the nearest name that there is
 */
export async function missingNames(
  db: Database,
  workspaceId: string,
  node: ConfigNode,
  catalogue: ProviderCatalogue,
): Promise<readonly { field: string; message: string }[]> {
  const named = namesIn(node);
  const providers = named.filter(({ kind }) => kind === 'provider');
  const prompts = named.filter(({ kind }) => kind === 'prompt');
  const knownProviders = await knownSlugs(db, workspaceId, providers);
  const knownPrompts = await knownNamesOfPrompts(db, workspaceId, prompts);
  const isKnown = ({ kind, name }: NamedThing) => {
    if (kind === 'catalogue') return catalogue.has(name);
    return (kind === 'provider' ? knownProviders : knownPrompts).has(name);
  };
  const missing = named.filter((each) => !isKnown(each)).slice(0, 20);
  const lines = [];
  for (const each of missing) {
    const there = await namesThere(db, workspaceId, each, catalogue);
    const message = `names ${words[each.kind]}, "${spelled(each).slice(0, 80)}"${nearestAdvice(spelled(each), there)}`;
    lines.push({ field: each.path, message });
  }
  return lines;
}

const words = {
  provider: 'no provider of the workspace',
  catalogue: 'neither a saved provider (@slug) nor one of the catalogue',
  prompt: 'no prompt of the workspace',
};

const spelled = ({ kind, name }: NamedThing) => (kind === 'provider' ? `@${name}` : name);

async function knownSlugs(
  db: Database,
  workspaceId: string,
  named: readonly NamedThing[],
): Promise<ReadonlySet<string>> {
  if (named.length === 0) return new Set();
  const rows = await db.provider.findMany({
    where: { workspaceId, slug: { in: named.map(({ name }) => name) } },
    select: { slug: true },
  });
  return new Set(rows.map(({ slug }) => slug));
}

/** Its own, and those that are shared with it. */
async function knownNamesOfPrompts(
  db: Database,
  workspaceId: string,
  named: readonly NamedThing[],
): Promise<ReadonlySet<string>> {
  if (named.length === 0) return new Set();
  const names = named.map(({ name }) => name);
  const rows = await db.prompt.findMany({
    where: {
      organisation: { workspaces: { some: { id: workspaceId } } },
      OR: [
        { slug: { in: names } },
        { id: { in: names.filter(isUuid).map((id) => id.toLowerCase()) } },
      ],
      AND: { OR: [{ workspaceId }, sharedWith(workspaceId)] },
    },
    select: { id: true, slug: true },
  });
  return new Set(rows.flatMap(({ id, slug }) => [id, slug]));
}

async function namesThere(
  db: Database,
  workspaceId: string,
  { kind }: NamedThing,
  { ids }: ProviderCatalogue,
): Promise<readonly string[]> {
  const some = { select: { slug: true }, orderBy: { slug: 'asc' }, take: comparedMax } as const;
  if (kind === 'prompt')
    return (await db.prompt.findMany({ where: { workspaceId }, ...some })).map(({ slug }) => slug);
  const saved = await db.provider.findMany({ where: { workspaceId }, ...some });
  const spelledSaved = saved.map(({ slug }) => `@${slug}`);
  return kind === 'provider' ? spelledSaved : [...spelledSaved, ...ids];
}
