import type { config } from '@sluice/proto-stubs';

/** A bundle as it came. */
export interface WholeBundle extends BundleTables {
  readonly source: config.Bundle;
}

/** Saved things of one kind by their names. */
export interface Table<T> {
  get(reference: string): T | undefined;
}

/** What a workspace may have very much of. */
export interface BundleTables {
  /** By slug and by id. */
  readonly configs: Table<config.Config>;
  /** By slug and by id. */
  readonly prompts: Table<config.Prompt>;
  /** By id, and by `<id of the prompt>@<number>`. */
  readonly promptVersions: Table<config.PromptVersion>;
  /** By slug and by id. */
  readonly partials: Table<config.PromptPartial>;
  /** By id, and by `<id of the partial>@<number>`. */
  readonly partialVersions: Table<config.PromptPartialVersion>;
  /** By slug and by id. */
  readonly guardrails: Table<config.Guardrail>;
  /** By id, and by `<id of the guardrail>@<number>`. */
  readonly guardrailVersions: Table<config.GuardrailVersion>;
  /** By slug and by id. */
  readonly mcpServers: Table<config.McpServer>;
  /** By slug and by id. */
  readonly agentServers: Table<config.AgentServer>;
}
