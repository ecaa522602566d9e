import type { JwtSettings } from '@sluice/contracts/admin';
import { FairPlaces, type GuardedFetch, withPlace } from '@sluice/outbound';
import { type ClaimSettings, checkDates, checkValue } from './check-claims.ts';
import { invalidToken, issuerUnavailable } from './faults.ts';
import { type JsonRecord, jsonObject, nameToken, type ReadToken } from './token.ts';

export type IntrospectionSettings = NonNullable<JwtSettings['introspection']>;

export interface IntrospectionOptions {
  /** What the token itself is held to before anybody is asked. */
  settings: ClaimSettings;
  introspection: IntrospectionSettings;
  fetch: GuardedFetch;
  now: () => number;
}

const timeoutMs = 3_000;
const bytesMax = 256 * 1024;
/**
 * Questions under way: of one address three quarters, and when all are taken,
 * addresses take turns. So garbage from some of them takes no place from others.
 */
const questions = { what: 'introspection', allMax: 32, ownerMax: 24, waitingMax: 64 };
const waitingAllMax = 1_000;
const patienceMs = 2_000;
/** A token that was refused is not asked about again so soon. */
const inactiveTtlMs = 10_000;
const inactiveMax = 1_000;

/**
 * Asks the issuer whether it stands by a token (RFC 7662), unless the token
 * itself says that it cannot. What the answer says wins over what the token
 * says of itself. Who waits in vain for a place to ask is told `auth.issuer_unavailable`.
 */
export function createIntrospection(
  options: IntrospectionOptions,
): (token: ReadToken, from: string) => Promise<JsonRecord> {
  const { settings, now } = options;
  /** The first that was refused stands first. */
  const inactiveUntilMs = new Map<string, number>();
  const terms = {
    places: new FairPlaces(questions),
    waitingAllMax,
    patienceMs,
    refusal: issuerUnavailable,
  };

  const refuse = (name: string) => {
    if (inactiveUntilMs.size >= inactiveMax)
      inactiveUntilMs.delete(inactiveUntilMs.keys().next().value as string);
    inactiveUntilMs.set(name, now() + inactiveTtlMs);
    return invalidToken('The token is not active.');
  };

  return async ({ text, payload }, from) => {
    checkDates(payload, settings, now());
    if (payload.iss !== undefined) checkValue(payload, 'iss', settings);
    const { identity, proof } = nameToken(text);
    const name = `${identity}.${proof}`;
    if ((inactiveUntilMs.get(name) ?? 0) > now()) throw invalidToken('The token is not active.');
    const answer = await withPlace(terms, from, () => ask(text, options));
    if (answer.active !== true) throw refuse(name);
    return { ...payload, ...answer };
  };
}

async function ask(
  token: string,
  { introspection: settings, fetch }: IntrospectionOptions,
): Promise<JsonRecord> {
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
