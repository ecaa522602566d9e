import type { BodyOf } from '@sluice/contracts/admin';
import { invalidField } from '@sluice/errors';
import { faultOfEnforced } from '../../documents/guardrails/lacking-credentials.ts';
import type { Database } from '../../kernel/database/client.ts';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import { isUuid } from '../../kernel/names/ids.ts';
import { activeWorkspaceIds } from '../workspaces/store.ts';
import {
  findOrganisationGuardrails,
  type OrganisationRow,
  readOrganisation,
  updateOrganisation,
} from './store.ts';

type GuardrailRef = { id: string; slug: string };

/** The guardrails that run on every request of every workspace. */
export async function presentDefaults(db: Database, organisation: OrganisationRow) {
  return {
    input_guardrails: await guardrailsOf(db, organisation.id, organisation.inputGuardrails),
    output_guardrails: await guardrailsOf(db, organisation.id, organisation.outputGuardrails),
  };
}

/** In the order in which they were set. */
async function guardrailsOf(
  db: Database,
  organisationId: string,
  slugs: readonly string[],
): Promise<GuardrailRef[]> {
  const rows = await findOrganisationGuardrails(db, organisationId, { ids: [], slugs });
  return slugs.flatMap((slug) => rows.find((row) => row.slug === slug) ?? []);
}

/** What the body leaves out stays; null and an empty list clear. */
export function changeDefaults(
  call: AdminRequest,
  body: BodyOf<'organisation.defaults.update'>,
): Promise<void> {
  return call.change(async ({ db, describe, touchWorkspace }) => {
    const organisation = await readOrganisation(db, call.caller.organisationId);
    const before = await presentDefaults(db, organisation);
    await updateOrganisation(db, organisation.id, {
      inputGuardrails: await slugsOf(db, organisation.id, body, 'input_guardrails'),
      outputGuardrails: await slugsOf(db, organisation.id, body, 'output_guardrails'),
      updatedAt: call.now,
    });
    for (const id of await activeWorkspaceIds(db, organisation.id)) touchWorkspace(id);
    describe({
      resourceId: organisation.id,
      before,
      after: await presentDefaults(db, await readOrganisation(db, organisation.id)),
    });
  });
}

async function slugsOf(
  db: Database,
  organisationId: string,
  body: BodyOf<'organisation.defaults.update'>,
  list: 'input_guardrails' | 'output_guardrails',
): Promise<string[] | undefined> {
  const references = body[list];
  if (references === undefined) return undefined;
  const named = references ?? [];
  const rows = await findOrganisationGuardrails(db, organisationId, {
    ids: named.filter(isUuid).map((id) => id.toLowerCase()),
    slugs: named,
  });
  const slugs = named.map((reference, index) => {
    const row = rows.find(({ id, slug }) => id === reference.toLowerCase() || slug === reference);
    if (row === undefined)
      throw invalidField(`body.${list}[${index}]`, 'is no guardrail of the organisation');
    return row.slug;
  });
  for (const [index, slug] of slugs.entries()) {
    const fault = await faultOfEnforced(db, organisationId, slug);
    if (fault !== undefined) throw invalidField(`body.${list}[${index}]`, fault);
  }
  return [...new Set(slugs)];
}
