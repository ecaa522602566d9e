import { invalidField } from '@sluice/errors';
import { faultOfEnforced } from '../../documents/guardrails/lacking-credentials.ts';
import { findGuardrail } from '../../documents/guardrails/store.ts';
import type { Database } from '../../kernel/database/client.ts';

/**
 * The slugs of the guardrails that a list names by UUID or slug, each once: of
 * the organisation, or of the workspace itself.
 * @throws 400 with the path of the first that is none
 */
export async function guardrailSlugs(
  db: Database,
  scope: { organisationId: string; workspaceId: string },
  references: readonly string[] | null | undefined,
  field: string,
): Promise<string[]> {
  const slugs = new Set<string>();
  for (const [index, reference] of (references ?? []).entries()) {
    const guardrail = await findGuardrail(db, scope.organisationId, reference);
    const isTheirs =
      guardrail?.workspaceId === null || guardrail?.workspaceId === scope.workspaceId;
    if (!isTheirs || guardrail.status !== 'active')
      throw invalidField(`${field}[${index}]`, 'is no guardrail of this workspace');
    const fault = await faultOfEnforced(db, scope.organisationId, reference);
    if (fault !== undefined) throw invalidField(`${field}[${index}]`, fault);
    slugs.add(guardrail.slug);
  }
  return [...slugs];
}
