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
  const knownPrompts = await promptsNamed(db, workspaceId, prompts);
  const isKnown = ({ kind, name, version }: NamedThing) => {
    if (kind === 'catalogue') return catalogue.has(name);
    if (kind === 'provider') return knownProviders.has(name);
    const prompt = knownPrompts.get(name);
    return prompt?.isOwn === true && hasVersion(prompt, version);
  };
  const missing = named.filter((each) => !isKnown(each)).slice(0, 20);
  const lines = [];
  for (const each of missing) {
    const message = `names ${await whatIsMissing(db, workspaceId, each, catalogue, knownPrompts)}`;
    lines.push({ field: each.path, message });
  }
  return lines;
}

async function whatIsMissing(
  db: Database,
  workspaceId: string,
  thing: NamedThing,
  catalogue: ProviderCatalogue,
  prompts: ReadonlyMap<string, KnownPrompt>,
): Promise<string> {
  const prompt = thing.kind === 'prompt' ? prompts.get(thing.name) : undefined;
  if (prompt?.isOwn === true) {
    const { version = '' } = thing;
    const named = `${thing.name}@${version}`.slice(0, 80);
    return `no version of the prompt, "${named}"${nearestAdvice(version, ['latest', ...prompt.labels])}`;
  }
  const what = `${words[thing.kind]}, "${spelled(thing).slice(0, 80)}"`;
  if (prompt !== undefined) return `${what}, which is shared with it alone: copy it (fork)`;
  return `${what}${nearestAdvice(spelled(thing), await namesThere(db, workspaceId, thing, catalogue))}`;
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

interface KnownPrompt {
  /** Of the workspace: what is only shared with it can be looked at and copied, and is not run. */
  readonly isOwn: boolean;
  readonly latestVersion: number;
  readonly labels: readonly string[];
}

/** As gateways find versions. */
function hasVersion({ latestVersion, labels }: KnownPrompt, version: string | undefined): boolean {
  if (version === undefined || version === 'latest' || version === 'default') return true;
  if (/^\d{1,10}$/.test(version)) return Number(version) >= 1 && Number(version) <= latestVersion;
  return labels.includes(version);
}

/** By the names, slugs or ids: its own, and those that are shared with it. */
async function promptsNamed(
  db: Database,
  workspaceId: string,
  named: readonly NamedThing[],
): Promise<ReadonlyMap<string, KnownPrompt>> {
  if (named.length === 0) return new Map();
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
    select: {
      id: true,
      slug: true,
      workspaceId: true,
      latestVersion: true,
      labels: { select: { label: { select: { name: true } } } },
    },
  });
  const known = rows.map((row) => ({
    ...row,
    isOwn: row.workspaceId === workspaceId,
    labels: row.labels.map(({ label }) => label.name),
  }));
  return new Map(
    known
      .sort((one, other) => Number(one.isOwn) - Number(other.isOwn))
      .flatMap((prompt) => [[prompt.id, prompt] as const, [prompt.slug, prompt] as const]),
  );
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
