/** Who a person is in an organisation and in a workspace, and what that lets their keys do. */
export const organisationRoles = ['owner', 'admin', 'member'] as const;
export type OrganisationRole = (typeof organisationRoles)[number];

export const workspaceRoles = ['admin', 'manager', 'member'] as const;
export type WorkspaceRole = (typeof workspaceRoles)[number];

/**
 * The role a person acts with in a workspace: owners and admins of the
 * organisation are admins of every workspace; others need a membership.
 */
export function roleInWorkspace(
  organisationRole: string | undefined,
  membership: string | undefined,
): WorkspaceRole | undefined {
  if (organisationRole === 'owner' || organisationRole === 'admin') return 'admin';
  return workspaceRoles.find((role) => role === membership);
}

/** What members do is look, and call models. */
const memberActions = new Set(['read', 'list', 'view', 'render', 'invoke', 'write']);

/** Workspace settings and budgets belong to the workspace's admins. */
const adminOnly = new Set(['workspaces.create', 'workspaces.update', 'workspaces.delete']);

/** Whether a person of this role may use a scope that their key holds. */
export function roleAllowsScope(role: WorkspaceRole, scope: string): boolean {
  if (role === 'admin') return true;
  if (adminOnly.has(scope)) return false;
  if (role === 'manager') return true;
  return memberActions.has(scope.slice(scope.lastIndexOf('.') + 1)) && !/_api_keys\./.test(scope);
}
