import type { KeyType } from '@sluice/contracts';

/**
 * Who may do what: every operation of the admin API, the kinds of key that may
 * call it, and the scopes of which one is needed. Where the scope depends on
 * what the operation is aimed at (the kind of a key, the level of an
 * integration), `scopes` is a table by that variant: one of all of them opens
 * the door, and the operation asks for its own variant once it knows it.
 *
 * `audit` names the operation in the audit log; operations that only read have none.
 */
export interface OperationRule {
  readonly keys: readonly KeyType[];
  readonly scopes: readonly string[] | Readonly<Record<string, readonly string[]>>;
  readonly audit?: { readonly resourceType: string; readonly action: string };
}

const anyKey: readonly KeyType[] = ['organisation-service', 'workspace-service', 'workspace-user'];
const organisationKey: readonly KeyType[] = ['organisation-service'];

const creates = (resourceType: string) => ({ resourceType, action: 'create' });
const updates = (resourceType: string) => ({ resourceType, action: 'update' });
const deletes = (resourceType: string) => ({ resourceType, action: 'delete' });

/** Keys are guarded by the scopes of the kind of key that is handled. */
const keyScopes = (action: string) => ({
  'organisation-service': [`organisation_service_api_keys.${action}`],
  'workspace-service': [`workspace_service_api_keys.${action}`],
  'workspace-user': [`workspace_user_api_keys.${action}`],
});

/** Integrations by the level they belong to. */
const integrationScopes = (action: string) => ({
  organisation: [`organisation_integrations.${action}`],
  workspace: [`workspace_integrations.${action}`],
});

/** Providers were called virtual keys once; either name of the scope will do. */
const providerScopes = (action: string) => [`providers.${action}`, `virtual_keys.${action}`];

export const operations = {
  'api-keys.create': { keys: anyKey, scopes: keyScopes('create'), audit: creates('api_keys') },
  'api-keys.list': { keys: anyKey, scopes: keyScopes('list') },
  'api-keys.read': { keys: anyKey, scopes: keyScopes('read') },
  'api-keys.update': { keys: anyKey, scopes: keyScopes('update'), audit: updates('api_keys') },
  'api-keys.delete': { keys: anyKey, scopes: keyScopes('delete'), audit: deletes('api_keys') },
  'api-keys.rotate': {
    keys: anyKey,
    scopes: keyScopes('rotate'),
    audit: { resourceType: 'api_keys', action: 'rotate' },
  },

  'workspaces.create': {
    keys: organisationKey,
    scopes: ['workspaces.create'],
    audit: creates('workspaces'),
  },
  'workspaces.list': { keys: anyKey, scopes: ['workspaces.list'] },
  'workspaces.read': { keys: anyKey, scopes: ['workspaces.read'] },
  'workspaces.update': {
    keys: anyKey,
    scopes: ['workspaces.update'],
    audit: updates('workspaces'),
  },
  'workspaces.delete': {
    keys: organisationKey,
    scopes: ['workspaces.delete'],
    audit: deletes('workspaces'),
  },

  'configs.create': { keys: anyKey, scopes: ['configs.create'], audit: creates('configs') },
  'configs.list': { keys: anyKey, scopes: ['configs.list'] },
  'configs.read': { keys: anyKey, scopes: ['configs.read'] },
  'configs.update': { keys: anyKey, scopes: ['configs.update'], audit: updates('configs') },
  'configs.delete': { keys: anyKey, scopes: ['configs.delete'], audit: deletes('configs') },
  'configs.versions': { keys: anyKey, scopes: ['configs.read'] },

  'integrations.create': {
    keys: anyKey,
    scopes: integrationScopes('create'),
    audit: creates('integrations'),
  },
  'integrations.list': { keys: anyKey, scopes: integrationScopes('list') },
  'integrations.read': { keys: anyKey, scopes: integrationScopes('read') },
  'integrations.update': {
    keys: anyKey,
    scopes: integrationScopes('update'),
    audit: updates('integrations'),
  },
  'integrations.delete': {
    keys: anyKey,
    scopes: integrationScopes('delete'),
    audit: deletes('integrations'),
  },
  'integrations.models.list': { keys: anyKey, scopes: integrationScopes('read') },
  'integrations.models.update': {
    keys: anyKey,
    scopes: integrationScopes('update'),
    audit: updates('integrations'),
  },
  'integrations.models.delete': {
    keys: anyKey,
    scopes: integrationScopes('update'),
    audit: deletes('integrations'),
  },
  'integrations.workspaces.list': { keys: anyKey, scopes: integrationScopes('read') },
  'integrations.workspaces.update': {
    keys: anyKey,
    scopes: integrationScopes('update'),
    audit: updates('integrations'),
  },

  'providers.create': {
    keys: anyKey,
    scopes: providerScopes('create'),
    audit: creates('providers'),
  },
  'providers.list': { keys: anyKey, scopes: providerScopes('list') },
  'providers.read': { keys: anyKey, scopes: providerScopes('read') },
  'providers.update': {
    keys: anyKey,
    scopes: providerScopes('update'),
    audit: updates('providers'),
  },
  'providers.delete': {
    keys: anyKey,
    scopes: providerScopes('delete'),
    audit: deletes('providers'),
  },

  'rate-limits-policies.create': {
    keys: anyKey,
    scopes: ['policies.create'],
    audit: creates('policies'),
  },
  'rate-limits-policies.list': { keys: anyKey, scopes: ['policies.list'] },
  'rate-limits-policies.read': { keys: anyKey, scopes: ['policies.read'] },
  'rate-limits-policies.update': {
    keys: anyKey,
    scopes: ['policies.update'],
    audit: updates('policies'),
  },
  'rate-limits-policies.delete': {
    keys: anyKey,
    scopes: ['policies.delete'],
    audit: deletes('policies'),
  },

  'audit-logs.list': { keys: organisationKey, scopes: ['audit_logs.list'] },

  'analytics.graphs.requests': { keys: anyKey, scopes: ['analytics.view'] },
  'analytics.graphs.cost': { keys: anyKey, scopes: ['analytics.view'] },
  'analytics.graphs.tokens': { keys: anyKey, scopes: ['analytics.view'] },
  'analytics.graphs.latency': { keys: anyKey, scopes: ['analytics.view'] },
  'analytics.groups.ai-models': { keys: anyKey, scopes: ['analytics.view'] },
} as const satisfies Record<string, OperationRule>;

export type OperationId = keyof typeof operations;

/** The table's row, with the optional columns visible to the type system. */
export function operationRule(id: OperationId): OperationRule {
  return operations[id];
}
