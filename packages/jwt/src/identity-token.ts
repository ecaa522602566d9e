import type { JsonWebKey } from 'node:crypto';
import { identityClaims, identityIssuer, identityLifetimeSeconds } from '@sluice/contracts';
import { importJWK, SignJWT } from 'jose';
import { jsonObject } from './token.ts';

/** Who calls, signed for one server. */
export interface IdentityToken {
  readonly token: string;
  readonly expiresAtMs: number;
}

const known = new Set<string>(identityClaims);
const claimLengthMax = 2_048;

/**
 * A statement to one server of who calls it (`user_identity_forwarding`, `jwt_header`): RS256, five minutes. Of what is given only
 * claims that tell of a caller are taken: issuer, audience and dates are ours. Its type is no access token's, so the gateway takes it for none.
 * @param claimsJson an object of texts
 * @param jwk private, RSA, with its `kid`
 */
export async function signIdentityToken(
  claimsJson: string,
  audience: string,
  jwk: JsonWebKey,
  nowMs: number,
): Promise<IdentityToken> {
  const claims = Object.entries(jsonObject(claimsJson) ?? {}).filter(
    ([name, value]) =>
      known.has(name) && typeof value === 'string' && value.length <= claimLengthMax,
  );
  const issuedAt = Math.floor(nowMs / 1000);
  const expiresAt = issuedAt + identityLifetimeSeconds;
  const token = await new SignJWT(Object.fromEntries(claims))
    .setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid: String(jwk.kid) })
    .setIssuer(identityIssuer)
    .setAudience(audience)
    .setIssuedAt(issuedAt)
    .setExpirationTime(expiresAt)
    .sign(await importJWK(jwk as Parameters<typeof importJWK>[0], 'RS256'));
  return { token, expiresAtMs: expiresAt * 1000 };
}
