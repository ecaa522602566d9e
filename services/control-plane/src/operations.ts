import type { ConfigCaps } from '@sluice/contracts';
import { agentIntegrationOperations } from './agent-integrations/routes.ts';
import { agentServerOperations } from './agent-servers/routes.ts';
import type { Ledger } from './analytics/ledger.ts';
import { analyticsOperations } from './analytics/routes.ts';
import { createProvisionUserKey } from './api-keys/provision-user-key.ts';
import { apiKeyOperations } from './api-keys/routes.ts';
import type { MintKey } from './api-keys/secrets.ts';
import { auditLogOperations } from './audit-logs/routes.ts';
import type { AuthSettingsParts } from './auth-settings/operations.ts';
import { authSettingsOperations } from './auth-settings/routes.ts';
import { collectionOperations } from './collections/routes.ts';
import { configOperations } from './configs/routes.ts';
import { feedbackOperations } from './feedback/routes.ts';
import { guardrailOperations } from './guardrails/routes.ts';
import type { Operation } from './http/operation.ts';
import type { PublicOperation } from './http/public-operation.ts';
import type { IntegrationParts } from './integrations/operations.ts';
import { integrationOperations } from './integrations/routes.ts';
import { publicInviteOperations } from './invites/public-routes.ts';
import { inviteOperations } from './invites/routes.ts';
import { labelOperations } from './labels/routes.ts';
import { logExportOperations } from './log-exports/routes.ts';
import { mcpIntegrationOperations } from './mcp-integrations/routes.ts';
import { mcpRegistryOperations } from './mcp-registry/routes.ts';
import { mcpServerOperations } from './mcp-servers/routes.ts';
import { organisationOperations } from './organisations/routes.ts';
import { partialOperations } from './partials/routes.ts';
import { promptOperations } from './prompts/routes.ts';
import { providerOperations } from './providers/routes.ts';
import { rateLimitsPolicyOperations } from './rate-limits-policies/routes.ts';
import type { RegistryParts } from './registries/registry.ts';
import { scimMappingOperations } from './scim-mappings/routes.ts';
import { secretReferenceOperations } from './secret-references/routes.ts';
import { usageLimitsPolicyOperations } from './usage-limits-policies/routes.ts';
import { userOperations } from './users/routes.ts';
import { virtualKeyOperations } from './virtual-keys/routes.ts';
import { workspaceMemberOperations } from './workspace-members/routes.ts';
import { workspaceOperations } from './workspaces/routes.ts';

/** Every operation of the admin API. A new resource is one line here. */
export function allOperations(parts: {
  mintKey: MintKey;
  integrations: IntegrationParts;
  authSettings: AuthSettingsParts;
  ledger: Ledger;
  configCaps: ConfigCaps;
  registries: RegistryParts;
}): readonly Operation[] {
  return [
    ...apiKeyOperations(parts.mintKey),
    ...workspaceOperations,
    ...organisationOperations,
    // Before the users, for whom `invites` would be the id of one.
    ...inviteOperations,
    ...userOperations,
    ...workspaceMemberOperations(createProvisionUserKey(parts.mintKey)),
    ...scimMappingOperations,
    ...configOperations({ vault: parts.integrations.vault, caps: parts.configCaps }),
    ...integrationOperations(parts.integrations),
    ...providerOperations,
    ...virtualKeyOperations(parts.integrations),
    ...rateLimitsPolicyOperations,
    ...usageLimitsPolicyOperations,
    ...feedbackOperations,
    ...guardrailOperations(parts.integrations.vault),
    ...logExportOperations,
    ...secretReferenceOperations(parts.integrations.vault),
    ...collectionOperations,
    ...labelOperations,
    // Before prompts, of which `partials` would be one.
    ...partialOperations,
    ...promptOperations,
    ...mcpIntegrationOperations(parts.registries),
    ...mcpServerOperations(parts.registries),
    ...mcpRegistryOperations,
    ...agentIntegrationOperations(parts.registries),
    ...agentServerOperations,
    ...auditLogOperations,
    ...authSettingsOperations(parts.authSettings),
    ...analyticsOperations(parts.ledger),
  ];
}

/** Those that need no key. */
export function publicOperations(parts: { mintKey: MintKey }): readonly PublicOperation[] {
  return publicInviteOperations(createProvisionUserKey(parts.mintKey));
}
