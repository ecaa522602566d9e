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
const workspaceKey: readonly KeyType[] = ['workspace-service', 'workspace-user'];
const organisationKey: readonly KeyType[] = ['organisation-service'];

const creates = (resourceType: string) => ({ resourceType, action: 'create' });
const updates = (resourceType: string) => ({ resourceType, action: 'update' });
const manages = (resourceType: string) => ({ resourceType, action: 'manage' });
const deletes = (resourceType: string) => ({ resourceType, action: 'delete' });

/** Keys are guarded by the scopes of the kind of key that is handled. */
const keyScopes = (action: string) => ({
  'organisation-service': [`organisation_service_api_keys.${action}`],
  'workspace-service': [`workspace_service_api_keys.${action}`],
  'workspace-user': [`workspace_user_api_keys.${action}`],
});

/** What may belong to the organisation or to a workspace, by the level of the record. */
const byLevel = (organisation: string, workspace: string) => (action: string) => ({
  organisation: [`${organisation}.${action}`],
  workspace: [`${workspace}.${action}`],
});
const integrationScopes = byLevel('organisation_integrations', 'workspace_integrations');
const mcpIntegrationScopes = byLevel('organisation_mcp_integrations', 'workspace_mcp_integrations');
const agentIntegrationScopes = byLevel(
  'organisation_agent_integrations',
  'workspace_agent_integrations',
);
const guardrailScopes = byLevel('organisation_guardrails', 'guardrails');

/** Providers were called virtual keys once; either name of the scope will do. */
const providerScopes = (action: string) => [`providers.${action}`, `virtual_keys.${action}`];

const plainScopes = (resource: string) => (action: string) => [`${resource}.${action}`];

/** The five operations that most resources have, each under the scope of its own name. */
function crud<Resource extends string>(
  resource: Resource,
  resourceType: string,
  keys: readonly KeyType[],
  scopes: (action: string) => OperationRule['scopes'],
) {
  return {
    [`${resource}.list`]: { keys, scopes: scopes('list') },
    [`${resource}.create`]: { keys, scopes: scopes('create'), audit: creates(resourceType) },
    [`${resource}.read`]: { keys, scopes: scopes('read') },
    [`${resource}.update`]: { keys, scopes: scopes('update'), audit: updates(resourceType) },
    [`${resource}.delete`]: { keys, scopes: scopes('delete'), audit: deletes(resourceType) },
  } as Record<`${Resource}.${'list' | 'create' | 'read' | 'update' | 'delete'}`, OperationRule>;
}

export const operations = {
  ...crud('api-keys', 'api_keys', anyKey, keyScopes),
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

  ...crud('configs', 'configs', anyKey, plainScopes('configs')),
  'configs.versions': { keys: anyKey, scopes: ['configs.read'] },

  ...crud('integrations', 'integrations', anyKey, integrationScopes),
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

  ...crud('providers', 'providers', anyKey, providerScopes),

  ...crud('rate-limits-policies', 'policies', anyKey, plainScopes('policies')),

  ...crud('usage-limits-policies', 'policies', anyKey, plainScopes('policies')),
  'usage-limits-policies.entities.list': { keys: anyKey, scopes: ['policies.read'] },
  'usage-limits-policies.entities.reset': {
    keys: anyKey,
    scopes: ['policies.update'],
    audit: updates('policies'),
  },

  ...crud('virtual-keys', 'virtual_keys', anyKey, providerScopes),

  // Nobody named scopes for collections, labels and partials: they are parts of prompts.
  ...crud('collections', 'collections', anyKey, plainScopes('prompts')),
  ...crud('labels', 'labels', anyKey, plainScopes('prompts')),
  ...crud('prompts', 'prompts', anyKey, plainScopes('prompts')),
  'prompts.versions.list': { keys: anyKey, scopes: ['prompts.read'] },
  'prompts.versions.read': { keys: anyKey, scopes: ['prompts.read'] },
  'prompts.versions.update': {
    keys: anyKey,
    scopes: ['prompts.update'],
    audit: updates('prompts'),
  },
  'prompts.publish': {
    keys: anyKey,
    scopes: ['prompts.publish'],
    audit: { resourceType: 'prompts', action: 'publish' },
  },
  'prompts.share.create': { keys: anyKey, scopes: ['prompts.update'], audit: manages('prompts') },
  'prompts.share.update': { keys: anyKey, scopes: ['prompts.update'], audit: manages('prompts') },
  'prompts.share.delete': { keys: anyKey, scopes: ['prompts.update'], audit: manages('prompts') },
  'prompts.fork': {
    keys: anyKey,
    scopes: ['prompts.create'],
    audit: { resourceType: 'prompts', action: 'duplicate' },
  },
  ...crud('partials', 'prompt_partials', anyKey, plainScopes('prompts')),
  'partials.versions.list': { keys: anyKey, scopes: ['prompts.read'] },
  'partials.publish': {
    keys: anyKey,
    scopes: ['prompts.publish'],
    audit: { resourceType: 'prompt_partials', action: 'publish' },
  },
  'partials.share.create': {
    keys: anyKey,
    scopes: ['prompts.update'],
    audit: manages('prompt_partials'),
  },
  'partials.share.update': {
    keys: anyKey,
    scopes: ['prompts.update'],
    audit: manages('prompt_partials'),
  },
  'partials.share.delete': {
    keys: anyKey,
    scopes: ['prompts.update'],
    audit: manages('prompt_partials'),
  },
  'partials.fork': {
    keys: anyKey,
    scopes: ['prompts.create'],
    audit: { resourceType: 'prompt_partials', action: 'duplicate' },
  },

  ...crud('guardrails', 'guardrails', anyKey, guardrailScopes),

  'feedback.create': { keys: workspaceKey, scopes: ['logs.write', 'feedbacks.write'] },
  'feedback.update': { keys: workspaceKey, scopes: ['logs.write', 'feedbacks.write'] },

  'users.list': { keys: organisationKey, scopes: ['organisation_users.list'] },
  'users.read': { keys: organisationKey, scopes: ['organisation_users.read'] },
  'users.update': {
    keys: organisationKey,
    scopes: ['organisation_users.update'],
    audit: updates('users'),
  },
  'users.delete': {
    keys: organisationKey,
    scopes: ['organisation_users.delete'],
    audit: deletes('users'),
  },
  'invites.list': { keys: organisationKey, scopes: ['organisation_users.list'] },
  'invites.create': {
    keys: organisationKey,
    scopes: ['organisation_users.create'],
    audit: creates('invites'),
  },
  'invites.read': { keys: organisationKey, scopes: ['organisation_users.read'] },
  'invites.delete': {
    keys: organisationKey,
    scopes: ['organisation_users.delete'],
    audit: deletes('invites'),
  },
  'invites.resend': {
    keys: organisationKey,
    scopes: ['organisation_users.create'],
    audit: manages('invites'),
  },
  ...crud('workspace-members', 'workspace_users', anyKey, plainScopes('workspace_users')),
  'scim-workspaces.list': { keys: organisationKey, scopes: ['organisation_settings.read'] },
  'scim-workspaces.create': {
    keys: organisationKey,
    scopes: ['organisation_settings.update'],
    audit: creates('scim_mappings'),
  },
  'scim-workspaces.delete': {
    keys: organisationKey,
    scopes: ['organisation_settings.update'],
    audit: deletes('scim_mappings'),
  },
  'scim-groups.list': { keys: organisationKey, scopes: ['organisation_settings.read'] },

  'organisation.read': { keys: organisationKey, scopes: ['organisation_settings.read'] },
  'organisation.update': {
    keys: organisationKey,
    scopes: ['organisation_settings.update'],
    audit: updates('organisation'),
  },
  'organisation.settings.read': { keys: organisationKey, scopes: ['organisation_settings.read'] },
  'organisation.settings.update': {
    keys: organisationKey,
    scopes: ['organisation_settings.update'],
    audit: updates('organisation'),
  },
  'organisation.auth-settings.read': {
    keys: organisationKey,
    scopes: ['organisation_settings.read'],
  },
  'organisation.auth-settings.update': {
    keys: organisationKey,
    scopes: ['organisation_settings.update'],
    audit: updates('organisation'),
  },
  'organisation.defaults.read': { keys: organisationKey, scopes: ['organisation_settings.read'] },
  'organisation.defaults.update': {
    keys: organisationKey,
    scopes: ['organisation_settings.update'],
    audit: updates('organisation'),
  },
  'workspaces.settings.read': { keys: anyKey, scopes: ['workspaces.read'] },
  'workspaces.settings.update': {
    keys: anyKey,
    scopes: ['workspaces.update'],
    audit: updates('workspaces'),
  },
  'exclusions.input-guardrails.read': {
    keys: organisationKey,
    scopes: ['organisation_exclusions.list'],
  },
  'exclusions.input-guardrails.update': {
    keys: organisationKey,
    scopes: ['organisation_exclusions.update'],
    audit: updates('organisation'),
  },
  'exclusions.output-guardrails.read': {
    keys: organisationKey,
    scopes: ['organisation_exclusions.list'],
  },
  'exclusions.output-guardrails.update': {
    keys: organisationKey,
    scopes: ['organisation_exclusions.update'],
    audit: updates('organisation'),
  },

  ...crud(
    'secret-references',
    'secret_references',
    organisationKey,
    plainScopes('secret_references'),
  ),

  ...crud('mcp-integrations', 'mcp_integrations', anyKey, mcpIntegrationScopes),
  'mcp-integrations.workspaces.list': { keys: anyKey, scopes: mcpIntegrationScopes('read') },
  'mcp-integrations.workspaces.update': {
    keys: anyKey,
    scopes: mcpIntegrationScopes('update'),
    audit: updates('mcp_integrations'),
  },
  'mcp-integrations.capabilities.list': { keys: anyKey, scopes: mcpIntegrationScopes('read') },
  'mcp-integrations.capabilities.update': {
    keys: anyKey,
    scopes: mcpIntegrationScopes('update'),
    audit: updates('mcp_integrations'),
  },
  'mcp-integrations.metadata.read': { keys: anyKey, scopes: mcpIntegrationScopes('read') },
  // Its answer is kept: what the server is and offers.
  'mcp-integrations.test': {
    keys: anyKey,
    scopes: mcpIntegrationScopes('read'),
    audit: manages('mcp_integrations'),
  },
  ...crud('mcp-servers', 'mcp_servers', anyKey, plainScopes('mcp_servers')),
  'mcp-servers.capabilities.list': { keys: anyKey, scopes: ['mcp_servers.read'] },
  'mcp-servers.capabilities.update': {
    keys: anyKey,
    scopes: ['mcp_servers.update'],
    audit: updates('mcp_servers'),
  },
  'mcp-servers.user-access.list': { keys: anyKey, scopes: ['mcp_servers.read'] },
  'mcp-servers.user-access.update': {
    keys: anyKey,
    scopes: ['mcp_servers.update'],
    audit: updates('mcp_servers'),
  },
  'mcp-servers.metadata.read': { keys: anyKey, scopes: ['mcp_servers.read'] },
  'mcp-servers.test': {
    keys: anyKey,
    scopes: ['mcp_servers.read'],
    audit: manages('mcp_servers'),
  },
  'mcp-servers.connections.list': { keys: anyKey, scopes: ['mcp_servers.read', 'mcp.invoke'] },
  'mcp-servers.connections.delete': {
    keys: anyKey,
    scopes: ['mcp_servers.update', 'mcp.invoke'],
    audit: manages('mcp_servers'),
  },
  'mcp-registry.list': { keys: anyKey, scopes: ['mcp_servers.list'] },

  ...crud('agent-integrations', 'agent_integrations', anyKey, agentIntegrationScopes),
  'agent-integrations.workspaces.list': { keys: anyKey, scopes: agentIntegrationScopes('read') },
  'agent-integrations.workspaces.update': {
    keys: anyKey,
    scopes: agentIntegrationScopes('update'),
    audit: updates('agent_integrations'),
  },
  'agent-integrations.skills.list': { keys: anyKey, scopes: agentIntegrationScopes('read') },
  'agent-integrations.skills.update': {
    keys: anyKey,
    scopes: agentIntegrationScopes('update'),
    audit: updates('agent_integrations'),
  },
  'agent-integrations.fetch-card': {
    keys: anyKey,
    scopes: agentIntegrationScopes('create'),
    audit: manages('agent_integrations'),
  },
  ...crud('agent-servers', 'agent_servers', anyKey, plainScopes('agent_servers')),
  'agent-servers.skills.list': { keys: anyKey, scopes: ['agent_servers.read'] },
  'agent-servers.skills.update': {
    keys: anyKey,
    scopes: ['agent_servers.update'],
    audit: updates('agent_servers'),
  },
  'agent-servers.user-access.list': { keys: anyKey, scopes: ['agent_servers.read'] },
  'agent-servers.user-access.update': {
    keys: anyKey,
    scopes: ['agent_servers.update'],
    audit: updates('agent_servers'),
  },
  'agent-servers.card.read': { keys: anyKey, scopes: ['agent_servers.read'] },

  'log-exports.create': { keys: anyKey, scopes: ['logs.export'], audit: creates('log_exports') },
  'log-exports.update': { keys: anyKey, scopes: ['logs.export'], audit: updates('log_exports') },
  'log-exports.list': { keys: anyKey, scopes: ['logs.list'] },
  'log-exports.read': { keys: anyKey, scopes: ['logs.list'] },
  'log-exports.start': {
    keys: anyKey,
    scopes: ['logs.export'],
    audit: { resourceType: 'log_exports', action: 'export' },
  },
  'log-exports.cancel': {
    keys: anyKey,
    scopes: ['logs.export'],
    audit: { resourceType: 'log_exports', action: 'export' },
  },
  'log-exports.download': { keys: anyKey, scopes: ['logs.export'] },
  'log-exports.field-restrictions': { keys: anyKey, scopes: ['logs.export', 'logs.list'] },

  'audit-logs.verify': { keys: organisationKey, scopes: ['audit_logs.list'] },
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
