import type { PastRequest, UnknownReason } from './past-request.ts';

/** What a strategy would have done with a request, as far as that can be told. */
export type Outlook =
  /** Children by their indexes, each with its share of the requests that are like this one. */
  | { readonly kind: 'shares'; readonly shares: readonly (readonly [number, number])[] }
  /** One after the other. */
  | { readonly kind: 'order'; readonly onStatusCodes: ReadonlySet<number> | undefined }
  | { readonly kind: 'refusal' }
  | { readonly kind: 'unknown'; readonly reason: UnknownReason };

export type Foresee = (past: PastRequest) => Outlook;
