import { Prisma } from '../../generated/prisma/client.ts';
import type { Database } from '../../kernel/database/client.ts';
import { partialsIn } from '../prompts/partials-in.ts';

/** Enough to find the rest. */
const namedMax = 10;
/** Of so many that have its name somewhere in their text it is looked whether they mean it. */
const lookedThroughMax = 500;

/** What would go on without a partial that is removed: `prompt pp-hello`, `partial pl-footer`, as they are published. */
export async function usersOfPartial(
  db: Database,
  { id, workspaceId, slug }: { id: string; workspaceId: string; slug: string },
): Promise<string[]> {
  const found = await db.$queryRaw<{ user: string; template: string }[]>(
    Prisma.sql`SELECT 'prompt ' || p.slug AS user, v.template FROM prompts p
      JOIN prompt_versions v ON v.prompt_id = p.id AND v.version = p.published_version
      WHERE p.workspace_id = ${workspaceId}::uuid AND p.status = 'active'
        AND (position(${slug} IN v.template) > 0 OR position(${id} IN v.template) > 0)
      UNION ALL SELECT 'partial ' || p.slug, v.template FROM prompt_partials p
      JOIN prompt_partial_versions v ON v.partial_id = p.id AND v.version = p.published_version
      WHERE p.workspace_id = ${workspaceId}::uuid AND p.status = 'active' AND p.id <> ${id}::uuid
        AND (position(${slug} IN v.template) > 0 OR position(${id} IN v.template) > 0)
      ORDER BY 1 LIMIT ${lookedThroughMax}`,
  );
  const users = found
    .filter(({ template }) => partialsIn(template).some(({ name }) => name === slug || name === id))
    .map(({ user }) => user);
  return users.length > namedMax ? [...users.slice(0, namedMax), '…'] : users;
}
