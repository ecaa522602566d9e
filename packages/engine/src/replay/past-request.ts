import type { RequestFacts, TargetFacts } from '../facts.ts';
import type { Choice, RoutingFacts } from '../plan.ts';
import type { FieldValue, RequestField } from '../request-fields.ts';
import type { UnknownReason } from './outlook.ts';

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
