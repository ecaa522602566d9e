import { mcpTokenType } from '@sluice/contracts';
import { checkDates } from './check-claims.ts';
import { invalidToken } from './faults.ts';
import { readKeySet } from './key-set.ts';
import { fixedKeys, type KeySource } from './key-source.ts';
import { verifySignature } from './signature.ts';
import { isTokenShaped, type JsonRecord, peekToken, readToken } from './token.ts';

/** What an access token for an MCP server says, once it is known to be ours. The names of its claims are those of RFC 9068. */
export interface McpToken {
  /** The grant that it came of: `sluice_grant`, a UUID. */
  readonly grantId: string;
  readonly issuer: string;
  /** The one server that it is for, by its address. */
  readonly audience: string;
  /** The person's id. */
  readonly subject: string;
  readonly clientId: string;
  /** With spaces between. */
  readonly scope: string;
  readonly expiresAtMs: number;
  readonly claims: JsonRecord;
}

const algorithms = ['RS256'];
/** Clocks of two machines differ. */
const toleranceSeconds = 5;

/** Which grant of which issuer a text names that may be such a token, with nothing checked; undefined = it is none. */
export function peekMcpToken(text: string): { issuer: string; grantId: string } | undefined {
  const peeked = isTokenShaped(text) ? peekToken(text) : undefined;
  if (peeked?.header.typ !== mcpTokenType) return undefined;
  const { iss, sluice_grant: grantId } = peeked.payload;
  return typeof iss === 'string' && typeof grantId === 'string'
    ? { issuer: iss, grantId }
    : undefined;
}

/** The public keys of the authorisation server, as a JSON array of JWKs. */
export function mcpTokenKeys(keysJson: string): KeySource {
  return fixedKeys(
    readKeySet(`{"keys":${keysJson === '' ? '[]' : keysJson}}`) ?? { keys: [], faults: [] },
  );
}

/** @throws GatewayError `auth.invalid_token`, saying why */
export async function verifyMcpToken(
  text: string,
  keys: KeySource,
  nowMs: number,
): Promise<McpToken> {
  const token = readToken(text);
  if (token.header.typ !== mcpTokenType) throw invalidToken('The token is no access token.');
  const claims = await verifySignature(token, keys, { algorithms });
  const { exp } = checkDates(claims, { clock_tolerance_s: toleranceSeconds }, nowMs);
  if (exp === undefined) throw invalidToken('The token has no claim exp.');
  return {
    grantId: textOf(claims, 'sluice_grant'),
    issuer: textOf(claims, 'iss'),
    audience: textOf(claims, 'aud'),
    subject: textOf(claims, 'sub'),
    clientId: textOf(claims, 'client_id'),
    scope: typeof claims.scope === 'string' ? claims.scope : '',
    expiresAtMs: exp,
    claims,
  };
}

function textOf(claims: JsonRecord, name: string): string {
  const value = claims[name];
  if (typeof value !== 'string' || value === '')
    throw invalidToken(`The token has no claim ${name}.`);
  return value;
}
