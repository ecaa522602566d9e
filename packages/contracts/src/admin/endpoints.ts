import type { z } from 'zod';
import { agentsEndpoints } from './agents.ts';
import { analyticsEndpoints } from './analytics.ts';
import { apiKeysEndpoints } from './api-keys.ts';
import { auditLogsEndpoints } from './audit-logs.ts';
import { authSettingsEndpoints } from './auth-settings.ts';
import { collectionsEndpoints } from './collections.ts';
import { configsEndpoints } from './configs.ts';
import { feedbackEndpoints } from './feedback.ts';
import { guardrailsEndpoints } from './guardrails.ts';
import { integrationsEndpoints } from './integrations.ts';
import { invitesEndpoints } from './invites.ts';
import { labelsEndpoints } from './labels.ts';
import { logExportsEndpoints } from './log-exports.ts';
import { mcpIntegrationsEndpoints } from './mcp-integrations.ts';
import { mcpRegistryEndpoints } from './mcp-registry.ts';
import { mcpServersEndpoints } from './mcp-servers.ts';
import { modelPricingEndpoints } from './model-pricing.ts';
import { organisationEndpoints } from './organisation.ts';
import { partialsEndpoints } from './partials.ts';
import { promptsEndpoints } from './prompts.ts';
import { providersEndpoints } from './providers.ts';
import { rateLimitsPoliciesEndpoints } from './rate-limits-policies.ts';
import { scimEndpoints } from './scim.ts';
import { secretReferencesEndpoints } from './secret-references.ts';
import { usageLimitsPoliciesEndpoints } from './usage-limits-policies.ts';
import { usersEndpoints } from './users.ts';
import { virtualKeysEndpoints } from './virtual-keys.ts';
import { workspaceMembersEndpoints } from './workspace-members.ts';
import { workspacesEndpoints } from './workspaces.ts';

/** Every operation of the admin API by its name in the authorisation table. */
export const adminEndpoints = {
  ...agentsEndpoints,
  ...analyticsEndpoints,
  ...apiKeysEndpoints,
  ...auditLogsEndpoints,
  ...authSettingsEndpoints,
  ...collectionsEndpoints,
  ...configsEndpoints,
  ...feedbackEndpoints,
  ...guardrailsEndpoints,
  ...integrationsEndpoints,
  ...invitesEndpoints,
  ...labelsEndpoints,
  ...logExportsEndpoints,
  ...mcpIntegrationsEndpoints,
  ...mcpRegistryEndpoints,
  ...mcpServersEndpoints,
  ...modelPricingEndpoints,
  ...organisationEndpoints,
  ...partialsEndpoints,
  ...promptsEndpoints,
  ...providersEndpoints,
  ...rateLimitsPoliciesEndpoints,
  ...scimEndpoints,
  ...secretReferencesEndpoints,
  ...usageLimitsPoliciesEndpoints,
  ...usersEndpoints,
  ...virtualKeysEndpoints,
  ...workspaceMembersEndpoints,
  ...workspacesEndpoints,
};

export type AdminEndpoints = typeof adminEndpoints;
export type EndpointId = keyof AdminEndpoints;

type SchemaOf<Id extends EndpointId, Part extends 'query' | 'body' | 'answer'> = NonNullable<
  AdminEndpoints[Id][Part]
>;
/** What a handler gets and gives, in the operation's own types. */
export type QueryOf<Id extends EndpointId> = z.output<SchemaOf<Id, 'query'>>;
export type BodyOf<Id extends EndpointId> = z.output<SchemaOf<Id, 'body'>>;
export type AnswerOf<Id extends EndpointId> = z.input<SchemaOf<Id, 'answer'>>;
