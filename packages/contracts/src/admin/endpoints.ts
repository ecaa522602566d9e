import type { z } from 'zod';
import { collectionsEndpoints } from './documents/collections.ts';
import { configsEndpoints } from './documents/configs.ts';
import { guardrailsEndpoints } from './documents/guardrails.ts';
import { labelsEndpoints } from './documents/labels.ts';
import { partialsEndpoints } from './documents/partials.ts';
import { promptsEndpoints } from './documents/prompts.ts';
import type { GuardedEndpoint } from './kernel/endpoint.ts';
import { adjustmentsEndpoints } from './ledger/adjustments.ts';
import { analyticsEndpoints } from './ledger/analytics.ts';
import { auditLogsEndpoints } from './ledger/audit-logs.ts';
import { feedbackEndpoints } from './ledger/feedback.ts';
import { gapsEndpoints } from './ledger/gaps.ts';
import { importsEndpoints } from './ledger/imports.ts';
import { logExportsEndpoints } from './ledger/log-exports.ts';
import { logsEndpoints } from './ledger/logs.ts';
import { rejectsEndpoints } from './ledger/rejects.ts';
import { sealsEndpoints } from './ledger/seals.ts';
import { simulationsEndpoints } from './ledger/simulations.ts';
import { alertSettingsEndpoints } from './limits/alert-settings.ts';
import { rateLimitsPoliciesEndpoints } from './limits/rate-limits-policies.ts';
import { usageLimitsPoliciesEndpoints } from './limits/usage-limits-policies.ts';
import { catalogueEndpoints } from './models/catalogue.ts';
import { integrationsEndpoints } from './models/integrations.ts';
import { modelPricingEndpoints } from './models/model-pricing.ts';
import { providersEndpoints } from './models/providers.ts';
import { secretReferencesEndpoints } from './models/secret-references.ts';
import { virtualKeysEndpoints } from './models/virtual-keys.ts';
import { apiKeysEndpoints } from './people/api-keys.ts';
import { authSettingsEndpoints } from './people/auth-settings.ts';
import { invitesEndpoints } from './people/invites.ts';
import { organisationEndpoints } from './people/organisation.ts';
import { scimEndpoints } from './people/scim.ts';
import { usersEndpoints } from './people/users.ts';
import { workspaceMembersEndpoints } from './people/workspace-members.ts';
import { workspacesEndpoints } from './people/workspaces.ts';
import { agentsEndpoints } from './tools/agents.ts';
import { mcpIntegrationsEndpoints } from './tools/mcp-integrations.ts';
import { mcpServersEndpoints } from './tools/mcp-servers.ts';
import { mcpRegistryEndpoints } from './tools/server-directory.ts';

/** Every operation of the admin API by its name: its resource, and what is done to it. */
export const adminEndpoints = {
  ...adjustmentsEndpoints,
  ...agentsEndpoints,
  ...alertSettingsEndpoints,
  ...analyticsEndpoints,
  ...apiKeysEndpoints,
  ...auditLogsEndpoints,
  ...authSettingsEndpoints,
  ...catalogueEndpoints,
  ...collectionsEndpoints,
  ...configsEndpoints,
  ...feedbackEndpoints,
  ...gapsEndpoints,
  ...logsEndpoints,
  ...guardrailsEndpoints,
  ...importsEndpoints,
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
  ...rejectsEndpoints,
  ...scimEndpoints,
  ...sealsEndpoints,
  ...secretReferencesEndpoints,
  ...simulationsEndpoints,
  ...usageLimitsPoliciesEndpoints,
  ...usersEndpoints,
  ...virtualKeysEndpoints,
  ...workspaceMembersEndpoints,
  ...workspacesEndpoints,
};

export type AdminEndpoints = typeof adminEndpoints;
export type EndpointId = keyof AdminEndpoints;
/** Those that the control plane answers to whom it lets in. */
export type OperationId = {
  [Id in EndpointId]: AdminEndpoints[Id] extends GuardedEndpoint ? Id : never;
}[EndpointId];

type SchemaOf<Id extends EndpointId, Part extends 'query' | 'body' | 'answer'> = NonNullable<
  AdminEndpoints[Id][Part]
>;
/** What a handler gets and gives, in the operation's own types. */
export type QueryOf<Id extends EndpointId> = z.output<SchemaOf<Id, 'query'>>;
export type BodyOf<Id extends EndpointId> = z.output<SchemaOf<Id, 'body'>>;
export type AnswerOf<Id extends EndpointId> = z.input<SchemaOf<Id, 'answer'>>;
/** Those that answer lines, each of which is an `AnswerOf` them. */
export type LinesId = {
  [Id in EndpointId]: AdminEndpoints[Id] extends { readonly lines: true } ? Id : never;
}[EndpointId];
