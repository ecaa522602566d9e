import { GatewayError, invalidField } from '@sluice/errors';
import type { Caller } from '../access/caller.ts';
import type { Database } from '../database/client.ts';
import { findWorkspace, findWorkspaceId, type WorkspaceRow } from './find-workspace.ts';

/** Where a request may name its workspace; organisation keys only, for workspace keys it is never looked at. */
export interface NamedWorkspace {
  /** Path of the field, for the error. */
  field: string;
  reference: string | null | undefined;
}

/**
 * The workspace a request is about: always a workspace key's own, else the one
 * named by UUID or slug. `undefined` when an organisation key names none.
 */
export async function targetWorkspace(
  db: Database,
  caller: Caller,
  named: NamedWorkspace,
): Promise<WorkspaceRow | undefined> {
  const reference = caller.workspaceId ?? named.reference ?? undefined;
  if (reference === undefined) return undefined;
  const workspace = await findWorkspace(db, caller.organisationId, reference);
  if (workspace === null) throw noWorkspace(named.field);
  return workspace;
}

/** The same, for operations that cannot do without one. */
export async function requireWorkspace(
  db: Database,
  caller: Caller,
  named: NamedWorkspace,
): Promise<WorkspaceRow> {
  const workspace = await targetWorkspace(db, caller, named);
  if (workspace === undefined)
    throw invalidField(named.field, 'is required with an organisation key');
  return workspace;
}

/** What an organisation key wrote as `workspace_id`: in the body of writes, else in the query. */
export function namedWorkspace(
  body: unknown,
  query: Readonly<Record<string, unknown>>,
): NamedWorkspace {
  const inBody =
    typeof body === 'object' && body !== null
      ? (body as { workspace_id?: unknown }).workspace_id
      : undefined;
  if (typeof inBody === 'string' && inBody !== '')
    return { field: 'body.workspace_id', reference: inBody };
  if (inBody !== undefined && inBody !== null && inBody !== '')
    throw invalidField('body.workspace_id', 'must be a UUID or a slug');
  const inQuery = query.workspace_id;
  if (inQuery !== undefined && typeof inQuery !== 'string')
    throw invalidField('query.workspace_id', 'must be given once');
  return {
    field: body === undefined ? 'query.workspace_id' : 'body.workspace_id',
    reference: inQuery === '' ? undefined : inQuery,
  };
}

/**
 * The workspace that an organisation key named, in the body or the query, by its id; undefined = none, or it is the key of
 * one. What is no text there is judged with the rest of the input.
 * @throws 404 when there is none of this name, 400 when the two name two
 */
export async function findNamedWorkspace(
  db: Database,
  caller: Caller,
  body: unknown,
  query: Readonly<Record<string, unknown>>,
): Promise<string | undefined> {
  if (caller.workspaceId !== undefined) return undefined;
  const inBody =
    typeof body === 'object' && body !== null && 'workspace_id' in body
      ? body.workspace_id
      : undefined;
  const found: string[] = [];
  for (const [field, reference] of [
    ['body.workspace_id', inBody],
    ['query.workspace_id', query.workspace_id],
  ] as const) {
    if (typeof reference !== 'string' || reference === '') continue;
    const id = await findWorkspaceId(db, caller.organisationId, reference);
    if (id === undefined) throw noWorkspace(field);
    if (found.length > 0 && !found.includes(id))
      throw invalidField(field, 'is another workspace than body.workspace_id');
    found.push(id);
  }
  return found[0];
}

function noWorkspace(field: string): GatewayError {
  return new GatewayError('admin.not_found', { field, message: 'No such workspace.' });
}

/** Whether it belongs to another workspace than an organisation key named. What is of the organisation is in all of them. */
export function isElsewhere(
  { namedWorkspaceId }: Caller,
  { workspaceId }: { workspaceId: string | null },
): boolean {
  return namedWorkspaceId !== undefined && workspaceId !== null && workspaceId !== namedWorkspaceId;
}

/** @throws 403 when a request names another organisation than the caller's own. */
export function requireOwnOrganisation(caller: Caller, id: string | undefined): void {
  if (id !== undefined && id.toLowerCase() !== caller.organisationId)
    throw new GatewayError('auth.missing_scope', {
      message: 'This key belongs to another organisation.',
    });
}

/**
 * A resource that a caller reached by an id: another organisation's does not
 * exist for them, another workspace's is not theirs, or not the one that they named.
 */
export function requireReach(
  caller: Caller,
  row: { organisationId: string; workspaceId: string | null } | null,
): void {
  if (row === null || row.organisationId !== caller.organisationId || isElsewhere(caller, row))
    throw new GatewayError('admin.not_found');
  if (caller.workspaceId !== undefined && row.workspaceId !== caller.workspaceId)
    throw new GatewayError('auth.missing_scope', {
      message: 'The resource is not in the workspace of this key.',
    });
}
