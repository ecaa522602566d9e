import type { Database } from '../database/client.ts';
import { invalidField } from '../http/parse-input.ts';
import { findGuardrail } from './store.ts';

/**
 * The slugs of guardrails that are to become defaults, named by slug or id,
 * each once and in the order given. A workspace's defaults are its own
 * guardrails, an organisation's are the organisation's.
 * @throws 400 at the first that is not one of these
 */
export async function requireGuardrails(
  db: Database,
  owner: { organisationId: string; workspaceId: string | null },
  references: readonly string[],
  field: string,
): Promise<string[]> {
  const slugs = new Set<string>();
  for (const [index, reference] of references.entries()) {
    const row = await findGuardrail(db, owner.organisationId, reference);
    if (row === null || row.workspaceId !== owner.workspaceId || row.status !== 'active')
      throw invalidField(
        `${field}[${index}]`,
        `is no guardrail of this ${owner.workspaceId === null ? 'organisation' : 'workspace'}`,
      );
    slugs.add(row.slug);
  }
  return [...slugs];
}
