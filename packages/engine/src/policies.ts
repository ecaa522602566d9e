import type { RequestFacts, TargetFacts } from './facts.ts';
import { hash64Hex } from './hash.ts';
import { isRateUnit, type RateUnit } from './windows.ts';

/**
 * Rate limits as the gateway counts them. Policies are compiled when a bundle
 * arrives; matching a request is a few string comparisons and yields counters.
 */

export type LimitType = 'requests' | 'tokens';

export interface RateLimitsPolicyInput {
  id: string;
  name: string;
  type: string;
  unit: string;
  value: number;
  conditions: readonly { key: string; values: readonly string[]; excludes: readonly string[] }[];
  groupBy: readonly string[];
}

/** One counter a request touches. `key` is stable while the window lasts and unique per tenant. */
export interface Counter {
  key: string;
  /**
   * Of a counter whose group is named by what callers send: the policy, with its
   * unit. `key` begins with it. Stores bound how many groups one has at a time.
   */
  pool?: string | undefined;
  type: LimitType;
  unit: RateUnit;
  limit: number;
  /** What is limited, named for people: kind and slug, never an internal id. */
  entity: string;
  /** Name of the policy, or undefined for a limit set on the entity itself. */
  policyName: string | undefined;
}

interface Matcher {
  key: string;
  values: readonly Pattern[];
  excludes: readonly Pattern[];
}

interface Pattern {
  /** Folded text; without the `*` when prefix is set. */
  text: string;
  prefix: boolean;
}

export interface CompiledPolicy {
  id: string;
  name: string;
  type: LimitType;
  unit: RateUnit;
  limit: number;
  /** `target` policies depend on the chosen target and are counted for each one tried. */
  level: 'request' | 'target';
  matchers: readonly Matcher[];
  groupBy: readonly string[];
}

const targetKeys = new Set(['provider', 'virtual_key', 'model']);

/** Skips what this release cannot count (unknown types or units): the control plane refuses such policies. */
export function compilePolicies(policies: readonly RateLimitsPolicyInput[]): CompiledPolicy[] {
  return policies.flatMap((policy) => {
    if (!isRateUnit(policy.unit) || (policy.type !== 'requests' && policy.type !== 'tokens'))
      return [];
    const keys = [...policy.conditions.map((condition) => condition.key), ...policy.groupBy];
    return [
      {
        id: policy.id,
        name: policy.name,
        type: policy.type,
        unit: policy.unit,
        limit: policy.value,
        level: keys.some((key) => targetKeys.has(key)) ? ('target' as const) : ('request' as const),
        matchers: policy.conditions.map((condition) => ({
          key: condition.key,
          values: condition.values.map(compilePattern),
          excludes: condition.excludes.map(compilePattern),
        })),
        groupBy: policy.groupBy,
      },
    ];
  });
}

/** What became of one policy for one request. */
export interface PolicyMatch {
  policy: CompiledPolicy;
  /** Undefined = it does not apply. */
  counter: Counter | undefined;
  /** The key of the first condition that the request does not meet. */
  unmet: string | undefined;
}

/** Counters of the policies of one level that apply. Conditions are ANDed, the values of one are ORed. */
export function matchPolicies(
  policies: readonly CompiledPolicy[],
  level: CompiledPolicy['level'],
  request: RequestFacts,
  target?: TargetFacts,
): Counter[] {
  const counters: Counter[] = [];
  for (const policy of policies) {
    if (policy.level !== level) continue;
    if (!policy.matchers.every((matcher) => matches(matcher, request, target))) continue;
    counters.push(policyCounter(policy, request, target));
  }
  return counters;
}

/** `matchPolicies` with its reasons: every policy of the level, in order, with the counter of those that apply. */
export function explainPolicies(
  policies: readonly CompiledPolicy[],
  level: CompiledPolicy['level'],
  request: RequestFacts,
  target?: TargetFacts,
): PolicyMatch[] {
  return policies.flatMap((policy) => {
    if (policy.level !== level) return [];
    const unmet = policy.matchers.find((matcher) => !matches(matcher, request, target))?.key;
    const counter = unmet === undefined ? policyCounter(policy, request, target) : undefined;
    return [{ policy, counter, unmet }];
  });
}

function policyCounter(
  policy: CompiledPolicy,
  request: RequestFacts,
  target: TargetFacts | undefined,
): Counter {
  const pool = `p:${policy.id}:${policy.unit}`;
  return {
    key: `${pool}:${groupKey(policy.groupBy, request, target)}`,
    pool: policy.groupBy.length === 0 ? undefined : pool,
    type: policy.type,
    unit: policy.unit,
    limit: policy.limit,
    entity: entityName(policy.groupBy, request, target),
    policyName: policy.name === '' ? undefined : policy.name,
  };
}

/** Counters of limits set directly on a key, token, workspace or provider. */
export function entityCounters(
  limits: readonly { type: string; unit: string; value: number }[],
  scope: 'api_key' | 'token' | 'workspace' | 'virtual_key',
  id: string,
  slug: string,
): Counter[] {
  return limits.flatMap((limit) =>
    isRateUnit(limit.unit) && (limit.type === 'requests' || limit.type === 'tokens')
      ? [
          {
            key: `${scope}:${id}:${limit.type}:${limit.unit}`,
            type: limit.type,
            unit: limit.unit,
            limit: limit.value,
            entity: `${entityWords[scope] ?? scope} "${slug}"`,
            policyName: undefined,
          },
        ]
      : [],
  );
}

function compilePattern(raw: string): Pattern {
  const text = fold(raw);
  return text.endsWith('*') ? { text: text.slice(0, -1), prefix: true } : { text, prefix: false };
}

/** Case and surrounding spaces do not make another counter. */
function fold(value: string): string {
  return value.trim().toLowerCase();
}

function matches(
  matcher: Matcher,
  request: RequestFacts,
  target: TargetFacts | undefined,
): boolean {
  const candidates = candidatesOf(matcher.key, request, target);
  // `*` asks for presence; a missing value matches nothing.
  if (candidates.length === 0) return false;
  if (matcher.excludes.some((pattern) => candidates.some((candidate) => fits(pattern, candidate))))
    return false;
  return (
    matcher.values.length === 0 ||
    matcher.values.some((pattern) => candidates.some((candidate) => fits(pattern, candidate)))
  );
}

function fits(pattern: Pattern, candidate: string): boolean {
  return pattern.prefix ? candidate.startsWith(pattern.text) : candidate === pattern.text;
}

/** The spellings under which a policy may name a value, folded. Empty = the request has none. */
function candidatesOf(
  key: string,
  request: RequestFacts,
  target: TargetFacts | undefined,
): string[] {
  switch (key) {
    case 'workspace_id':
      return [fold(request.workspaceId), fold(request.workspaceSlug)];
    case 'organisation_id':
      return [fold(request.organisationId)];
    case 'api_key':
      return [fold(request.apiKeyId)];
    case 'endpoint_type':
      return [fold(request.endpoint)];
    case 'config':
      return present(request.configSlug);
    case 'prompt':
      return present(request.promptSlug);
    case 'provider':
      return present(target?.provider);
    case 'virtual_key':
      return present(target?.providerSlug);
    case 'model':
      return modelSpellings(target);
    default:
      return key.startsWith('metadata.')
        ? present(request.metadata[key.slice('metadata.'.length)])
        : [];
  }
}

function present(value: string | undefined): string[] {
  return value === undefined || value === '' ? [] : [fold(value)];
}

/** `@saved-slug/model`, `@provider/model` and the bare name. */
function modelSpellings(target: TargetFacts | undefined): string[] {
  if (target?.model === undefined) return [];
  const model = fold(target.model);
  const spellings = [`@${fold(target.provider)}/${model}`, model];
  if (target.providerSlug !== undefined)
    spellings.unshift(`@${fold(target.providerSlug)}/${model}`);
  return spellings;
}

/**
 * The part of a counter's key that tells groups apart. A request without the
 * value counts in an explicit empty group, so that leaving a header out does
 * not escape the limit. Values are escaped: `:` and `,` cannot forge a group.
 */
function groupKey(
  keys: readonly string[],
  request: RequestFacts,
  target: TargetFacts | undefined,
): string {
  return keys
    .map((key) => `${key}:${groupValue(candidatesOf(key, request, target)[0] ?? '')}`)
    .join(',');
}

/** Long values are told apart by their hash: a counter's name must not be as long as a header. */
function groupValue(value: string): string {
  // Half of a character pair has no escape of its own.
  const text = value.toWellFormed();
  return text.length <= groupCharsMax
    ? encodeURIComponent(text)
    : `${encodeURIComponent(text.slice(0, groupCharsMax / 2).toWellFormed())}~${hash64Hex(text)}`;
}

const groupCharsMax = 128;

const entityWords: Readonly<Record<string, string>> = {
  api_key: 'API key',
  token: 'token of',
  workspace: 'workspace',
  workspace_id: 'workspace',
  virtual_key: 'virtual key',
  provider: 'provider',
  model: 'model',
  config: 'config',
  prompt: 'prompt',
  endpoint_type: 'endpoint',
  organisation_id: 'organisation',
};

function entityName(
  keys: readonly string[],
  request: RequestFacts,
  target: TargetFacts | undefined,
): string {
  if (keys.length === 0) return `workspace "${request.workspaceSlug}"`;
  return keys
    .map((key) => {
      const value =
        key === 'api_key'
          ? request.apiKeySlug
          : key === 'workspace_id'
            ? request.workspaceSlug
            : key === 'organisation_id'
              ? 'of this key'
              : (candidatesOf(key, request, target)[0] ?? '').slice(0, groupCharsMax);
      return `${entityWords[key] ?? key} "${value}"`;
    })
    .join(', ');
}
