import { compactVerify, errors } from 'jose';
import { invalidToken } from './faults.ts';
import type { KeySource } from './key-source.ts';
import type { JsonRecord, ReadToken } from './token.ts';

/** What the type of a token may be, when it has one: a JWT, or an access token that is one (RFC 9068). */
const tokenTypes = new Set(['jwt', 'at+jwt', 'application/jwt', 'application/at+jwt']);

/**
 * The payload of a token that an issuer's key has signed.
 * @throws GatewayError `auth.invalid_token`, `auth.issuer_unavailable`
 */
export async function verifySignature(
  { text, header, payload }: ReadToken,
  keys: KeySource,
  settings: { readonly algorithms: readonly string[] },
): Promise<JsonRecord> {
  const { alg, kid, typ } = header;
  // Only algorithms with a public key can be listed: `none` and HMAC end here, whatever the key is.
  if (typeof alg !== 'string' || !settings.algorithms.includes(alg))
    throw invalidToken('The token is signed with an algorithm that is not accepted.');
  if (typeof kid !== 'string' || kid === '') throw invalidToken('The token names no key (kid).');
  if (typ !== undefined && !(typeof typ === 'string' && tokenTypes.has(typ.toLowerCase())))
    throw invalidToken('The token is of another type than JWT.');
  // No extension of the format is understood here.
  if (header.crit !== undefined) throw invalidToken('The token asks for an unknown extension.');
  const found = await keys.find(kid, alg);
  if (found === undefined) throw invalidToken('The token’s key is not known.');
  try {
    await compactVerify(text, found.key, { algorithms: [alg] });
  } catch (error) {
    if (error instanceof errors.JOSEError || error instanceof TypeError)
      throw invalidToken('The signature of the token is not valid.', error);
    throw error;
  }
  return payload;
}
