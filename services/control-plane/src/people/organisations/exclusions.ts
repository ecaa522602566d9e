import type { BodyOf } from '@sluice/contracts/admin';
import { invalidField } from '@sluice/errors';
import type { Database } from '../../kernel/database/client.ts';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import { findWorkspace } from '../../kernel/tenancy/find-workspace.ts';
import { requireOwnOrganisation } from '../../kernel/tenancy/target-workspace.ts';
import { listWorkspaceDecisions, updateWorkspaces } from './store.ts';

/** The guardrails a workspace is exempt from, by the column that says so. */
export type Exemption = 'skipsInputGuardrails' | 'skipsOutputGuardrails';

/** The workspaces that are exempt, in the form in which they are sent. */
export async function presentExclusions(
  db: Database,
  organisationId: string,
  exemption: Exemption,
) {
  const rows = await listWorkspaceDecisions(db, organisationId);
  return {
    organisation_id: organisationId,
    workspaces: rows
      .filter((row) => row[exemption])
      .map((row) => ({ workspace_id: row.id, excluded: true as const })),
  };
}

/** Adds to what is exempt and takes from it; or, if the body says so, replaces it. */
export function changeExclusions(
  call: AdminRequest,
  exemption: Exemption,
  body: BodyOf<'exclusions.input-guardrails.update'>,
): Promise<void> {
  const { organisationId } = call.caller;
  requireOwnOrganisation(call.caller, body.organisation_id);
  return call.change(async ({ db, describe, touchWorkspace }) => {
    const rows = await listWorkspaceDecisions(db, organisationId);
    const before = new Set(rows.filter((row) => row[exemption]).map((row) => row.id));
    const after = body.override_existing ? new Set<string>() : new Set(before);
    for (const [index, { workspace_id: reference, excluded }] of body.workspaces.entries()) {
      const workspace = await findWorkspace(db, organisationId, reference);
      if (workspace === null)
        throw invalidField(
          `body.workspaces[${index}].workspace_id`,
          'is no workspace of this organisation',
        );
      if (excluded) after.add(workspace.id);
      else after.delete(workspace.id);
    }
    const added = [...after].filter((id) => !before.has(id));
    const removed = [...before].filter((id) => !after.has(id));
    await updateWorkspaces(db, added, { [exemption]: true });
    await updateWorkspaces(db, removed, { [exemption]: false });
    for (const id of [...added, ...removed]) touchWorkspace(id);
    describe({
      resourceId: organisationId,
      before: { excluded: [...before] },
      after: { excluded: [...after] },
    });
  });
}
