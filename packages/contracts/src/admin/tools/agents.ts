import { z } from 'zod';
import {
  descriptionField,
  hostField,
  instantText,
  nameField,
  referenceField,
  slugField,
} from '../../fields/fields.ts';
import { openObject } from '../../fields/kept-only.ts';
import { shapeNames } from '../../fields/shape-names.ts';
import { agentPrices } from '../../tool-policy.ts';
import { anyKey, byLevel } from '../kernel/access.ts';
import { endpoint, nothing } from '../kernel/endpoint.ts';
import { secretMappings } from '../models/secret-mappings.ts';
import { callerSettings } from './mcp-configurations.ts';
import {
  created,
  createRegistryServer,
  integrationWorkspaces,
  integrationWorkspacesBody,
  integrationWorkspacesQuery,
  integrationWorkspacesUnversioned,
  offerCount,
  offerName,
  offersQuery,
  ofServer,
  registryIntegration,
  registryIntegrationsQuery,
  registryServer,
  registryServersQuery,
  registryServerTexts,
  shownGlobalAccess,
  someField,
  succeeded,
  userAccessBody,
  userAccessItem,
  userAccessList,
  userAccessQuery,
} from './registry.ts';

const added =
  'agents have no published operations; these are what MCP integrations and servers have';

/** What an agent says of itself: with `url` up to A2A 0.3, with `supportedInterfaces` from 1.0 on. */
export const agentCard = z
  .looseObject({
    name: z.string().min(1).max(1024),
    url: z.string().min(1).max(2048).optional(),
  })
  .refine(
    (card) => card.url !== undefined || Array.isArray(card.supportedInterfaces),
    'must have url or supportedInterfaces',
  );
export type AgentCard = z.output<typeof agentCard>;

const authType = z.enum(['headers', 'none']);
const protocol = z.enum(['a2a', 'openai', 'raw']);

/** Ms. */
const waiting = z.int().min(1).max(3_600_000);

const agentSettings = {
  ...callerSettings,
  prices: agentPrices.nullish(),
  bill: z.enum(['reported', 'children', 'max']).nullish(),
  push_notifications: z.enum(['allow', 'deny', 'relay']).nullish(),
  timeout_ms: waiting.nullish(),
  idle_timeout_ms: waiting.nullish(),
};
export const agentSettingNames = Object.keys(agentSettings);

const settings = {
  description: descriptionField.nullish(),
  configurations: openObject(agentSettings)
    .refine((value) => Object.keys(value).length <= 100, 'may hold 100 entries at most')
    .nullish(),
  secret_mappings: secretMappings.nullish(),
  agent_card: agentCard.nullish(),
};

const agentIntegration = z.object({
  ...registryIntegration,
  auth_type: authType,
  protocol,
  agent_card: agentCard.nullable(),
});

const createAgentIntegration = z.object({
  organisation_id: z.uuid().optional(),
  workspace_id: referenceField.nullish(),
  slug: slugField.optional(),
  name: nameField,
  url: hostField,
  /** Without it by whether it has headers. */
  auth_type: authType.optional(),
  protocol: protocol.default('a2a'),
  ...settings,
});

const updateAgentIntegration = someField(
  z.object({
    name: nameField.optional(),
    url: hostField.optional(),
    auth_type: authType.optional(),
    protocol: protocol.optional(),
    ...settings,
  }),
);

/** A skill of the card, and whether it may be used. */
const agentSkill = z
  .object({
    id: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    tags: z.array(z.string()),
    enabled: z.boolean(),
    created_at: instantText,
    last_updated_at: instantText,
  })
  .register(shapeNames, { name: 'AgentSkill' });

function agentSkills<T extends z.ZodType>(item: T) {
  return z.object({
    data: z.array(item),
    counts: z.object({ skills: offerCount }),
    total: z.int(),
    has_more: z.boolean(),
  });
}

const skillSwitch = z.object({ id: offerName, enabled: z.boolean() });
const agentSkillsBody = z.object({ skills: z.array(skillSwitch).max(1000) });
const agentServerSkillsBody = z.object({
  skills: z.array(skillSwitch.extend(ofServer)).max(1000),
});

const agentServer = z
  .object({
    ...registryServer,
    agent_integration_id: z.string(),
    agent_integration_slug: z.string().nullable(),
    auth_type: z.string(),
  })
  .register(shapeNames, { name: 'AgentServer' });

const scopesTo = byLevel('organisation_agent_integrations', 'workspace_agent_integrations');

export const agentsEndpoints = {
  'agent-integrations.list': endpoint({
    operationId: 'AgentIntegrations_list',
    summary: 'List the agents that are known',
    tag: 'Agents',
    method: 'get',
    path: '/agent-integrations',
    access: { keys: anyKey, scopes: scopesTo('list') },
    query: registryIntegrationsQuery,
    answer: z.object({
      data: z.array(
        agentIntegration
          .omit({ agent_card: true })
          .extend({ workspaces_count: z.number().nullable() }),
      ),
      total: z.int(),
      has_more: z.boolean(),
    }),
    added,
  }),
  'agent-integrations.create': endpoint({
    operationId: 'AgentIntegrations_create',
    summary: 'Make an agent known by the address of its card',
    tag: 'Agents',
    method: 'post',
    path: '/agent-integrations',
    access: { keys: anyKey, scopes: scopesTo('create') },
    audit: { resourceType: 'agent_integrations', action: 'create' },
    body: createAgentIntegration,
    answer: created,
    added,
  }),
  'agent-integrations.fetch-card': endpoint({
    operationId: 'fetchAgentCard',
    summary: 'Fetch the card of an agent without keeping it',
    tag: 'Agents',
    method: 'post',
    path: '/agent-integrations/fetch-agent-card',
    access: { keys: anyKey, scopes: scopesTo('create') },
    audit: { resourceType: 'agent_integrations', action: 'manage' },
    body: z.object({ url: hostField }),
    answer: agentCard,
    errors: [400],
  }),
  'agent-integrations.read': endpoint({
    operationId: 'AgentIntegrations_retrieve',
    summary: 'Show one agent',
    tag: 'Agents',
    method: 'get',
    path: '/agent-integrations/{agentIntegrationId}',
    access: { keys: anyKey, scopes: scopesTo('read') },
    answer: agentIntegration.extend({ global_workspace_access: shownGlobalAccess }),
    added,
  }),
  'agent-integrations.update': endpoint({
    operationId: 'AgentIntegrations_update',
    summary: 'Change how an agent is reached and what it may do',
    tag: 'Agents',
    method: 'put',
    path: '/agent-integrations/{agentIntegrationId}',
    access: { keys: anyKey, scopes: scopesTo('update') },
    audit: { resourceType: 'agent_integrations', action: 'update' },
    body: updateAgentIntegration.prefault({}),
    answer: nothing,
    added,
  }),
  'agent-integrations.delete': endpoint({
    operationId: 'AgentIntegrations_delete',
    summary: 'Delete an agent',
    tag: 'Agents',
    method: 'delete',
    path: '/agent-integrations/{agentIntegrationId}',
    access: { keys: anyKey, scopes: scopesTo('delete') },
    audit: { resourceType: 'agent_integrations', action: 'delete' },
    answer: nothing,
    added,
  }),
  'agent-integrations.workspaces.list': endpoint({
    operationId: 'AgentIntegrationWorkspaces_list',
    summary: 'List the workspaces that may use an agent',
    tag: 'Agents',
    method: 'get',
    path: '/agent-integrations/{agentIntegrationId}/workspaces',
    access: { keys: anyKey, scopes: scopesTo('read') },
    query: integrationWorkspacesQuery,
    answer: z.union([integrationWorkspaces, integrationWorkspacesUnversioned]),
    added,
  }),
  'agent-integrations.workspaces.update': endpoint({
    operationId: 'AgentIntegrationWorkspaces_bulkUpdate',
    summary: 'Set which workspaces may use an agent',
    tag: 'Agents',
    method: 'put',
    path: '/agent-integrations/{agentIntegrationId}/workspaces',
    access: { keys: anyKey, scopes: scopesTo('update') },
    audit: { resourceType: 'agent_integrations', action: 'update' },
    body: integrationWorkspacesBody,
    listName: 'workspaces',
    answer: nothing,
    added,
  }),
  'agent-integrations.skills.list': endpoint({
    operationId: 'AgentIntegrationSkills_list',
    summary: 'List the skills on an agent’s card',
    tag: 'Agents',
    method: 'get',
    path: '/agent-integrations/{agentIntegrationId}/skills',
    access: { keys: anyKey, scopes: scopesTo('read') },
    query: offersQuery,
    answer: agentSkills(agentSkill),
    added,
  }),
  'agent-integrations.skills.update': endpoint({
    operationId: 'AgentIntegrationSkills_bulkUpdate',
    summary: 'Switch skills of an agent on or off',
    tag: 'Agents',
    method: 'put',
    path: '/agent-integrations/{agentIntegrationId}/skills',
    access: { keys: anyKey, scopes: scopesTo('update') },
    audit: { resourceType: 'agent_integrations', action: 'update' },
    body: agentSkillsBody,
    listName: 'skills',
    answer: succeeded,
    added,
  }),
  'agent-servers.list': endpoint({
    operationId: 'AgentServers_list',
    summary: 'List the agents of a workspace',
    tag: 'Agents',
    method: 'get',
    path: '/agent-servers',
    access: { keys: anyKey, scopes: ['agent_servers.list'] },
    query: registryServersQuery,
    answer: z.object({ data: z.array(agentServer), total: z.int() }),
    added,
  }),
  'agent-servers.create': endpoint({
    operationId: 'AgentServers_create',
    summary: 'Open an agent to callers of a workspace',
    tag: 'Agents',
    method: 'post',
    path: '/agent-servers',
    access: { keys: anyKey, scopes: ['agent_servers.create'] },
    audit: { resourceType: 'agent_servers', action: 'create' },
    body: z.object({ ...createRegistryServer, agent_integration_id: referenceField }),
    answer: created,
    added,
  }),
  'agent-servers.read': endpoint({
    operationId: 'AgentServers_retrieve',
    summary: 'Show one agent of a workspace',
    tag: 'Agents',
    method: 'get',
    path: '/agent-servers/{agentServerId}',
    access: { keys: anyKey, scopes: ['agent_servers.read'] },
    answer: agentServer,
    added,
  }),
  'agent-servers.update': endpoint({
    operationId: 'AgentServers_update',
    summary: 'Change an agent of a workspace',
    tag: 'Agents',
    method: 'put',
    path: '/agent-servers/{agentServerId}',
    access: { keys: anyKey, scopes: ['agent_servers.update'] },
    audit: { resourceType: 'agent_servers', action: 'update' },
    body: someField(z.object(registryServerTexts).partial()).prefault({}),
    answer: nothing,
    added,
  }),
  'agent-servers.delete': endpoint({
    operationId: 'AgentServers_delete',
    summary: 'Close an agent of a workspace',
    tag: 'Agents',
    method: 'delete',
    path: '/agent-servers/{agentServerId}',
    access: { keys: anyKey, scopes: ['agent_servers.delete'] },
    audit: { resourceType: 'agent_servers', action: 'delete' },
    answer: nothing,
    added,
  }),
  'agent-servers.skills.list': endpoint({
    operationId: 'AgentServerSkills_list',
    summary: 'List the skills that an agent of a workspace offers',
    tag: 'Agents',
    method: 'get',
    path: '/agent-servers/{agentServerId}/skills',
    access: { keys: anyKey, scopes: ['agent_servers.read'] },
    query: offersQuery,
    answer: agentSkills(agentSkill.extend({ integration_enabled: z.boolean().nullable() })),
    added,
  }),
  'agent-servers.skills.update': endpoint({
    operationId: 'AgentServerSkills_bulkUpdate',
    summary: 'Switch skills of an agent of a workspace on or off',
    tag: 'Agents',
    method: 'put',
    path: '/agent-servers/{agentServerId}/skills',
    access: { keys: anyKey, scopes: ['agent_servers.update'] },
    audit: { resourceType: 'agent_servers', action: 'update' },
    body: agentServerSkillsBody,
    listName: 'skills',
    answer: succeeded,
    added,
  }),
  'agent-servers.user-access.list': endpoint({
    operationId: 'AgentServerUserAccess_list',
    summary: 'List who may call an agent',
    tag: 'Agents',
    method: 'get',
    path: '/agent-servers/{agentServerId}/user-access',
    access: { keys: anyKey, scopes: ['agent_servers.read'] },
    query: userAccessQuery,
    answer: userAccessList(userAccessItem),
    added,
  }),
  'agent-servers.user-access.update': endpoint({
    operationId: 'AgentServerUserAccess_bulkUpdate',
    summary: 'Set who may call an agent',
    tag: 'Agents',
    method: 'put',
    path: '/agent-servers/{agentServerId}/user-access',
    access: { keys: anyKey, scopes: ['agent_servers.update'] },
    audit: { resourceType: 'agent_servers', action: 'update' },
    body: userAccessBody.prefault({}),
    listName: 'user_access',
    answer: succeeded,
    added,
  }),
  'agent-servers.card.read': endpoint({
    operationId: 'getAgentServerCard',
    summary: 'Show the card that callers of an agent get',
    tag: 'Agents',
    method: 'get',
    path: '/agent-servers/{agentServerId}/agent-card',
    access: { keys: anyKey, scopes: ['agent_servers.read'] },
    answer: agentCard,
  }),
};
