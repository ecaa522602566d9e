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

/** Integrations by the level they belong to. */
const integrationScopes = (action: string) => ({
  organisation: [`organisation_integrations.${action}`],
  workspace: [`workspace_integrations.${action}`],
});

/** By the level of the record, likewise. */
const mcpIntegrationScopes = (action: string) => ({
  organisation: [`organisation_mcp_integrations.${action}`],
  workspace: [`workspace_mcp_integrations.${action}`],
});
const agentIntegrationScopes = (action: string) => ({
  organisation: [`organisation_agent_integrations.${action}`],
  workspace: [`workspace_agent_integrations.${action}`],
});
const guardrailScopes = (action: string) => ({
  organisation: [`organisation_guardrails.${action}`],
  workspace: [`guardrails.${action}`],
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

  'usage-limits-policies.list': { keys: anyKey, scopes: ['policies.list'] },
  'usage-limits-policies.create': {
    keys: anyKey,
    scopes: ['policies.create'],
    audit: creates('policies'),
  },
  'usage-limits-policies.read': { keys: anyKey, scopes: ['policies.read'] },
  'usage-limits-policies.update': {
    keys: anyKey,
    scopes: ['policies.update'],
    audit: updates('policies'),
  },
  'usage-limits-policies.delete': {
    keys: anyKey,
    scopes: ['policies.delete'],
    audit: deletes('policies'),
  },
  'usage-limits-policies.entities.list': { keys: anyKey, scopes: ['policies.read'] },
  'usage-limits-policies.entities.reset': {
    keys: anyKey,
    scopes: ['policies.update'],
    audit: updates('policies'),
  },

  'virtual-keys.list': { keys: anyKey, scopes: providerScopes('list') },
  'virtual-keys.create': {
    keys: anyKey,
    scopes: providerScopes('create'),
    audit: creates('virtual_keys'),
  },
  'virtual-keys.read': { keys: anyKey, scopes: providerScopes('read') },
  'virtual-keys.update': {
    keys: anyKey,
    scopes: providerScopes('update'),
    audit: updates('virtual_keys'),
  },
  'virtual-keys.delete': {
    keys: anyKey,
    scopes: providerScopes('delete'),
    audit: deletes('virtual_keys'),
  },

  // Nobody named scopes for collections, labels and partials: they are parts of prompts.
  'collections.list': { keys: anyKey, scopes: ['prompts.list'] },
  'collections.create': { keys: anyKey, scopes: ['prompts.create'], audit: creates('collections') },
  'collections.read': { keys: anyKey, scopes: ['prompts.read'] },
  'collections.update': { keys: anyKey, scopes: ['prompts.update'], audit: updates('collections') },
  'collections.delete': { keys: anyKey, scopes: ['prompts.delete'], audit: deletes('collections') },
  'labels.list': { keys: anyKey, scopes: ['prompts.list'] },
  'labels.create': { keys: anyKey, scopes: ['prompts.create'], audit: creates('labels') },
  'labels.read': { keys: anyKey, scopes: ['prompts.read'] },
  'labels.update': { keys: anyKey, scopes: ['prompts.update'], audit: updates('labels') },
  'labels.delete': { keys: anyKey, scopes: ['prompts.delete'], audit: deletes('labels') },
  'prompts.list': { keys: anyKey, scopes: ['prompts.list'] },
  'prompts.create': { keys: anyKey, scopes: ['prompts.create'], audit: creates('prompts') },
  'prompts.read': { keys: anyKey, scopes: ['prompts.read'] },
  'prompts.update': { keys: anyKey, scopes: ['prompts.update'], audit: updates('prompts') },
  'prompts.delete': { keys: anyKey, scopes: ['prompts.delete'], audit: deletes('prompts') },
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
  'partials.list': { keys: anyKey, scopes: ['prompts.list'] },
  'partials.create': {
    keys: anyKey,
    scopes: ['prompts.create'],
    audit: creates('prompt_partials'),
  },
  'partials.read': { keys: anyKey, scopes: ['prompts.read'] },
  'partials.update': {
    keys: anyKey,
    scopes: ['prompts.update'],
    audit: updates('prompt_partials'),
  },
  'partials.delete': {
    keys: anyKey,
    scopes: ['prompts.delete'],
    audit: deletes('prompt_partials'),
  },
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

  'guardrails.list': { keys: anyKey, scopes: guardrailScopes('list') },
  'guardrails.create': {
    keys: anyKey,
    scopes: guardrailScopes('create'),
    audit: creates('guardrails'),
  },
  'guardrails.read': { keys: anyKey, scopes: guardrailScopes('read') },
  'guardrails.update': {
    keys: anyKey,
    scopes: guardrailScopes('update'),
    audit: updates('guardrails'),
  },
  'guardrails.delete': {
    keys: anyKey,
    scopes: guardrailScopes('delete'),
    audit: deletes('guardrails'),
  },

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
  'workspace-members.list': { keys: anyKey, scopes: ['workspace_users.list'] },
  'workspace-members.create': {
    keys: anyKey,
    scopes: ['workspace_users.create'],
    audit: creates('workspace_users'),
  },
  'workspace-members.read': { keys: anyKey, scopes: ['workspace_users.read'] },
  'workspace-members.update': {
    keys: anyKey,
    scopes: ['workspace_users.update'],
    audit: updates('workspace_users'),
  },
  'workspace-members.delete': {
    keys: anyKey,
    scopes: ['workspace_users.delete'],
    audit: deletes('workspace_users'),
  },
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

  'secret-references.list': { keys: organisationKey, scopes: ['secret_references.list'] },
  'secret-references.create': {
    keys: organisationKey,
    scopes: ['secret_references.create'],
    audit: creates('secret_references'),
  },
  'secret-references.read': { keys: organisationKey, scopes: ['secret_references.read'] },
  'secret-references.update': {
    keys: organisationKey,
    scopes: ['secret_references.update'],
    audit: updates('secret_references'),
  },
  'secret-references.delete': {
    keys: organisationKey,
    scopes: ['secret_references.delete'],
    audit: deletes('secret_references'),
  },

  'mcp-integrations.list': { keys: anyKey, scopes: mcpIntegrationScopes('list') },
  'mcp-integrations.create': {
    keys: anyKey,
    scopes: mcpIntegrationScopes('create'),
    audit: creates('mcp_integrations'),
  },
  'mcp-integrations.read': { keys: anyKey, scopes: mcpIntegrationScopes('read') },
  'mcp-integrations.update': {
    keys: anyKey,
    scopes: mcpIntegrationScopes('update'),
    audit: updates('mcp_integrations'),
  },
  'mcp-integrations.delete': {
    keys: anyKey,
    scopes: mcpIntegrationScopes('delete'),
    audit: deletes('mcp_integrations'),
  },
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
  'mcp-servers.list': { keys: anyKey, scopes: ['mcp_servers.list'] },
  'mcp-servers.create': {
    keys: anyKey,
    scopes: ['mcp_servers.create'],
    audit: creates('mcp_servers'),
  },
  'mcp-servers.read': { keys: anyKey, scopes: ['mcp_servers.read'] },
  'mcp-servers.update': {
    keys: anyKey,
    scopes: ['mcp_servers.update'],
    audit: updates('mcp_servers'),
  },
  'mcp-servers.delete': {
    keys: anyKey,
    scopes: ['mcp_servers.delete'],
    audit: deletes('mcp_servers'),
  },
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

  'agent-integrations.list': { keys: anyKey, scopes: agentIntegrationScopes('list') },
  'agent-integrations.create': {
    keys: anyKey,
    scopes: agentIntegrationScopes('create'),
    audit: creates('agent_integrations'),
  },
  'agent-integrations.read': { keys: anyKey, scopes: agentIntegrationScopes('read') },
  'agent-integrations.update': {
    keys: anyKey,
    scopes: agentIntegrationScopes('update'),
    audit: updates('agent_integrations'),
  },
  'agent-integrations.delete': {
    keys: anyKey,
    scopes: agentIntegrationScopes('delete'),
    audit: deletes('agent_integrations'),
  },
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
  'agent-servers.list': { keys: anyKey, scopes: ['agent_servers.list'] },
  'agent-servers.create': {
    keys: anyKey,
    scopes: ['agent_servers.create'],
    audit: creates('agent_servers'),
  },
  'agent-servers.read': { keys: anyKey, scopes: ['agent_servers.read'] },
  'agent-servers.update': {
    keys: anyKey,
    scopes: ['agent_servers.update'],
    audit: updates('agent_servers'),
  },
  'agent-servers.delete': {
    keys: anyKey,
    scopes: ['agent_servers.delete'],
    audit: deletes('agent_servers'),
  },
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
