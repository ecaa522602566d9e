import type { Period } from './period.ts';
import type { RateUnit } from './windows.ts';

/** A stretch of time with a count of its own. */
export interface Epoch {
  readonly name: string;
  readonly startMs: number;
  /** 0 = never. */
  readonly endMs: number;
}

/** What a limit counts; cost in nano-dollars. */
export type LimitType = 'requests' | 'tokens' | 'cost';

/** What is done where the counters that gateways share cannot be asked. */
export type WithoutShared = 'share' | 'lease' | 'allow' | 'refuse';

/** What an admin set: how much of something may be used in a window or a period, by whom. */
export interface Limit {
  /** Of its own among all limits of all holders; stays while the limit does, whatever its value. */
  readonly id: string;
  readonly holder: Holder;
  readonly type: LimitType;
  /** An integer: requests, tokens or nano-dollars. */
  readonly value: number;
  /** A rate has a window, a budget a period. */
  readonly span: Span;
  readonly rules: LimitRules;
}

export type Span =
  | { readonly kind: 'rate'; readonly unit: RateUnit }
  | { readonly kind: 'budget'; readonly period: Period };

export interface LimitRules {
  /** Counted, never refusing. */
  readonly isShadow: boolean;
  /** What a request is estimated to use must fit; else something must be left. */
  readonly isStrict: boolean;
  /** Output is estimated by what the model's answers came to; else by what the request allows. */
  readonly estimatesByObserved: boolean;
  readonly withoutShared: WithoutShared;
  /** What has no known price is refused; else it passes uncounted. */
  readonly refusesUnpriced: boolean;
}

export type HolderKind =
  | 'api_key'
  | 'token'
  | 'workspace'
  | 'virtual_key'
  | 'integration'
  | 'policy';

/** Whose limit it is. */
export interface Holder {
  readonly kind: HolderKind;
  /** For people: the slug of what is limited, or the name of the policy. */
  readonly name: string;
  /** Empty = the organisation's. */
  readonly workspaceId: string;
}

/** A limit as one request meets it: of a policy, that of the request's group. */
export interface Counter {
  readonly limit: Limit;
  /** What tells the groups of a policy apart, as it is shown: `metadata._user:alice`; else empty. */
  readonly group: string;
  /** The group was reset by hand; undefined = it was not. */
  readonly reset: GroupReset | undefined;
  /** What is limited, named for people: kind and slug, never an internal id. */
  readonly entity: string;
  /** Where `epochOf` found it last. */
  last?: NamedEpoch | undefined;
}

/** An epoch of one counter, with what the counter is called in it. */
export interface NamedEpoch {
  readonly epoch: Epoch;
  readonly name: string;
}

/** A reset of one group, in the period that began then: later ones know nothing of it. */
export interface GroupReset {
  /** Added to that of the period. */
  readonly generation: number;
  readonly periodStartMs: number;
}

/** The groups for which a policy has no room count together, under this name. */
export const overflowGroup = '*';

/** What a counter is called in stores and in usage records. */
export function counterName(
  { limit, group }: Pick<Counter, 'limit' | 'group'>,
  epoch: string,
): string {
  return group === '' ? `${limit.id}@${epoch}` : `${limit.id}:${group}@${epoch}`;
}

const entityWords: Readonly<Record<string, string>> = {
  api_key: 'API key',
  token: 'token of',
  workspace: 'workspace',
  workspace_id: 'workspace',
  virtual_key: 'virtual key',
  integration: 'integration',
  provider: 'provider',
  model: 'model',
  config: 'config',
  prompt: 'prompt',
  endpoint_type: 'endpoint',
  organisation_id: 'organisation',
  mcp_server: 'MCP server',
  mcp_tool: 'tool',
};

/** Kind and slug of what is limited. */
export function entityText(kind: string, name: string): string {
  return `${entityWords[kind] ?? kind} "${name}"`;
}
