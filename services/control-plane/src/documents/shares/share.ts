import type { BodyOf } from '@sluice/contracts/admin';
import { invalidField } from '@sluice/errors';
import type { Database } from '../../kernel/database/client.ts';
import { findWorkspace } from '../../kernel/tenancy/find-workspace.ts';

/** Whom a prompt or a partial is shared with, as its row keeps it; workspaces by UUID. */
export interface Share {
  readonly workspaces: 'all' | string[];
}

export function shareOf(row: { share: unknown }): Share | null {
  return (row.share ?? null) as Share | null;
}

export function isSharedWith(row: { share: unknown }, workspaceId: string): boolean {
  const share = shareOf(row);
  return share !== null && (share.workspaces === 'all' || share.workspaces.includes(workspaceId));
}

/** The filter for the same; without a workspace, for everything that is shared at all. */
export function sharedWith(workspaceId: string | undefined) {
  const withAll = { share: { path: ['workspaces'], equals: 'all' } };
  if (workspaceId === undefined)
    return { OR: [withAll, { share: { path: ['workspaces'], array_contains: [] } }] };
  return {
    workspaceId: { not: workspaceId },
    OR: [withAll, { share: { path: ['workspaces'], array_contains: [workspaceId] } }],
  };
}

/** @throws 400 naming the workspace that is none of the organisation's */
export async function readShare(
  db: Database,
  organisationId: string,
  body: BodyOf<'prompts.share.create'>,
): Promise<Share> {
  if (body.workspaces === 'all') return { workspaces: 'all' };
  const ids = new Set<string>();
  for (const [index, reference] of body.workspaces.entries()) {
    const workspace = await findWorkspace(db, organisationId, reference);
    if (workspace === null)
      throw invalidField(`body.workspaces[${index}]`, 'is no workspace of this organisation');
    ids.add(workspace.id);
  }
  return { workspaces: [...ids] };
}
