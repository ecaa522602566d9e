import { createHash } from 'node:crypto';
import type { McpIntegration } from '../../generated/prisma/client.ts';
import type { CredentialVault } from '../../kernel/credentials/envelope.ts';
import { isObject } from '../../kernel/http/json-object.ts';
import { mcpKind } from '../mcp-integrations/kind.ts';
import { openConfigurations } from '../registry/configurations.ts';
import { SignInFault } from '../registry/sign-in-fault.ts';
import type { GivenMetadata } from './discover-authorization.ts';

export type AskedIntegration = Pick<
  McpIntegration,
  'id' | 'url' | 'authType' | 'sealedConfigurations'
>;

/** A server that wants OAuth, and what its admin says of it. */
export interface Calling {
  /** Of the integration. */
  readonly id: string;
  readonly url: string;
  readonly given: GivenMetadata;
  /** Of what tokens are asked for with: under another one they are worth nothing. */
  readonly fingerprint: Buffer;
}

/** @throws SignInFault `not_configured` */
export function callingOf(
  vault: CredentialVault,
  integration: AskedIntegration,
  authType: 'oauth_client_credentials' | 'oauth_auto',
): Calling {
  const { id, url } = integration;
  if (integration.authType !== authType)
    throw new SignInFault('not_configured', `This MCP server is not set up for ${authType}.`);
  const { oauth_metadata: metadata } = openConfigurations(vault, mcpKind, integration);
  const given = isObject(metadata) ? metadata : {};
  const fingerprint = createHash('sha256')
    .update(JSON.stringify([url, given]))
    .digest();
  return { id, url, given, fingerprint };
}
