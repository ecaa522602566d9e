import type { JwtSettings } from '@sluice/contracts/admin';
import type { GuardedFetch } from '@sluice/outbound';
import { checkClaims } from './check-claims.ts';
import { readClaims, type TokenClaims } from './claims.ts';
import { createIntrospection } from './introspection.ts';
import { readKeySet } from './key-set.ts';
import { fixedKeys, type KeySource, RemoteKeys } from './key-source.ts';
import { verifySignature } from './signature.ts';
import { type JsonRecord, type ReadToken, readToken } from './token.ts';

/** A token that somebody vouched for. */
export interface VerifiedToken {
  readonly claims: TokenClaims;
  /** All that it says. */
  readonly payload: JsonRecord;
  /** How long this verdict may be kept, Unix ms; never beyond the token's own end. */
  readonly validUntilMs: number;
}

/** Who vouches for the tokens of one organisation, by its settings. */
export interface TokenAuthority {
  /**
   * @param from the address of who brings it: where the issuer has to be asked, addresses take turns
   * @throws GatewayError `auth.invalid_token`, `auth.issuer_unavailable`
   */
  verify(token: string, from?: string): Promise<VerifiedToken>;
  /** The fetched key set, for those who keep it over a restart. */
  readonly keyDocument: string | undefined;
}

export interface TokenAuthorityOptions {
  settings: JwtSettings;
  fetch: GuardedFetch;
  now?: (() => number) | undefined;
  /** A key set from before a restart. */
  keyDocument?: string | undefined;
  /** Called when a fetched key set has replaced another. */
  onKeyDocument?: (() => void) | undefined;
}

export function createTokenAuthority(options: TokenAuthorityOptions): TokenAuthority {
  const { settings, fetch, now = Date.now } = options;
  const { introspection } = settings;
  if (introspection !== undefined) {
    const ask = createIntrospection({ settings, introspection, fetch, now });
    const keptMs = introspection.cache_max_age_s * 1000;
    return { verify: verifier(ask, settings, now, keptMs), keyDocument: undefined };
  }
  const keys = keySource(options);
  const verify = verifier((token) => verifySignature(token, keys, settings), settings, now);
  return {
    verify,
    get keyDocument() {
      return keys.document;
    },
  };
}

/** `vouch` gives the payload of a token that is genuine, and throws for any other. */
function verifier(
  vouch: (token: ReadToken, from: string) => Promise<JsonRecord>,
  settings: JwtSettings,
  now: () => number,
  keptMs = Number.POSITIVE_INFINITY,
): TokenAuthority['verify'] {
  return async (token, from = '') => {
    const payload = await vouch(readToken(token), from);
    const endMs = checkClaims(payload, settings, now());
    const validUntilMs = Math.min(endMs, now() + keptMs);
    return { claims: readClaims(payload), payload, validUntilMs };
  };
}

/** When keys are asked for again is nothing that the time of day decides, which may be set back. */
function keySource(options: TokenAuthorityOptions): KeySource {
  const { settings } = options;
  if (settings.jwks_url === undefined)
    return fixedKeys(readKeySet(settings.jwks ?? {}) ?? { keys: [], faults: [] });
  return new RemoteKeys({
    url: settings.jwks_url,
    maxAgeMs: settings.jwks_max_age_s * 1000,
    fetch: options.fetch,
    now: options.now ?? (() => performance.now()),
    document: options.keyDocument,
    onDocument: options.onKeyDocument,
  });
}
