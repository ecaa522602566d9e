/** What the engine knows of a request. Values only: the gateway fills them in, tests make them up. */
export interface RequestFacts {
  organisationId: string;
  workspaceId: string;
  workspaceSlug: string;
  apiKeyId: string;
  /** Handle for people, used in messages. */
  apiKeySlug: string;
  /** Endpoint id, e.g. `chatComplete`. */
  endpoint: string;
  /** It is passed through by a row of its own, and goes by `proxy` as well. */
  passesThrough?: boolean;
  /** Merged metadata: workspace over key over request. */
  metadata: Readonly<Record<string, string>>;
  configSlug: string | undefined;
  promptSlug: string | undefined;
  /** Of a call of an MCP server, its slug; through a merged server the member's first. Absent = it is none. */
  mcpServers?: readonly string[] | undefined;
  /** The tool that is called, as its server names it, then as callers know it. Absent = none is. */
  mcpTools?: readonly string[] | undefined;
}

/** What is known once a target is chosen. */
export interface TargetFacts {
  /** Catalogue id. */
  provider: string;
  /** Slug of the saved provider; undefined for direct calls. */
  providerSlug: string | undefined;
  /** As the caller asked for it, without a leading `@slug/`. */
  model: string | undefined;
}
