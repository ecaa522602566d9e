import { idleActions } from '@sluice/contracts';
import {
  type BodyOf,
  type GuardrailActions,
  type GuardrailCheck,
  idleParameters,
} from '@sluice/contracts/admin';
import { GatewayError, invalidField } from '@sluice/errors';
import type { HostRules } from '@sluice/outbound';
import { actorOf } from '../../kernel/access/caller.ts';
import type { CredentialVault } from '../../kernel/credentials/envelope.ts';
import { isAsItIs } from '../../kernel/database/as-it-is.ts';
import type { Change } from '../../kernel/database/change.ts';
import type { Database } from '../../kernel/database/client.ts';
import { warnOfAddresses } from '../../kernel/http/check-address.ts';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import { generateSlug } from '../../kernel/names/generate-slug.ts';
import { newId } from '../../kernel/names/ids.ts';
import {
  isElsewhere,
  namedWorkspace,
  requireOwnOrganisation,
  targetWorkspace,
} from '../../kernel/tenancy/target-workspace.ts';
import { refuseBrokenChecks } from './broken-checks.ts';
import { lackingCredentials } from './lacking-credentials.ts';
import { presentGuardrailDetail } from './present.ts';
import { withKeptSecrets } from './secrets.ts';
import {
  countUses,
  currentVersion,
  findGuardrail,
  type GuardrailRow,
  type GuardrailVersionRow,
  insertGuardrail,
  insertVersion,
  openChecks,
  removeGuardrail,
  updateGuardrail,
  workspacesWith,
} from './store.ts';

interface Written {
  guardrail: GuardrailRow;
  version: GuardrailVersionRow;
}

/** The guardrail a path names. One that is not there and one out of reach are refused alike, as published. */
export async function reachGuardrail(
  call: AdminRequest,
  db: Database,
  reference: string,
): Promise<GuardrailRow> {
  const { caller } = call;
  const row = await findGuardrail(db, caller.organisationId, reference);
  const level = row?.workspaceId === null ? 'organisation' : 'workspace';
  const isTheirs = caller.workspaceId === undefined || row?.workspaceId === caller.workspaceId;
  if (row === null || !isTheirs || isElsewhere(caller, row) || !call.permits(level))
    throw new GatewayError('auth.missing_scope', {
      message: 'There is no such guardrail, or this key may not use it so.',
    });
  return row;
}

export interface GuardrailParts {
  vault: CredentialVault;
  hostRules: HostRules;
}

/** Of a workspace when one is named or the key is of one; else of the organisation. */
export function createGuardrail(
  call: AdminRequest,
  body: BodyOf<'guardrails.create'>,
  { vault, hostRules }: GuardrailParts,
): Promise<Written> {
  requireOwnOrganisation(call.caller, body.organisation_id);
  refuseBrokenChecks(body.checks);
  warnOfAddresses(call.notes, body.checks, 'body.checks', hostRules);
  warnOfIdle(call.notes, body.actions);
  warnOfIdleChecks(call);
  const checks = withKeptSecrets([], body.checks);
  return call.change(async (change) => {
    const { db, describe } = change;
    const workspace = await targetWorkspace(db, call.caller, namedWorkspace(call.body, call.query));
    call.permit(workspace === undefined ? 'organisation' : 'workspace');
    const by = actorOf(call.caller);
    const guardrail = await insertGuardrail(db, {
      id: newId(),
      organisationId: call.caller.organisationId,
      workspaceId: workspace?.id ?? null,
      slug: body.slug ?? generateSlug('guardrail', body.name),
      name: body.name,
      ownerId: by,
      updatedBy: by,
      createdAt: call.now,
      updatedAt: call.now,
    });
    const version = await insertVersion(
      db,
      vault,
      guardrail,
      { ...body, checks },
      { by, at: call.now },
    );
    await touchWorkspaces(change, guardrail);
    describe({
      resourceId: guardrail.id,
      workspaceId: workspace?.id,
      after: presentGuardrailDetail(guardrail, version),
    });
    return { guardrail, version };
  });
}

/** Tells the caller what of the actions does nothing beside the others, those that stay among them. */
function warnOfIdle({ warnings }: AdminRequest['notes'], actions: GuardrailActions): void {
  warnings.push(
    ...idleActions(actions, true).map(
      ({ path, why }) => `body.actions.${path}: does nothing: ${why}`,
    ),
  );
}

/** The same of parameters, as they were sent: what was filled in is nobody's slip. */
function warnOfIdleChecks({ body, notes }: AdminRequest): void {
  const { checks = [] } = body as { checks?: readonly { id: string; parameters?: unknown }[] };
  for (const [index, { id, parameters = {} }] of checks.entries())
    for (const { path, why } of idleParameters(id, parameters)) {
      const at = ['body', `checks[${index}]`, 'parameters', path].filter((part) => part !== '');
      notes.warnings.push(`${at.join('.')}: does nothing: ${why}`);
    }
}

/** Other checks or actions make a new version; a new name does not, since nothing runs differently. */
export function changeGuardrail(
  call: AdminRequest,
  reference: string,
  body: BodyOf<'guardrails.update'>,
  { vault, hostRules }: GuardrailParts,
): Promise<Written> {
  refuseBrokenChecks(body.checks ?? []);
  warnOfAddresses(call.notes, body.checks, 'body.checks', hostRules);
  warnOfIdleChecks(call);
  return call.change(async (change) => {
    const row = await reachGuardrail(call, change.db, reference);
    const before = await currentVersion(change.db, row);
    if (body.checks !== undefined) await refuseOpenEnforced(change.db, row, body.checks);
    const by = actorOf(call.caller);
    const stored = {
      checks: openChecks(vault, before),
      actions: before.actions as GuardrailActions,
    };
    const content = {
      checks:
        body.checks === undefined ? stored.checks : withKeptSecrets(stored.checks, body.checks),
      actions: { ...stored.actions, ...body.actions },
    };
    if (body.actions !== undefined) warnOfIdle(call.notes, content.actions);
    const runsDifferently = !isAsItIs(stored, content);
    if (!runsDifferently && isAsItIs(row, { name: body.name })) {
      change.unchanged();
      return { guardrail: row, version: before };
    }
    const guardrail = await updateGuardrail(change.db, row.id, {
      name: body.name,
      version: runsDifferently ? row.version + 1 : undefined,
      updatedBy: by,
      updatedAt: call.now,
    });
    const version = runsDifferently
      ? await insertVersion(change.db, vault, guardrail, content, { by, at: call.now })
      : before;
    if (runsDifferently) await touchWorkspaces(change, guardrail);
    describeChange(change, { guardrail: row, version: before }, { guardrail, version });
    return { guardrail, version };
  });
}

/** @throws 400 where every request must pass a check that nobody gives credentials */
async function refuseOpenEnforced(
  db: Change['db'],
  row: GuardrailRow,
  checks: readonly GuardrailCheck[],
): Promise<void> {
  const lacking = lackingCredentials(checks);
  if (lacking === undefined) return;
  const { organisations, workspaces } = await countUses(db, row);
  if (organisations + workspaces > 0)
    throw invalidField(
      `body.checks[${lacking}].parameters.credentials`,
      'is required: every request must pass this guardrail',
    );
}

/** Refused while something relies on it: requests would go on unguarded without a word. */
export function deleteGuardrail(call: AdminRequest, reference: string): Promise<void> {
  return call.change(async (change) => {
    const guardrail = await reachGuardrail(call, change.db, reference);
    const uses = await countUses(change.db, guardrail);
    if (Object.values(uses).some((number) => number > 0))
      throw new GatewayError('admin.refused', { message: refusal(uses) });
    const version = await currentVersion(change.db, guardrail);
    await removeGuardrail(change.db, guardrail.id);
    await touchWorkspaces(change, guardrail);
    describeChange(change, { guardrail, version });
  });
}

/** Gateways hold it with each workspace in which it may be named. */
async function touchWorkspaces(
  { db, touchWorkspace }: Change,
  guardrail: GuardrailRow,
): Promise<void> {
  for (const id of await workspacesWith(db, guardrail)) touchWorkspace(id);
}

function refusal(uses: Awaited<ReturnType<typeof countUses>>): string {
  const places = [
    ...(uses.organisations > 0 ? ['a default of the organisation'] : []),
    ...(uses.workspaces > 0 ? [`a default of ${count(uses.workspaces, 'workspace')}`] : []),
    ...(uses.configs > 0 ? [`named by ${count(uses.configs, 'active config')}`] : []),
    ...(uses.servers > 0
      ? [
          `named by ${uses.servers} MCP ${uses.servers === 1 ? 'integration or server' : 'integrations or servers'}`,
        ]
      : []),
  ];
  return `The guardrail is in use: it is ${places.join(' and ')}.`;
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`;
}

function describeChange(change: Change, before: Written, after?: Written): void {
  change.describe({
    resourceId: before.guardrail.id,
    workspaceId: before.guardrail.workspaceId ?? undefined,
    before: presentGuardrailDetail(before.guardrail, before.version),
    after: after && presentGuardrailDetail(after.guardrail, after.version),
  });
}
