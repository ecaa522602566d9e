import type { MessageInitShape } from '@bufbuild/protobuf';
import type { config } from '@sluice/proto-stubs';
import type { DatabaseClient } from '../../kernel/database/client.ts';
import { isUuid } from '../../kernel/names/ids.ts';
import { SignInFault } from '../registry/sign-in-fault.ts';
import { findServer } from './connections-store.ts';
import type { IntegrationTokens } from './integration-tokens.ts';
import type { UserConnections } from './user-connections.ts';

export interface AnswerTokenParts {
  readonly client: DatabaseClient;
  readonly tokens: IntegrationTokens;
  readonly connections: UserConnections;
  readonly now: () => Date;
}

/** What a gateway asks for a server that it calls. A server that cannot be signed in at is an answer. */
export async function answerToken(
  { client, tokens, connections, now }: AnswerTokenParts,
  { serverId, refusedSha256, userId, wantedScope }: config.GetUpstreamTokenRequest,
): Promise<MessageInitShape<typeof config.GetUpstreamTokenResponseSchema>> {
  try {
    const server = isUuid(serverId) ? await findServer(client, serverId) : undefined;
    if (server === undefined) throw new SignInFault('not_found', 'There is no such MCP server.');
    const refused = refusedSha256.length === 0 ? undefined : Buffer.from(refusedSha256);
    const { token, expiresAt, renewsAt } =
      userId === ''
        ? await tokens.tokenOf(server.integration, refused)
        : await connections.tokenOf(
            server,
            asUser(userId),
            refused && { sha256: refused, wantedScope },
          );
    const answeredAt = now().getTime();
    const leftMs = (until: Date) =>
      Math.min(answerMsMax, Math.max(0, until.getTime() - answeredAt));
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

/** However long a token lasts, gateways ask again. */
const answerMsMax = 24 * 3_600_000;

/** @throws SignInFault */
function asUser(id: string): string {
  if (isUuid(id)) return id.toLowerCase();
  throw new SignInFault('not_found', 'There is no such user.');
}
