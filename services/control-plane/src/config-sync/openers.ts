import { openDocument } from '../documents/configs/stored-document.ts';
import { openChecks } from '../documents/guardrails/store.ts';
import type { CredentialVault } from '../kernel/credentials/envelope.ts';
import { openCredentials } from '../models/integrations/credentials.ts';
import { openModelSettings } from '../models/integrations/model-settings.ts';
import { agentKind } from '../tools/agent-integrations/kind.ts';
import { mcpKind } from '../tools/mcp-integrations/kind.ts';
import { openConfigurations } from '../tools/registry/configurations.ts';
import type { Openers } from './build-bundle.ts';

export function openersOf(vault: CredentialVault): Openers {
  return {
    credentials: (integration) => openCredentials(vault, integration),
    modelSettings: (model) => openModelSettings(vault, model),
    document: ({ versionId, body, sealedBody }) =>
      openDocument(vault, { id: versionId, body, sealedBody }),
    checks: (version) => JSON.stringify(openChecks(vault, version)),
    mcpConfigurations: (row) => JSON.stringify(openConfigurations(vault, mcpKind, row)),
    agentConfigurations: (row) => JSON.stringify(openConfigurations(vault, agentKind, row)),
  };
}
