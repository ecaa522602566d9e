import { SectionTable } from '../section-table.ts';
import { agentServers } from './agent-servers.ts';
import { configs } from './configs.ts';
import { guardrailVersions } from './guardrail-versions.ts';
import { guardrails } from './guardrails.ts';
import { mcpServers } from './mcp-servers.ts';
import { partialVersions } from './partial-versions.ts';
import { partials } from './partials.ts';
import { promptVersions } from './prompt-versions.ts';
import { prompts } from './prompts.ts';

/** By the names the control plane sends them under. */
const sections = {
  configs,
  prompts,
  promptVersions,
  partials,
  partialVersions,
  guardrails,
  guardrailVersions,
  mcpServers,
  agentServers,
};

export type SectionName = keyof typeof sections;

export const sectionNames = Object.keys(sections) as readonly SectionName[];

/** What has a format: the sections, and the core that is in none of them. */
export const formatNames: readonly string[] = ['core', ...sectionNames];

export type SectionTables = {
  readonly [Name in SectionName]: SectionTable<(typeof sections)[Name]['schema']>;
};

export function isSectionName(name: string): name is SectionName {
  return Object.hasOwn(sections, name);
}

/** They are filled before they are used. */
export function emptyTables(): SectionTables {
  return {
    configs: new SectionTable(configs),
    prompts: new SectionTable(prompts),
    promptVersions: new SectionTable(promptVersions),
    partials: new SectionTable(partials),
    partialVersions: new SectionTable(partialVersions),
    guardrails: new SectionTable(guardrails),
    guardrailVersions: new SectionTable(guardrailVersions),
    mcpServers: new SectionTable(mcpServers),
    agentServers: new SectionTable(agentServers),
  };
}

/** Of each section its table, as `change` leaves it. */
export function changedTables(
  tables: SectionTables,
  change: <Table extends SectionTables[SectionName]>(name: SectionName, table: Table) => Table,
): SectionTables {
  return {
    configs: change('configs', tables.configs),
    prompts: change('prompts', tables.prompts),
    promptVersions: change('promptVersions', tables.promptVersions),
    partials: change('partials', tables.partials),
    partialVersions: change('partialVersions', tables.partialVersions),
    guardrails: change('guardrails', tables.guardrails),
    guardrailVersions: change('guardrailVersions', tables.guardrailVersions),
    mcpServers: change('mcpServers', tables.mcpServers),
    agentServers: change('agentServers', tables.agentServers),
  };
}
