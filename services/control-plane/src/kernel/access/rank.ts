import { mayGrantRole, type OrganisationRole, type WorkspaceRole } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import type { Caller } from './caller.ts';

/**
 * Nobody makes or unmakes somebody above themselves, in the organisation or in a
 * workspace. Behind a key whose maker has no place there any more stands a
 * member; a key behind which nobody stands, and a token, has the rank that its
 * scopes give it.
 */

/** @throws 403 when the person behind the key is no admin of the organisation, and the role is above theirs */
export function requireOrganisationRank(caller: Caller, role: OrganisationRole): void {
  if (role !== 'member' && isPersons(caller) && caller.role !== 'admin')
    throw new GatewayError('auth.missing_scope', {
      message: 'The person behind this key is no admin of the organisation.',
    });
}

/** @throws 403 when one of the roles is above that of the person behind the key */
export function requireWorkspaceRank(caller: Caller, roles: readonly WorkspaceRole[]): void {
  if (!isPersons(caller)) return;
  const own = caller.role ?? 'member';
  if (!roles.every((role) => mayGrantRole(own, role)))
    throw new GatewayError('auth.missing_scope', {
      message: `A ${own} of the workspace cannot give or take a role above their own.`,
    });
}

function isPersons({ userId, token }: Caller): boolean {
  return userId !== undefined && token === undefined;
}
