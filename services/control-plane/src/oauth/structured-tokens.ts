import { type McpToken, mcpTokenKeys, verifyMcpToken } from '@sluice/jwt';
import type { KoaContextWithOIDC } from 'oidc-provider';
import type { DatabaseClient } from '../kernel/database/client.ts';
import { isUuid } from '../kernel/names/ids.ts';
import type { Grants } from './grants.ts';
import { personOfSecret } from './person.ts';
import type { KeyRing } from './signing-keys.ts';
import { findGrant } from './store.ts';

interface StructuredTokenParts {
  client: DatabaseClient;
  keys: KeyRing;
  grants: Grants;
  now: () => Date;
}

/**
 * The library revokes and introspects what it keeps, and refuses JWTs (`unsupported_token_type`), which it does not. Ours stand for a
 * grant that is kept: it is what ends, and what says whether the token still works. By then the client has proved who it is.
 */
export function answerStructuredTokens(parts: StructuredTokenParts, issuer: string) {
  return async (ctx: KoaContextWithOIDC, next: () => Promise<void>): Promise<void> => {
    await next();
    const route = ctx._matchedRouteName;
    if (route !== 'revocation' && route !== 'introspection') return;
    const { client, params } = ctx.oidc;
    if (client === undefined) return;
    const refused = (ctx.body as { error?: string } | undefined)?.error;
    if (refused === 'unsupported_token_type') {
      const token = await ownToken(String(params?.token), client.clientId, issuer, parts);
      ctx.status = 200;
      if (route === 'revocation') {
        if (token !== undefined && isUuid(token.grantId))
          await parts.grants.end(token.grantId, 'the client revoked a token');
        ctx.body = '';
        return;
      }
      ctx.body =
        token === undefined || client.clientAuthMethod === 'none'
          ? { active: false }
          : await describe(token, parts);
    } else if (route === 'introspection') await namePerson(ctx, parts);
  };
}

/** The token, if it is one of ours and of this client. */
async function ownToken(
  text: string,
  clientId: string,
  issuer: string,
  { keys, now }: StructuredTokenParts,
): Promise<McpToken | undefined> {
  const { publicJwks } = await keys.current();
  const token = await verifyMcpToken(
    text,
    mcpTokenKeys(JSON.stringify(publicJwks)),
    now().getTime(),
  ).catch(() => undefined);
  return token?.clientId === clientId && token.issuer === issuer ? token : undefined;
}

/** RFC 7662 §2.2. */
async function describe(
  token: McpToken,
  { client, now }: StructuredTokenParts,
): Promise<Record<string, unknown>> {
  const grant = isUuid(token.grantId) ? await findGrant(client, token.grantId) : undefined;
  const person =
    grant === undefined || grant.expiresAt <= now()
      ? undefined
      : await personOfSecret(client, grant.secretId, now());
  if (grant === undefined || person === undefined) return { active: false };
  return {
    active: true,
    token_type: 'Bearer',
    sub: person.userId,
    username: person.email,
    email: person.email,
    scope: token.scope,
    client_id: token.clientId,
    aud: token.audience,
    iss: token.issuer,
    iat: token.claims.iat,
    exp: Math.floor(token.expiresAtMs / 1000),
    jti: token.claims.jti,
    workspace: person.workspaceSlug,
  };
}

/** A refresh token: the library knows somebody by the secret that they logged in with. */
async function namePerson(ctx: KoaContextWithOIDC, { client, now }: StructuredTokenParts) {
  const body = ctx.body as { active?: boolean; sub?: unknown } | undefined;
  if (body?.active !== true || typeof body.sub !== 'string') return;
  const person = await personOfSecret(client, body.sub, now());
  ctx.body =
    person === undefined
      ? { active: false }
      : { ...body, sub: person.userId, username: person.email, workspace: person.workspaceSlug };
}
