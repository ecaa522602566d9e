import type { Database } from '../../kernel/database/client.ts';
import { isUuid } from '../../kernel/names/ids.ts';
import { type NamedPartial, partialsIn } from './partials-in.ts';

/** Enough to mend the template. */
const toldMax = 10;

/**
 * What a template calls and gateways do not have: a prompt that includes it is refused when it is rendered. It is saved
 * all the same, as either of the two may be made first; who saves it is told.
 * @param of  who calls: `prompt`, `partial`
 * @returns sentences for `warnings`
 */
export async function missingPartials(
  db: Database,
  workspaceId: string,
  template: string,
  of: 'prompt' | 'partial',
): Promise<readonly string[]> {
  const named = partialsIn(template);
  if (named.length === 0) return [];
  const names = [...new Set(named.map(({ name }) => name))];
  const rows = await db.promptPartial.findMany({
    where: {
      workspaceId,
      status: 'active',
      OR: [{ slug: { in: names } }, { id: { in: names.filter(isUuid) } }],
    },
    select: { id: true, slug: true, latestVersion: true },
  });
  const latest = new Map(
    rows.flatMap(({ id, slug, latestVersion }) => [
      [id, latestVersion] as const,
      [slug, latestVersion] as const,
    ]),
  );
  const missing = named.filter(({ name, version }) => !hasVersion(latest.get(name), version));
  const spelled = [...new Set(missing.map(spelling))];
  if (spelled.length === 0) return [];
  const told = [...spelled.slice(0, toldMax), ...(spelled.length > toldMax ? ['…'] : [])];
  return [
    `body.string: names no partial of the workspace: ${told.join(', ')}. Requests with this ${of} fail until there is one.`,
  ];
}

/** As gateways find versions: labels do not apply. */
function hasVersion(latest: number | undefined, version: string | undefined): boolean {
  if (latest === undefined) return false;
  if (version === undefined || version === 'latest' || version === 'default') return true;
  return /^\d{1,10}$/.test(version) && Number(version) >= 1 && Number(version) <= latest;
}

function spelling({ name, version }: NamedPartial): string {
  return (version === undefined ? name : `${name}@${version}`).slice(0, 80);
}
