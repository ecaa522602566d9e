import type { IncomingHttpHeaders } from 'node:http';
import { type JwtValidation, jwtValidation } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import { type ClaimRule, claimFaults, claimRules } from '@sluice/guardrails';
import {
  checkClaims,
  checkDates,
  createIntrospection,
  fixedKeys,
  type JsonRecord,
  type KeySource,
  nameToken,
  RemoteKeys,
  readKeySet,
  readToken,
  TokenCache,
  verifySignature,
} from '@sluice/jwt';
import type { GuardedFetch } from '@sluice/outbound';
import type { CompiledMcpServer } from '../compiled/mcp-servers.ts';

export interface UserTokensOptions {
  /** To the issuers that servers name. */
  readonly fetch: GuardedFetch;
  readonly now?: () => number;
}

/** Who brings the token, besides it. */
export interface TokenBearer {
  readonly headers: IncomingHttpHeaders;
  /** Who they are to the gateway: never shown to an issuer. */
  readonly credential: string | undefined;
  /** Addresses take turns where an issuer has to be asked. */
  readonly from: string;
}

/** A user's token that its issuer stands by. */
export interface UserToken {
  readonly text: string;
  readonly claims: JsonRecord;
}

/** 401: `message` is what callers read as `error_description`. */
export class UserTokenFault extends Error {}

/** Verdicts of one server. */
const verdictsMax = 1_000;
const tokenLengthMax = 8_192;
const second = 1_000;

interface Validator {
  readonly headerKey: string;
  readonly introspects: boolean;
  validate(text: string, from: string): Promise<JsonRecord>;
}

/**
 * The tokens of end users that servers ask for beside the gateway's own credential (`jwt_validation`). Keys and verdicts are kept
 * for as long as the settings of a server stay as they are.
 */
export class UserTokens {
  readonly #options: Required<UserTokensOptions>;
  readonly #validators = new WeakMap<CompiledMcpServer, Validator>();

  constructor(options: UserTokensOptions) {
    this.#options = { now: Date.now, ...options };
  }

  /**
   * @returns undefined = the server asks for none
   * @throws UserTokenFault; GatewayError 503 `auth.issuer_unavailable`
   */
  async check(server: CompiledMcpServer, bearer: TokenBearer): Promise<UserToken | undefined> {
    if (!asksForUser(server)) return undefined;
    const validator = this.#validatorOf(server);
    const text = tokenIn(validator, bearer);
    try {
      return { text, claims: await validator.validate(text, bearer.from) };
    } catch (error) {
      if (error instanceof GatewayError && error.code === 'auth.invalid_token')
        throw new UserTokenFault(reasonOf(error.message));
      throw error;
    }
  }

  #validatorOf(server: CompiledMcpServer): Validator {
    const known = this.#validators.get(server);
    if (known !== undefined) return known;
    const made = makeValidator(readValidation(server.configurations.jwt_validation), this.#options);
    this.#validators.set(server, made);
    return made;
  }
}

/** Whether callers must show a token of the end user's, beside who they are. */
export function asksForUser({ configurations }: CompiledMcpServer): boolean {
  return configurations.jwt_validation != null;
}

/** Why this gateway cannot validate by these settings; undefined = it can, or there are none. */
export function validationFault(settings: unknown): string | undefined {
  if (settings == null) return undefined;
  try {
    const { claimValues, jwks } = readValidation(settings);
    claimRules(claimValues ?? {});
    if (jwks != null) keysIn(jwks);
    return undefined;
  } catch {
    return 'jwt_validation cannot be used as it stands';
  }
}

/** @throws ZodError */
function readValidation(settings: unknown): JwtValidation {
  return jwtValidation.parse(settings);
}

function keysIn(jwks: JsonRecord): KeySource {
  const set = readKeySet(jwks);
  if (set === undefined || set.keys.length === 0)
    throw new Error('jwt_validation.jwks has no key that can be used');
  return fixedKeys(set);
}

/** @throws UserTokenFault */
function tokenIn({ headerKey, introspects }: Validator, bearer: TokenBearer): string {
  const value = bearer.headers[headerKey];
  const written = (Array.isArray(value) ? value[0] : value)?.trim() ?? '';
  if (written === '') throw new UserTokenFault(`missing header: ${headerKey} must hold a token.`);
  const [, bare = ''] = /^(?:Bearer\s+)?(\S+)$/i.exec(written) ?? [];
  if (bare === '' || /^bearer$/i.test(bare) || bare.length > tokenLengthMax)
    throw new UserTokenFault(`invalid header format: ${headerKey} must be "Bearer " and a token.`);
  // What opens the gateway is nobody else's to see, and no word of a user's.
  if (introspects && bearer.credential?.includes(bare) === true)
    throw new UserTokenFault(
      `missing header: ${headerKey} holds the gateway's own credential; the user's token is asked for beside it.`,
    );
  return bare;
}

function makeValidator(settings: JwtValidation, options: Required<UserTokensOptions>): Validator {
  const { introspectEndpoint } = settings;
  const claims = { clock_tolerance_s: settings.clockTolerance ?? 5, ...ageOf(settings) };
  const { now } = options;
  const verdicts = new TokenCache<{ validUntilMs: number; payload: JsonRecord }>(verdictsMax);
  const rules = claimRules(settings.claimValues ?? {});
  const vouch =
    introspectEndpoint == null
      ? signed(settings, claims, options)
      : introspected(settings, introspectEndpoint, claims, options);
  return {
    headerKey: (settings.headerKey ?? 'authorization').toLowerCase(),
    introspects: introspectEndpoint != null,
    async validate(text, from) {
      const name = nameToken(text);
      const known = verdicts.get(name, now());
      if (known !== undefined) return known.payload;
      const made = await verdicts.load(name, async () => {
        const vouched = await vouch(text, from);
        checkSettled(vouched.payload, vouched.header, settings, rules);
        return vouched;
      });
      return made.payload;
    },
  };
}

interface Vouched {
  readonly payload: JsonRecord;
  /** Of an introspected token there is none. */
  readonly header: JsonRecord;
  readonly validUntilMs: number;
}

type Vouch = (text: string, from: string) => Promise<Vouched>;
type Claims = Parameters<typeof checkClaims>[1];

function ageOf({ maxTokenAge }: JwtValidation) {
  if (maxTokenAge == null) return {};
  return { token_max_age: typeof maxTokenAge === 'number' ? `${maxTokenAge}s` : maxTokenAge };
}

function signed(
  settings: JwtValidation,
  claims: Claims,
  { fetch, now }: Required<UserTokensOptions>,
): Vouch {
  const { jwks, jwksUri, cacheMaxAge, algorithms } = settings;
  const keys =
    jwks == null
      ? new RemoteKeys({
          url: jwksUri ?? '',
          maxAgeMs: (cacheMaxAge ?? 86_400) * second,
          fetch,
          now,
        })
      : keysIn(jwks);
  const accepted = { algorithms: algorithms ?? ['RS256'] };
  return async (text) => {
    const token = readToken(text);
    const payload = await verifySignature(token, keys, accepted);
    return { payload, header: token.header, validUntilMs: checkClaims(payload, claims, now()) };
  };
}

/** The issuer says what a token is worth, whatever it looks like. */
function introspected(
  settings: JwtValidation,
  url: string,
  claims: Claims,
  { fetch, now }: Required<UserTokensOptions>,
): Vouch {
  const { introspectClientId: id, introspectClientSecret: secret } = settings;
  const keptMs = (settings.introspectCacheMaxAge ?? 0) * second;
  const isForm = settings.introspectContentType === 'application/x-www-form-urlencoded';
  const ask = createIntrospection({
    settings: claims,
    introspection: {
      url,
      content_type: isForm ? 'form' : 'json',
      cache_max_age_s: keptMs / second,
      ...(id != null && { client_id: id }),
      ...(secret != null && { client_secret: secret }),
    },
    fetch,
    now,
  });
  return async (text, from) => {
    const payload = await ask({ text, header: {}, payload: {} }, from);
    const endMs =
      claims.token_max_age !== undefined
        ? checkClaims(payload, claims, now())
        : (checkDates(payload, claims, now()).exp ?? Number.MAX_SAFE_INTEGER);
    return { payload, header: {}, validUntilMs: Math.min(endMs, now() + keptMs) };
  };
}

/** What the settings ask of claims beside dates. @throws UserTokenFault */
function checkSettled(
  payload: JsonRecord,
  header: JsonRecord,
  { requiredClaims, audience, headerPayloadMatch }: JwtValidation,
  rules: readonly ClaimRule[],
): void {
  const has = (claim: string) => Object.hasOwn(payload, claim) && payload[claim] != null;
  const missing = (requiredClaims ?? []).filter((claim) => !has(claim));
  if (missing.length > 0)
    throw new UserTokenFault(`missing required claims: ${missing.join(', ')}.`);
  const failed = (why: string) => new UserTokenFault(`validation failed: ${why}`);
  if (audience != null) {
    const accepted = [audience].flat();
    const told = [payload.aud].flat();
    if (!told.some((each) => typeof each === 'string' && accepted.includes(each)))
      throw failed('The token is for another audience.');
  }
  const apart = (headerPayloadMatch ?? []).find(
    (claim) => !has(claim) || header[claim] !== payload[claim],
  );
  if (apart !== undefined) throw failed(`Header and payload differ in ${apart}.`);
  const [fault] = claimFaults(payload, rules);
  if (fault !== undefined) throw failed(fault);
}

/** In words that clients of such gateways know. */
function reasonOf(message: string): string {
  if (/expired|too old/.test(message)) return `expired: ${message}`;
  if (/not valid yet|in the future/.test(message)) return `not yet valid: ${message}`;
  if (/not active/.test(message)) return `not active: ${message}`;
  const claim = /^The token has no claim (\S+)\.$/.exec(message)?.[1];
  if (claim !== undefined) return `missing required claims: ${claim}.`;
  return `validation failed: ${message}`;
}
