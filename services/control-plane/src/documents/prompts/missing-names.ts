import type { Database } from '../../kernel/database/client.ts';
import { nearestAdvice } from '../../kernel/names/nearest.ts';
import { missingPartials } from './missing-partials.ts';
import type { VersionContent } from './store.ts';

/** From how many names the nearest is looked for. */
const comparedMax = 1000;

/**
 * What a version names and its workspace does not have, so that requests with it fail: partials, and the provider before
 * its model.
 * @returns sentences for `warnings`
 */
export async function missingNames(
  db: Database,
  workspaceId: string,
  { template, model, parameters }: Pick<VersionContent, 'template' | 'model' | 'parameters'>,
): Promise<readonly string[]> {
  const said = (parameters as { model?: unknown } | null)?.model;
  const provider =
    typeof said === 'string'
      ? await missingProvider(db, workspaceId, 'body.parameters.model', said)
      : await missingProvider(db, workspaceId, 'body.model', model ?? '');
  return [...(await missingPartials(db, workspaceId, template, 'prompt')), ...provider];
}

async function missingProvider(
  db: Database,
  workspaceId: string,
  field: string,
  model: string,
): Promise<string[]> {
  const slug = /^@([^/]+)\//.exec(model)?.[1];
  if (slug === undefined) return [];
  const found = await db.provider.count({ where: { workspaceId, slug } });
  if (found > 0) return [];
  const there = await db.provider.findMany({
    where: { workspaceId },
    select: { slug: true },
    orderBy: { slug: 'asc' },
    take: comparedMax,
  });
  const advice = nearestAdvice(
    `@${slug}`,
    there.map((row) => `@${row.slug}`),
  );
  return [`${field}: names no provider of the workspace, "@${slug.slice(0, 80)}"${advice}`];
}
