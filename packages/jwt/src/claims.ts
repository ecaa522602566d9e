import { normaliseScope } from '@sluice/contracts';
import { invalidToken } from './faults.ts';
import type { JsonRecord } from './token.ts';

/** What a token says of its bearer, in our words. */
export interface TokenClaims {
  /** UUID in lower case, or whatever the token says in its place. */
  readonly organisation: string | undefined;
  /** Slug or UUID. */
  readonly workspace: string | undefined;
  /** With dots, without the prefix `service.`; undefined = the token names none. */
  readonly scopes: readonly string[] | undefined;
  /** Slug or id of the config for requests that name none. */
  readonly configId: string | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  readonly usageLimits: readonly TokenUsageLimit[];
  readonly rateLimits: readonly TokenRateLimit[];
  /** Who the bearer is: `email_id`, else `sub`, else `uid`. */
  readonly user: string | undefined;
}

export interface TokenRateLimit {
  readonly type: 'requests' | 'tokens';
  readonly unit: string;
  readonly value: number;
}

/** Kept for those who enforce budgets. */
export interface TokenUsageLimit {
  readonly id: string | undefined;
  readonly type: 'cost' | 'tokens';
  readonly creditLimit: number;
}

const textMax = 256;
const listMax = 100;
const metadataMax = 100;
const metadataValueMax = 128;

/**
 * Reads the claims of a token that has been verified. A claim that would widen
 * what the bearer may do is dropped when it makes no sense; one that would
 * narrow it makes the token invalid, because leaving it out would widen.
 * @throws GatewayError `auth.invalid_token`
 */
export function readClaims(payload: JsonRecord): TokenClaims {
  const defaults = record(payload.defaults);
  return {
    organisation: organisationOf(payload),
    workspace: workspaceOf(payload.service_workspace) ?? workspaceOf(payload.workspace_slug),
    scopes: scopesOf(payload.scope) ?? scopesOf(payload.scopes),
    configId: text(defaults.config_id),
    metadata: metadataOf(defaults.metadata),
    usageLimits: limitsOf(payload.usage_limits, 'usage_limits', usageLimit),
    rateLimits: limitsOf(payload.rate_limits, 'rate_limits', rateLimit),
    user: userOf(payload),
  };
}

/** The organisation a token names; also read before anything about it is known, to find who vouches for it. */
export function organisationOf(payload: JsonRecord): string | undefined {
  return (text(payload.service_oid) ?? text(payload.organisation_id))?.toLowerCase();
}

/** Whose a token says it is; of a refused one that is all there is to tell. */
export function userOf(payload: JsonRecord): string | undefined {
  return text(payload.email_id) ?? text(payload.sub) ?? text(payload.uid);
}

/** What names a workspace in no way that is understood must not stand for the default one. */
function workspaceOf(claim: unknown): string | undefined {
  const name = text(claim);
  const isNone = claim === undefined || claim === null || typeof claim === 'string';
  if (name === undefined && !isNone)
    throw invalidToken('The workspace of the token cannot be read.');
  return name;
}

/**
 * A list, or one text with spaces between: both are in use under both names. Undefined where none are spoken of; a list
 * that holds none, or what is neither list nor text, gives nothing, and does not stand for the default ones.
 */
function scopesOf(claim: unknown): readonly string[] | undefined {
  if (claim === undefined || claim === null) return undefined;
  if (typeof claim !== 'string') return scopesIn(Array.isArray(claim) ? claim : []);
  const scopes = scopesIn(claim.split(/\s+/));
  return scopes.length === 0 ? undefined : scopes;
}

function scopesIn(list: readonly unknown[]): readonly string[] {
  const scopes = list
    .filter((scope): scope is string => typeof scope === 'string' && scope.trim() !== '')
    .map((scope) => normaliseScope(scope.trim().replace(/^service\./, '')));
  return [...new Set(scopes)];
}

function metadataOf(claim: unknown): Readonly<Record<string, string>> {
  const entries = Object.entries(record(claim))
    .filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value))
    .slice(0, metadataMax)
    .map(([name, value]) => [name, String(value).slice(0, metadataValueMax)]);
  return Object.fromEntries(entries);
}

/** Limits in force: an entry may carry a status, and only `active` ones count. */
function limitsOf<T>(
  claim: unknown,
  name: string,
  read: (entry: JsonRecord) => T | undefined,
): readonly T[] {
  if (claim === undefined || claim === null) return [];
  const list = Array.isArray(claim) ? claim : [claim];
  if (list.length > listMax) throw invalidToken(`The claim ${name} is too long.`);
  return list.map(record).flatMap((entry) => {
    if (entry.status !== undefined && entry.status !== 'active') return [];
    const limit = read(entry);
    if (limit === undefined) throw invalidToken(`The claim ${name} cannot be read.`);
    return [limit];
  });
}

const rateUnits = new Set(['rps', 'rpm', 'rph', 'rpd', 'rpw']);

function rateLimit(entry: JsonRecord): TokenRateLimit | undefined {
  const { type, unit, value } = entry;
  if (type !== 'requests' && type !== 'tokens') return undefined;
  if (typeof unit !== 'string' || !rateUnits.has(unit)) return undefined;
  return isAmount(value) ? { type, unit, value: Math.floor(value) } : undefined;
}

function usageLimit(entry: JsonRecord): TokenUsageLimit | undefined {
  const { type, credit_limit: creditLimit } = entry;
  if (type !== 'cost' && type !== 'tokens') return undefined;
  return isAmount(creditLimit) ? { id: text(entry.id), type, creditLimit } : undefined;
}

function isAmount(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER;
}

function record(value: unknown): JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as JsonRecord)
    : {};
}

/** Some issuers number their users. */
function text(value: unknown): string | undefined {
  const written = typeof value === 'number' ? String(value) : value;
  if (typeof written !== 'string') return undefined;
  const trimmed = written.trim().slice(0, textMax);
  return trimmed === '' ? undefined : trimmed;
}
