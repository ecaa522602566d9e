import type { GatewayError } from '@sluice/errors';
import type { Reply } from '../exchange/reply.ts';

/** What one call came to. Exactly one of `reply` and `error` is set. */
export interface AttemptResult {
  reply: Reply | undefined;
  error: GatewayError | undefined;
  status: number;
  /** No answer arrived. */
  isNetworkFailure: boolean;
  /** Asking the same model again cannot help. */
  isFinal: boolean;
  /** What was asked was too much for the provider's content filter. */
  isFiltered: boolean;
  waitHintMs: number | undefined;
}
