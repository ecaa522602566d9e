import type { ConfigCaps } from '@sluice/contracts';
import type { OperationId } from '@sluice/contracts/admin';
import type { ObjectStore } from '@sluice/object-store';
import type { PriceBook } from '@sluice/pricing';
import { collectionOperations } from './documents/collections/routes.ts';
import type { ProviderCatalogue } from './documents/configs/check-names.ts';
import { configOperations } from './documents/configs/routes.ts';
import { guardrailOperations } from './documents/guardrails/routes.ts';
import { labelOperations } from './documents/labels/routes.ts';
import { partialOperations } from './documents/partials/routes.ts';
import { promptOperations } from './documents/prompts/routes.ts';
import type { DatabaseClient } from './kernel/database/client.ts';
import type { Implemented } from './kernel/http/implement.ts';
import type { PublicOperation } from './kernel/http/public-operation.ts';
import { adjustmentOperations } from './ledger/adjustments/routes.ts';
import type { Ledger } from './ledger/analytics/ledger.ts';
import { analyticsOperations } from './ledger/analytics/routes.ts';
import { auditLogOperations } from './ledger/audit-logs/routes.ts';
import { feedbackOperations } from './ledger/feedback/routes.ts';
import { gapOperations } from './ledger/gaps/routes.ts';
import { importOperations } from './ledger/imports/routes.ts';
import { type LogExportParts, logExportOperations } from './ledger/log-exports/routes.ts';
import { logOperations } from './ledger/logs/routes.ts';
import { rejectOperations } from './ledger/rejects/routes.ts';
import { sealOperations } from './ledger/seals/routes.ts';
import {
  type AlertSettingsParts,
  alertSettingsOperations,
} from './limits/alert-settings/routes.ts';
import { rateLimitsPolicyOperations } from './limits/rate-limits-policies/routes.ts';
import { usageLimitsPolicyOperations } from './limits/usage-limits-policies/routes.ts';
import { catalogueOperations } from './models/catalogue/routes.ts';
import type { IntegrationParts } from './models/integrations/operations.ts';
import { integrationOperations } from './models/integrations/routes.ts';
import { providerOperations } from './models/providers/routes.ts';
import { secretReferenceOperations } from './models/secret-references/routes.ts';
import { virtualKeyOperations } from './models/virtual-keys/routes.ts';
import { createProvisionUserKey } from './people/api-keys/provision-user-key.ts';
import { apiKeyOperations } from './people/api-keys/routes.ts';
import type { MintKey } from './people/api-keys/secrets.ts';
import type { AuthSettingsParts } from './people/auth-settings/operations.ts';
import { authSettingsOperations } from './people/auth-settings/routes.ts';
import { publicInviteOperations } from './people/invites/public-routes.ts';
import { inviteOperations } from './people/invites/routes.ts';
import { organisationOperations } from './people/organisations/routes.ts';
import { scimMappingOperations } from './people/scim-mappings/routes.ts';
import { userOperations } from './people/users/routes.ts';
import { workspaceMemberOperations } from './people/workspace-members/routes.ts';
import { workspaceOperations } from './people/workspaces/routes.ts';
import { provisionWorkspace } from './provisioning/provision-workspace.ts';
import { simulationOperations } from './simulation/routes.ts';
import type { Simulator } from './simulation/simulator.ts';
import { agentIntegrationOperations } from './tools/agent-integrations/routes.ts';
import { agentServerOperations } from './tools/agent-servers/routes.ts';
import { mcpIntegrationOperations } from './tools/mcp-integrations/routes.ts';
import { mcpServerOperations } from './tools/mcp-servers/routes.ts';
import type { RegistryParts } from './tools/registry/registry.ts';
import { mcpRegistryOperations } from './tools/server-directory/routes.ts';

/**
 * Every operation of the admin API, in the order in which paths are matched. A
 * new resource is one line here; without it, this does not compile.
 */
export function allOperations(parts: {
  client: DatabaseClient;
  mintKey: MintKey;
  integrations: IntegrationParts;
  authSettings: AuthSettingsParts;
  alertSettings: AlertSettingsParts;
  ledger: Ledger;
  logExports: LogExportParts;
  priceBook: PriceBook;
  /** Undefined = bodies of requests are kept nowhere. */
  logStore: ObjectStore | undefined;
  configCaps: ConfigCaps;
  catalogue: ProviderCatalogue;
  registries: RegistryParts;
  simulator: Pick<Simulator, 'run'>;
}): Implemented<OperationId> {
  return {
    ...apiKeyOperations(parts.mintKey),
    ...workspaceOperations(provisionWorkspace),
    ...organisationOperations,
    // Before the users, for whom `invites` would be the id of one.
    ...inviteOperations,
    ...userOperations,
    ...workspaceMemberOperations(createProvisionUserKey(parts.mintKey)),
    ...scimMappingOperations,
    ...configOperations({
      vault: parts.integrations.vault,
      caps: parts.configCaps,
      catalogue: parts.catalogue,
      hostRules: parts.integrations.hostRules,
    }),
    ...catalogueOperations,
    ...integrationOperations(parts.integrations),
    ...providerOperations(parts.integrations.usersOfProvider),
    ...virtualKeyOperations(parts.integrations),
    ...rateLimitsPolicyOperations(parts.catalogue.ids),
    ...usageLimitsPolicyOperations(parts.catalogue.ids),
    ...feedbackOperations,
    ...gapOperations(parts.ledger),
    ...rejectOperations(parts.ledger),
    ...importOperations(parts.ledger),
    ...sealOperations(parts.ledger),
    ...simulationOperations(parts.simulator, parts.configCaps, parts.catalogue.ids),
    ...adjustmentOperations(parts.ledger, parts.priceBook, parts.client),
    ...guardrailOperations(parts.integrations),
    // After the exports, which would be the id of one.
    ...logExportOperations(parts.logExports),
    ...logOperations(parts.ledger, parts.priceBook, parts.logStore),
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
    ...agentServerOperations(parts.registries),
    ...auditLogOperations,
    ...authSettingsOperations(parts.authSettings),
    ...alertSettingsOperations(parts.alertSettings),
    ...analyticsOperations(parts.ledger),
  };
}

/** Those that need no key. */
export function publicOperations(parts: { mintKey: MintKey }): readonly PublicOperation[] {
  return publicInviteOperations(createProvisionUserKey(parts.mintKey));
}
