import { agentServers } from './agent-servers.ts';
import { configs } from './configs.ts';
import { guardrailVersions } from './guardrail-versions.ts';
import { guardrails } from './guardrails.ts';
import { mcpServers } from './mcp-servers.ts';
import { partialVersions } from './partial-versions.ts';
import { partials } from './partials.ts';
import { promptVersions } from './prompt-versions.ts';
import { prompts } from './prompts.ts';
import type { SectionSource } from './section-source.ts';

/** In the order in which they are sent. */
export const sections: readonly SectionSource[] = [
  configs,
  prompts,
  partials,
  promptVersions,
  partialVersions,
  guardrails,
  guardrailVersions,
  mcpServers,
  agentServers,
];

/** Raised when the core holds what gateways must have that hold it already. */
const coreFormat = 3;

/** By name; `core` is that of all that is in no section. */
export const formats: Readonly<Record<string, number>> = {
  core: coreFormat,
  ...Object.fromEntries(sections.map(({ name, format }) => [name, format])),
};
