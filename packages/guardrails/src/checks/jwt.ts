import { AsyncLocalStorage } from 'node:async_hooks';
import type { ParametersOf } from '@sluice/contracts/checks';
import {
  checkClaims,
  fixedKeys,
  type JsonRecord,
  jsonObject,
  type KeySource,
  nameToken,
  RemoteKeys,
  readKeySet,
  readToken,
  TokenCache,
  verifySignature,
} from '@sluice/jwt';
import {
  type AskHost,
  type CheckContext,
  CheckError,
  type CheckFunction,
  type HostQuestion,
} from '../check.ts';
import { type ClaimRule, claimFaults, claimRules } from '../claim-rules.ts';

type Parameters = ParametersOf<'default.jwt'>;

/** Whether a header of the caller holds a token that its issuer stands by, and whose claims are as asked. */
export function jwt(parameters: Parameters): CheckFunction {
  const { headerKey } = parameters;
  const vouch = voucher(parameters);
  const rules = claimRules(parameters.claimValues ?? {});
  return async (context) => {
    const token = tokenIn(context, headerKey);
    if (token === undefined) return refused(`The header ${headerKey} holds no token.`);
    try {
      const { payload, header } = await asking.run(context.ask, () => vouch(token));
      const faults = faultsOf(payload, header, parameters, rules);
      if (faults.length > 0) return refused(faults.slice(0, 10).join(' '));
      return {
        verdict: true,
        data: {
          verdict: true,
          explanation: 'The token is valid.',
          extractedClaims: extracted(payload, parameters),
        },
      };
    } catch (error) {
      if (codeOf(error) === 'auth.invalid_token') return refused((error as Error).message);
      const { cause } = error as Error;
      // That it took too long is another thing than a host that is away.
      if (codeOf(error) === 'auth.issuer_unavailable' && cause instanceof CheckError) throw cause;
      if (codeOf(error) === 'auth.issuer_unavailable')
        throw new CheckError('HostFailed', 'The issuer of the token could not be asked.');
      throw error;
    }
  };
}

function refused(explanation: string) {
  return { verdict: false, data: { verdict: false, explanation } };
}

function tokenIn({ headers }: CheckContext, headerKey: string): string | undefined {
  const value = headers[headerKey.toLowerCase()];
  const text = (Array.isArray(value) ? value[0] : value)?.trim().replace(/^Bearer\s+/i, '');
  return text === '' ? undefined : text;
}

interface Vouched {
  readonly payload: JsonRecord;
  /** The token's own; of a token that is no JWT there is none. */
  readonly header: JsonRecord;
}

type Vouch = (token: string) => Promise<Vouched>;

/** With whose means keys are fetched: of whichever request needs them first. They serve all of the check's. */
const asking = new AsyncLocalStorage<AskHost>();

function voucher(parameters: Parameters): Vouch {
  const { jwks, jwksUri, introspectEndpoint } = parameters;
  if (jwks === undefined && jwksUri === undefined)
    return introspecting(parameters, introspectEndpoint ?? '');
  const keys = jwks === undefined ? remoteKeys(parameters, jwksUri ?? '') : ownKeys(jwks);
  const settings = {
    algorithms: parameters.algorithms,
    clock_tolerance_s: parameters.clockTolerance,
    token_max_age: parameters.maxTokenAge,
  };
  return async (token) => {
    const read = readToken(token);
    const payload = await verifySignature(read, keys, settings);
    checkClaims(payload, settings, Date.now());
    return { payload, header: read.header };
  };
}

function ownKeys(jwks: JsonRecord): KeySource {
  const set = readKeySet(jwks);
  if (set === undefined || set.keys.length === 0)
    throw new CheckError(
      'InvalidParameters',
      'parameters.jwks: has no key that can be used.',
      'jwks',
    );
  return fixedKeys(set);
}

function remoteKeys({ cacheMaxAge }: Parameters, url: string): KeySource {
  return new RemoteKeys({
    url,
    maxAgeMs: cacheMaxAge * 1000,
    now: Date.now,
    fetch: (address, { headers = {} }) => ask({ url: address, method: 'GET', headers }),
  });
}

/** RFC 7662: the issuer says what a token is worth, whatever it looks like. */
function introspecting(
  { introspectContentType, introspectCacheMaxAge, clockTolerance }: Parameters,
  url: string,
): Vouch {
  const cache = new TokenCache<Vouched & { validUntilMs: number }>(1_000);
  const isJson = introspectContentType === 'application/json';

  async function introspect(token: string) {
    const { status, body } = await ask({
      url,
      headers: { accept: 'application/json', 'content-type': introspectContentType },
      body: isJson ? JSON.stringify({ token }) : new URLSearchParams({ token }).toString(),
    });
    const payload = status === 200 ? jsonObject(body.toString()) : undefined;
    if (payload === undefined)
      throw new CheckError('HostFailed', `The issuer answered with status ${status}.`);
    const endMs = typeof payload.exp === 'number' ? payload.exp * 1000 : Number.POSITIVE_INFINITY;
    const isOver = endMs + clockTolerance * 1000 <= Date.now();
    if (payload.active !== true || isOver) throw new TokenRefused();
    const validUntilMs = Math.min(endMs, Date.now() + introspectCacheMaxAge * 1000);
    return { payload, header: {}, validUntilMs };
  }

  return async (token) => {
    const name = nameToken(token);
    return cache.get(name, Date.now()) ?? (await cache.load(name, () => introspect(token)));
  };
}

class TokenRefused extends Error {
  readonly code = 'auth.invalid_token';

  constructor() {
    super('The token is not active.');
  }
}

function ask(question: HostQuestion): ReturnType<AskHost> {
  const askHost = asking.getStore();
  if (askHost === undefined) throw new CheckError('HostFailed', 'There is nobody to ask.');
  return askHost(question);
}

function codeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
}

function faultsOf(
  payload: JsonRecord,
  header: JsonRecord,
  { requiredClaims, headerPayloadMatch }: Parameters,
  rules: readonly ClaimRule[],
): string[] {
  const missing = (requiredClaims ?? []).filter((name) => !hasValue(payload, name));
  const apart = (headerPayloadMatch ?? []).filter(
    (name) => !hasValue(payload, name) || header[name] !== payload[name],
  );
  return [
    ...missing.map((name) => `The token has no claim ${name}.`),
    ...apart.map((name) => `Header and payload of the token differ in ${name}.`),
    ...claimFaults(payload, rules),
  ];
}

function hasValue(payload: JsonRecord, name: string): boolean {
  return Object.hasOwn(payload, name) && payload[name] !== undefined && payload[name] !== null;
}

/** The claims that are asked for, by the name of the header that they would be. */
function extracted(payload: JsonRecord, { extractClaims, claimPrefix }: Parameters) {
  return Object.fromEntries(
    (extractClaims ?? [])
      .filter((name) => hasValue(payload, name))
      .map((name) => [`${claimPrefix}${name}`.toLowerCase(), textOf(payload[name])]),
  );
}

function textOf(claim: unknown): string {
  if (Array.isArray(claim)) return claim.map(textOf).join(',');
  return typeof claim === 'object' ? JSON.stringify(claim) : String(claim);
}
