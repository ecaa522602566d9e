import { idleOfPrompt } from './documents/idle-prompts.ts';
import type { AuditResource } from './kernel/access.ts';
import type { IdleFields } from './kernel/idle-fields.ts';
import { idleConditions } from './limits/idle-conditions.ts';
import { idleLimits, idleRulesOf } from './limits/idle-limits.ts';
import { idleOfKey } from './people/idle-keys.ts';
import { idleOfAgentIntegration, idleOfMcpIntegration } from './tools/idle-tools.ts';

/**
 * What resources may hold that does nothing beside the rest of them. It is taken all the same, because scripts set what
 * they will need later, and in any order; whoever changes it is told.
 */
export const idleByResource: Readonly<Partial<Record<AuditResource, IdleFields>>> = {
  agent_integrations: idleOfAgentIntegration,
  api_keys: idleOfKey,
  mcp_integrations: idleOfMcpIntegration,
  policies: (policy) => [...idleRulesOf(policy), ...idleConditions(policy)],
  prompts: idleOfPrompt,
  providers: idleLimits,
  virtual_keys: idleLimits,
  workspaces: idleLimits,
};
