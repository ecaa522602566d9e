import type { PastRequest } from './past-request.ts';

/**
 * Why nobody can say what would have become of a request of the past.
 *
 * `body_not_kept`, `headers_not_kept`  a decision looks at what was not kept, or may not be looked at
 * `metadata_types_not_kept`  metadata is kept as text: whether `1` was a number decides
 * `latencies_not_kept`, `estimates_not_kept`  what the gateway knew of targets then
 * `too_many_ways`  so many weighted choices on the way that they are not told apart
 * `answered_from_cache`  a cache answered; what it holds for another target nobody knows
 * `refused_then`  it used nothing: what it would have used is not known
 * `outcome_not_recorded`  the gateway died, or several targets told parts of the answer
 * `config_not_known`  it came with a config of its own, or the version that held is gone
 */
export type UnknownReason =
  | 'body_not_kept'
  | 'headers_not_kept'
  | 'metadata_types_not_kept'
  | 'latencies_not_kept'
  | 'estimates_not_kept'
  | 'too_many_ways'
  | 'answered_from_cache'
  | 'refused_then'
  | 'outcome_not_recorded'
  | 'config_not_known';

/** What a strategy would have done with a request, as far as that can be told. */
export type Outlook =
  /** Children by their indexes, each with its share of the requests that are like this one. */
  | { readonly kind: 'shares'; readonly shares: readonly (readonly [number, number])[] }
  /** One after the other. */
  | { readonly kind: 'order'; readonly onStatusCodes: ReadonlySet<number> | undefined }
  | { readonly kind: 'refusal' }
  | { readonly kind: 'unknown'; readonly reason: UnknownReason };

export type Foresee = (past: PastRequest) => Outlook;
