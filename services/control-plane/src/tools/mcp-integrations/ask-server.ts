import type { AnswerOf } from '@sluice/contracts/admin';
import type { McpIntegration } from '../../generated/prisma/client.ts';
import { openConfigurations } from '../registry/configurations.ts';
import type { RegistryParts } from '../registry/registry.ts';
import { SignInFault } from '../registry/sign-in-fault.ts';
import { type Discovery, discover } from './discover.ts';
import { mcpKind } from './kind.ts';
import { McpFault } from './mcp-fault.ts';

/** How asking went, as it is answered; with what was found, if anything was. */
export interface Asked {
  readonly answer: AnswerOf<'mcp-integrations.test'>;
  readonly found: Discovery | undefined;
}

/** Asks the server behind an integration what it is. A server that does not answer is an answer. */
export async function askServer(parts: RegistryParts, row: McpIntegration): Promise<Asked> {
  const startedAt = performance.now();
  const outcome = await ask(parts, row).catch((error: unknown) => {
    if (error instanceof McpFault) return error;
    if (error instanceof SignInFault) return new McpFault(error.message, undefined, error);
    throw error;
  });
  const failed = outcome instanceof McpFault;
  return {
    found: failed ? undefined : outcome,
    answer: {
      success: !failed,
      status_code: failed ? (outcome.status ?? null) : 200,
      response_time_ms: Math.round(performance.now() - startedAt),
      url: row.url,
      server_name: (failed ? row.serverName : outcome.serverName) ?? row.name,
      error: failed ? outcome.message : null,
    },
  };
}

async function ask(parts: RegistryParts, row: McpIntegration): Promise<Discovery> {
  const isSignedIn = row.authType === 'oauth_client_credentials';
  const token = isSignedIn ? (await parts.tokens.tokenOf(row)).token : undefined;
  return discover(parts.fetch, {
    url: row.url,
    transport: row.transport,
    configurations: openConfigurations(parts.vault, mcpKind, row),
    token,
  });
}
