import type { RequestListener } from 'node:http';
import { SettingsError } from '@sluice/env';
import type { TlsFiles } from '@sluice/rpc';
import { httpPart, type Part } from '@sluice/service';
import type { Env } from '../settings.ts';
import { callersServer } from './callers-server.ts';

interface McpPortParts {
  readonly certificates: TlsFiles;
  /** Answers MCP, and refuses all else. */
  readonly answer: RequestListener;
  /** At the drain's deadline. */
  readonly cut: () => void;
}

/** The port of MCP alone, where there is one: of the same process, for networks that tell its callers apart. */
export function mcpPortPart(
  env: Env,
  { certificates, answer, cut }: McpPortParts,
): readonly Part[] {
  const { MCP_PORT: port, HOST: host } = env;
  if (port === 0) return [];
  if (env.SERVER_MODE === 'llm')
    throw new SettingsError([
      'MCP_PORT is of no use where SERVER_MODE is llm: no MCP server is served.',
    ]);
  const server = callersServer(env, certificates, answer);
  return [httpPart({ server, host, port, setting: 'MCP_PORT', shownAs: 'mcp_port', cut })];
}
