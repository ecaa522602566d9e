import { usage } from '@sluice/proto-stubs';

const { Outcome } = usage;

/** What tells of an attempt whether somebody worked for it. */
export interface HowItEnded {
  readonly outcome: usage.Outcome;
  readonly errorCode: string;
}

/** Failures when a provider had the whole request, or may have had it. */
export const afterSending: ReadonlySet<string> = new Set([
  'gateway.draining',
  'upstream.timeout',
  'upstream.stream_cut',
  'upstream.stream_stalled',
  'upstream.invalid_response',
  'upstream.response_too_large',
]);

/**
 * Whether a call that was made and ended so may have used something: where no price is known its cost is unknown then. Otherwise it is
 * none, as of what was refused before it was made.
 */
export function mayHaveUsed({ outcome, errorCode }: HowItEnded): boolean {
  switch (outcome) {
    case Outcome.UPSTREAM_ERROR:
      return false;
    case Outcome.UPSTREAM_FAILURE:
    case Outcome.GATEWAY_ERROR:
      return afterSending.has(errorCode);
    default:
      return true;
  }
}
