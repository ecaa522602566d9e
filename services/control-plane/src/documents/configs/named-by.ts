import { type ConfigNode, parseConfigDocument, storedConfigCaps } from '@sluice/contracts';
import { parseText } from '@sluice/json';
import { Prisma } from '../../generated/prisma/client.ts';
import type { Database } from '../../kernel/database/client.ts';
import { namesIn } from './names-in.ts';
import { mentionsOf } from './store.ts';

/** Enough to find the rest. */
const namedMax = 10;

/** Slugs of the active configs of a workspace whose document fits; of more than ten an `…` stands for the rest. */
export async function configsNaming(
  db: Database,
  workspaceId: string,
  texts: readonly string[],
  fits: (document: ConfigNode) => boolean,
): Promise<string[]> {
  const slugs: string[] = [];
  for await (const page of mentionsOf(db, workspaceId, texts))
    for (const { slug, body } of page) {
      const parsed = parseConfigDocument(parseText(body), 'ignore', storedConfigCaps);
      if (!parsed.ok || !fits(parsed.config)) continue;
      slugs.push(slug);
      if (slugs.length === namedMax) return [...slugs, '…'];
    }
  return slugs;
}

/** What would go on without a provider that is removed: `config pc-main`, `prompt pp-hello`. */
export async function usersOfProvider(
  db: Database,
  provider: { workspaceId: string; slug: string },
): Promise<string[]> {
  const { workspaceId, slug } = provider;
  const configs = await configsNaming(
    db,
    workspaceId,
    [`"@${slug}"`, `"@${slug}/`, JSON.stringify(slug)],
    (document) => namesIn(document).some(({ kind, name }) => kind === 'provider' && name === slug),
  );
  const prompts = await db.$queryRaw<{ slug: string }[]>(
    Prisma.sql`SELECT p.slug FROM prompts p
      JOIN prompt_versions v ON v.prompt_id = p.id AND v.version = p.published_version
      WHERE p.workspace_id = ${workspaceId}::uuid AND p.status = 'active' AND v.virtual_key = ${slug}
      ORDER BY p.slug LIMIT ${namedMax}`,
  );
  return [
    ...configs.map((each) => `config ${each}`),
    ...prompts.map((each) => `prompt ${each.slug}`),
  ];
}

export async function usersOfPrompt(
  db: Database,
  prompt: { id: string; workspaceId: string; slug: string },
): Promise<string[]> {
  const { id, workspaceId, slug } = prompt;
  const configs = await configsNaming(
    db,
    workspaceId,
    [slug, id].flatMap((name) => [JSON.stringify(name), `"${name}@`]),
    (document) =>
      namesIn(document).some(
        ({ kind, name }) => kind === 'prompt' && (name === slug || name === id),
      ),
  );
  return configs.map((each) => `config ${each}`);
}

/** Configs that name a prompt by this label: `config pc-main`. */
export async function usersOfLabel(
  db: Database,
  { workspaceId, name }: { workspaceId: string; name: string },
): Promise<string[]> {
  const configs = await configsNaming(db, workspaceId, [`@${name}"`], (document) =>
    namesIn(document).some(({ kind, version }) => kind === 'prompt' && version === name),
  );
  return configs.map((each) => `config ${each}`);
}
