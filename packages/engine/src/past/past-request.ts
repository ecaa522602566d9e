import type { RequestFacts, TargetFacts } from '../facts.ts';
import type { Choice, RoutingFacts } from '../plan.ts';
import type { FieldValue, RequestField } from '../request-fields.ts';

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

/** A request as the ledger tells of it. */
export interface PastRequest {
  readonly atMs: number;
  readonly endedAtMs: number;
  /** What policies look at. */
  readonly request: RequestFacts;
  /**
   * What conditions look at, as far as it is known: metadata as text, of parameters and headers what
   * is there was there.
   */
  readonly facts: RoutingFacts;
  /** Whether what is not among them was not there. */
  readonly knowsParams: boolean;
  readonly knowsHeaders: boolean;
  /** Headers that were there with a value that is not shown, in lower case. */
  readonly withheldHeaders: ReadonlySet<string>;
  /** Whom the request itself named, as `@slug` or by the catalogue's id; undefined = not known. */
  readonly provider: string | undefined;
  /** The choices of its plan, by path. */
  readonly choices: ReadonlyMap<string, Choice>;
  /** The targets that were asked, in order. */
  readonly visits: readonly PastVisit[];
  /** What its answer took. */
  readonly tokens: number;
  readonly wasRefused: boolean;
}

/** What asking one target came to, its retries included. */
export interface PastVisit {
  readonly target: TargetFacts;
  /** Of the target in the config of then. */
  readonly path: string;
  readonly status: number;
  readonly isCacheHit: boolean;
  readonly tokens: number;
  /** Undefined = its price is not known. */
  readonly costNanoUsd: number | undefined;
}

/** The values that a field may have had; undefined among them = it had none. Else why nobody knows. */
export function valuesThen(
  { name, isSecret, read }: RequestField,
  past: PastRequest,
): readonly (FieldValue | undefined)[] | UnknownReason {
  const value = read(past.facts);
  if (name.startsWith('params.') && value === undefined && !past.knowsParams)
    return 'body_not_kept';
  if (name.startsWith('headers.')) {
    const isWithheld = isSecret || past.withheldHeaders.has(name.slice('headers.'.length));
    if ((value === undefined && !past.knowsHeaders) || isWithheld) return 'headers_not_kept';
  }
  if (name.startsWith('metadata.') && typeof value === 'string') return typesOf(value);
  return [value];
}

/** A text of metadata, and what else it may have been when the caller sent it. */
function typesOf(text: string): FieldValue[] {
  if (text === 'true' || text === 'false') return [text, text === 'true'];
  const number = Number(text);
  return text !== '' && String(number) === text && Number.isFinite(number)
    ? [text, number]
    : [text];
}
