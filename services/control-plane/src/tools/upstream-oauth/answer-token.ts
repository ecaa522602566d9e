import type { MessageInitShape } from '@bufbuild/protobuf';
import type { config } from '@sluice/proto-stubs';
import type { DatabaseClient } from '../../kernel/database/client.ts';
import { isUuid } from '../../kernel/names/ids.ts';
import { SignInFault } from '../registry/sign-in-fault.ts';
import type { IntegrationTokens } from './integration-tokens.ts';
import { findServerIntegration } from './tokens-store.ts';

export interface AnswerTokenParts {
  readonly client: DatabaseClient;
  readonly tokens: IntegrationTokens;
  readonly now: () => Date;
}

/** What a gateway asks for a server that it calls. A server that cannot be signed in at is an answer. */
export async function answerToken(
  { client, tokens, now }: AnswerTokenParts,
  { serverId, refusedSha256 }: config.GetUpstreamTokenRequest,
): Promise<MessageInitShape<typeof config.GetUpstreamTokenResponseSchema>> {
  try {
    const integration = isUuid(serverId)
      ? await findServerIntegration(client, serverId)
      : undefined;
    if (integration === undefined)
      throw new SignInFault('not_found', 'There is no such MCP server.');
    const refused = refusedSha256.length === 0 ? undefined : Buffer.from(refusedSha256);
    const { token, expiresAt, renewsAt } = await tokens.tokenOf(integration, refused);
    const leftMs = (until: Date) => Math.max(0, until.getTime() - now().getTime());
    return {
      accessToken: token,
      expiresInMs: leftMs(expiresAt),
      renewInMs: leftMs(renewsAt),
    };
  } catch (error) {
    if (!(error instanceof SignInFault)) throw error;
    return { fault: { code: error.code, message: error.message } };
  }
}
