import type { CallContext } from '@sluice/providers';
import type { CallRules } from '../calls/prepare/call-rules.ts';
import type { PreparedRequest } from '../exchange/prepared-call.ts';
import type { Target } from '../exchange/target.ts';
import type { OwnerNotes } from '../owners/owner-notes.ts';

/** Where requests of a vendor go, and what all of them carry. */
export interface VendorPlace {
  readonly target: Target;
  readonly rules: CallRules & { readonly owners?: OwnerNotes };
  readonly base: URL;
  readonly addressBy: PreparedRequest['addressBy'];
  readonly headers: Readonly<Record<string, string | string[]>>;
}

/** Where files of a provider are read that somebody else's request is about. */
export interface ContentPlace extends VendorPlace {
  readonly context: CallContext;
  /** Unix ms. */
  readonly nowMs: number;
}
