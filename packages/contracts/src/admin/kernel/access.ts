import type { KeyType } from '../../scopes.ts';

/**
 * Who may call an operation: the kinds of key that may, and the scopes of which
 * one is needed. Where the scope depends on what the operation is aimed at (the
 * kind of a key, the level of an integration), `scopes` is a table by that
 * variant: one of all of them opens the door, and the operation asks for its own
 * variant once it knows it.
 */
export interface Access {
  readonly keys: readonly KeyType[];
  readonly scopes: readonly string[] | Readonly<Record<string, readonly string[]>>;
  /** A bearer token is no credential here. */
  readonly keyHeaderOnly?: boolean;
}

/**
 * What every operation takes that keys of both levels may call, in the query and in the body: `workspace_id`, by which an
 * organisation's key names the workspace meant. For a workspace's own key it is never looked at.
 */
export function generalFields({ keys }: Access): readonly string[] {
  const isOf = (level: string) => keys.some((key) => key.startsWith(level));
  return isOf('organisation') && isOf('workspace') ? ['workspace_id'] : [];
}

/** What a change is called in the audit log; operations that only read have none. */
export interface AuditName {
  readonly resourceType: string;
  readonly action: string;
}

export const anyKey: readonly KeyType[] = [
  'organisation-service',
  'workspace-service',
  'workspace-user',
];
export const workspaceKey: readonly KeyType[] = ['workspace-service', 'workspace-user'];
export const organisationKey: readonly KeyType[] = ['organisation-service'];

/** Scopes to do something to what may belong to the organisation or to a workspace, by the level of the record. */
export const byLevel = (organisation: string, workspace: string) => (action: string) => ({
  organisation: [`${organisation}.${action}`],
  workspace: [`${workspace}.${action}`],
});
