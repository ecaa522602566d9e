import type { QueryOf } from '@sluice/contracts/admin';
import { implementAll, pathParameter } from '../../kernel/http/implement.ts';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import {
  namedWorkspace,
  requireOwnOrganisation,
  targetWorkspace,
} from '../../kernel/tenancy/target-workspace.ts';
import {
  changeGuardrail,
  createGuardrail,
  deleteGuardrail,
  type GuardrailParts,
  reachGuardrail,
} from './operations.ts';
import { presentGuardrail, presentGuardrailDetail } from './present.ts';
import {
  currentVersion,
  type GuardrailOwner,
  type GuardrailRow,
  type GuardrailVersionRow,
  listGuardrails,
} from './store.ts';

export function guardrailOperations(parts: GuardrailParts) {
  return implementAll('guardrails', {
    list: async (call, { query }) => {
      const { rows, total } = await listGuardrails(
        call.db,
        {
          organisationId: call.caller.organisationId,
          owners: await visibleOwners(call, query),
          references: query.ids,
        },
        query,
      );
      return { data: rows.map(presentGuardrail), total };
    },
    create: async (call, { body }) => presentWritten(await createGuardrail(call, body, parts)),
    read: async (call) => {
      const guardrail = await reachGuardrail(call, call.db, referenceOf(call));
      return presentGuardrailDetail(guardrail, await currentVersion(call.db, guardrail));
    },
    update: async (call, { body }) =>
      presentWritten(await changeGuardrail(call, referenceOf(call), body, parts)),
    delete: (call) => deleteGuardrail(call, referenceOf(call)),
  });
}

/**
 * Whose guardrails a list shows: a workspace's when one is named, the
 * organisation's own when it is, both when both are. An organisation key that
 * names neither sees all that its scopes reach.
 */
async function visibleOwners(
  call: AdminRequest,
  query: QueryOf<'guardrails.list'>,
): Promise<GuardrailOwner[]> {
  requireOwnOrganisation(call.caller, query.organisation_id);
  const workspace = await targetWorkspace(
    call.db,
    call.caller,
    namedWorkspace(undefined, call.query),
  );
  // A workspace key never means its organisation, whatever it sends.
  const namesOrganisation =
    call.caller.workspaceId === undefined && query.organisation_id !== undefined;
  if (workspace !== undefined) call.permit('workspace');
  if (namesOrganisation) call.permit('organisation');
  const owners: GuardrailOwner[] = [];
  if (workspace !== undefined) owners.push({ workspaceId: workspace.id });
  if (namesOrganisation) owners.push('organisation');
  if (owners.length > 0) return owners;
  if (call.permits('workspace')) owners.push('every-workspace');
  if (call.permits('organisation')) owners.push('organisation');
  return owners;
}

function presentWritten(written: { guardrail: GuardrailRow; version: GuardrailVersionRow }) {
  const { guardrail, version } = written;
  return { id: guardrail.id, slug: guardrail.slug, version_id: version.id };
}

function referenceOf(call: AdminRequest): string {
  return pathParameter(call, 'guardrailId');
}
