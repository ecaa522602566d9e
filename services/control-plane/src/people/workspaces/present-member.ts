import {
  type OrganisationRole,
  roleAllowsScope,
  scopesOf,
  standingIn,
  type WorkspaceRole,
} from '@sluice/contracts';
import type { User, WorkspaceMember } from '../../generated/prisma/client.ts';
import { instant } from '../../kernel/http/shapes.ts';
import { effectiveSettings } from '../../kernel/tenancy/settings.ts';

type MemberRow = WorkspaceMember & { user: User };

/** What decides the scopes of a workspace's members. */
export interface MembersWorkspace {
  readonly id: string;
  readonly settings: unknown;
  readonly organisation: { readonly settings: unknown };
}

/** A member as they are shown; `scopes` are those that a user key of theirs can use. */
export function presentMember(workspace: MembersWorkspace, member: MemberRow) {
  const { user } = member;
  const standing = standingIn(user.role, member.role);
  const settings = effectiveSettings(workspace.organisation.settings, workspace.settings);
  return {
    object: 'workspace-user' as const,
    id: user.id,
    first_name: user.firstName,
    last_name: user.lastName,
    org_role: user.role as OrganisationRole,
    role: member.role as WorkspaceRole,
    created_at: instant(member.createdAt),
    last_updated_at: instant(member.updatedAt),
    status: 'active' as const,
    workspace_id: workspace.id,
    email: user.email,
    scopes:
      standing === undefined
        ? []
        : scopesOf('workspace-user').filter((scope) => roleAllowsScope(standing, scope, settings)),
    settings: null,
  };
}
