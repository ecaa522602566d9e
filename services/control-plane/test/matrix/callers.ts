import { randomUUID } from 'node:crypto';
import {
  type KeyType,
  type OrganisationRole,
  roleAllowsScope,
  scopesOf,
  type WorkspaceRole,
} from '@sluice/contracts';
import { type Access, defaultSettings } from '@sluice/contracts/admin';
import { expect } from 'vitest';
import type { Harness } from '../support/harness.ts';

/** Somebody who calls an operation that is aimed at the first organisation's default workspace. */
export interface MatrixCaller {
  readonly name: string;
  readonly key: string | undefined;
  /** What must come of it, by the access that is declared. */
  expected(rule: Access): 'served' | 'unauthorised' | 'forbidden';
}

/** The same key in three sizes for an operation: with every scope, without the ones it needs, with nothing else. */
export type Size = 'every scope' | 'all but its scopes' | 'its scopes only';

const acceptedScopes = (rule: Access): string[] =>
  Array.isArray(rule.scopes) ? [...rule.scopes] : Object.values(rule.scopes).flat();

/** Keys of an exact set of scopes, made once for each set. */
export function keyMaker(h: Harness) {
  const made = new Map<string, Promise<string>>();
  return (type: 'organisation-service' | 'workspace-service', scopes: readonly string[]) => {
    const cached = `${type} ${[...scopes].sort().join()}`;
    const key = made.get(cached) ?? createKey(h, type, scopes);
    made.set(cached, key);
    return key;
  };
}

async function createKey(h: Harness, type: KeyType, scopes: readonly string[]): Promise<string> {
  const path = `/api-keys/${type === 'organisation-service' ? 'organisation' : 'workspace'}/service`;
  const answer = await h.as(h.first.admin_key).post(path, {
    name: 'Matrix',
    scopes,
    ...(type === 'organisation-service' ? {} : { workspace_id: h.first.workspace_id }),
  });
  expect(answer.status, answer.text).toBe(200);
  return answer.body.key as string;
}

/** Service keys of one size for this operation; undefined when the kind of key can hold none of its scopes. */
export async function sized(
  makeKey: ReturnType<typeof keyMaker>,
  type: 'organisation-service' | 'workspace-service',
  size: Size,
  rule: Access,
): Promise<MatrixCaller | undefined> {
  const accepted = new Set(acceptedScopes(rule));
  const all = scopesOf(type);
  const scopes = {
    'every scope': all,
    'all but its scopes': all.filter((scope) => !accepted.has(scope)),
    'its scopes only': all.filter((scope) => accepted.has(scope)),
  }[size];
  if (scopes.length === 0) return undefined;
  const holds = scopes.some((scope) => accepted.has(scope));
  return {
    name: `${type}, ${size}`,
    key: await makeKey(type, scopes),
    expected: (of) => (of.keys.includes(type) && holds ? 'served' : 'forbidden'),
  };
}

/** People with every scope on their keys: what they may do is up to their role. */
export async function people(h: Harness): Promise<MatrixCaller[]> {
  const workspaceId = h.first.workspace_id;
  const roles: [OrganisationRole, WorkspaceRole | undefined][] = [
    ['owner', undefined],
    ['admin', undefined],
    ['member', 'admin'],
    ['member', 'manager'],
    ['member', 'member'],
  ];
  return Promise.all(
    roles.map(async ([organisationRole, role]) => {
      const key = await createUserKey(h, organisationRole, workspaceId, role ?? 'member');
      const standing = { organisationRole, role: role ?? ('admin' as const) };
      const held = scopesOf('workspace-user').filter((scope) =>
        roleAllowsScope(standing, scope, defaultSettings),
      );
      return {
        name: `user key, organisation ${organisationRole}${role === undefined ? '' : `, workspace ${role}`}`,
        key,
        expected: (rule: Access) =>
          rule.keys.includes('workspace-user') &&
          acceptedScopes(rule).some((scope) => held.includes(scope))
            ? ('served' as const)
            : ('forbidden' as const),
      };
    }),
  );
}

export async function createUserKey(
  h: Harness,
  organisationRole: string,
  workspaceId: string,
  workspaceRole: WorkspaceRole,
): Promise<string> {
  const id = randomUUID();
  await h.db.user.create({
    data: {
      id,
      organisationId: h.first.organisation_id,
      email: `${id}@example.org`,
      role: organisationRole,
    },
  });
  await h.db.workspaceMember.create({ data: { workspaceId, userId: id, role: workspaceRole } });
  const answer = await h.as(h.first.admin_key).post('/api-keys/workspace/user', {
    name: 'Matrix',
    workspace_id: workspaceId,
    user_id: id,
    scopes: [...scopesOf('workspace-user')],
  });
  expect(answer.status, answer.text).toBe(200);
  return answer.body.key as string;
}
