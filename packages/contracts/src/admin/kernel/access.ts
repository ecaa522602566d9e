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

/** What an entry of the audit log can be about. */
export const auditResources = [
  'agent_integrations',
  'agent_servers',
  'api_keys',
  'collections',
  'configs',
  'guardrails',
  'integrations',
  'invites',
  'jwt',
  'labels',
  'ledger_adjustments',
  'ledger_rejects',
  'log_exports',
  'mcp_connections',
  'mcp_grants',
  'mcp_integrations',
  'mcp_servers',
  'organisation',
  'policies',
  'prompt_partials',
  'prompts',
  'providers',
  'scim_groups',
  'scim_mappings',
  'secret_references',
  'users',
  'virtual_keys',
  'workspace_users',
  'workspaces',
] as const;
export type AuditResource = (typeof auditResources)[number];

/** What can have been done with it. */
export const auditActions = [
  'accept',
  'alert',
  'approve',
  'authenticate',
  'create',
  'delete',
  'discover',
  'drift',
  'duplicate',
  'export',
  'manage',
  'publish',
  'replay',
  'resume',
  'rotate',
  'suspend',
  'test',
  'update',
] as const;
export type AuditAction = (typeof auditActions)[number];

/** What a change is called in the audit log; operations that only read have none. */
export interface AuditName {
  readonly resourceType: AuditResource;
  readonly action: AuditAction;
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
