import type { JwtSettings } from '@sluice/contracts/admin';
import type { GuardedFetch } from '@sluice/outbound';
import { invalidToken, issuerUnavailable } from './faults.ts';
import { type JsonRecord, jsonObject, peekToken, tokenDigest } from './token.ts';

export type IntrospectionSettings = NonNullable<JwtSettings['introspection']>;

export interface IntrospectionOptions {
  settings: IntrospectionSettings;
  fetch: GuardedFetch;
  now: () => number;
}

const timeoutMs = 3_000;
const bytesMax = 256 * 1024;
/** Questions under way; who comes on top is asked to come again. */
const askedMax = 32;
/** A token that was refused is not asked about again so soon. */
const inactiveTtlMs = 10_000;
const inactiveMax = 1_000;

/**
 * Asks the issuer whether it stands by a token (RFC 7662). What its answer says
 * wins over what the token says of itself.
 */
export function createIntrospection(
  options: IntrospectionOptions,
): (token: string) => Promise<JsonRecord> {
  const inactiveUntilMs = new Map<string, number>();
  let asked = 0;

  const refuse = (digest: string) => {
    if (inactiveUntilMs.size >= inactiveMax) inactiveUntilMs.clear();
    inactiveUntilMs.set(digest, options.now() + inactiveTtlMs);
    return invalidToken('The token is not active.');
  };

  return async (token) => {
    const peeked = peekToken(token);
    if (peeked === undefined) throw invalidToken('The token cannot be read.');
    const digest = tokenDigest(token);
    if ((inactiveUntilMs.get(digest) ?? 0) > options.now())
      throw invalidToken('The token is not active.');
    if (asked >= askedMax) throw issuerUnavailable();
    asked += 1;
    try {
      const answer = await ask(token, options);
      if (answer.active !== true) throw refuse(digest);
      return { ...peeked.payload, ...answer };
    } finally {
      asked -= 1;
    }
  };
}

async function ask(token: string, { settings, fetch }: IntrospectionOptions): Promise<JsonRecord> {
  const question = { token, token_type_hint: 'access_token' };
  const isJson = settings.content_type === 'json';
  const reply = await fetch(settings.url, {
    method: 'POST',
    headers: {
      accept: 'application/json',
      'content-type': isJson ? 'application/json' : 'application/x-www-form-urlencoded',
      ...authorization(settings),
    },
    body: isJson ? JSON.stringify(question) : new URLSearchParams(question).toString(),
    timeoutMs,
    bytesMax,
    field: 'jwt.introspection.url',
  }).catch((error: unknown) => {
    throw issuerUnavailable(error);
  });
  const answer = reply.status === 200 ? jsonObject(reply.body.toString()) : undefined;
  if (answer === undefined)
    throw issuerUnavailable(new Error(`introspection was answered with status ${reply.status}`));
  return answer;
}

/** Our own credential, as OAuth writes it: both halves form-encoded first (RFC 6749, 2.3.1). */
function authorization(settings: IntrospectionSettings): Record<string, string> {
  if (settings.client_id === undefined) return {};
  const pair = [settings.client_id, settings.client_secret ?? ''].map(formEncoded).join(':');
  return { authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
}

function formEncoded(text: string): string {
  return new URLSearchParams([['', text]]).toString().slice(1);
}
