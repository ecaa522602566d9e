import type { CompiledPolicy, TargetFacts } from '@sluice/engine';
import type { SavedProvider } from '../compiled/compiled-bundle.ts';
import type { CounterState, Estimate, Reservation } from './reservation.ts';

/** What one limit would say to a request; nothing is taken by asking. */
export interface LimitCheck {
  /** Undefined = a limit that is set on the key, the workspace or the provider itself. */
  policy: CompiledPolicy | undefined;
  /** Undefined = the policy does not apply. */
  state: CounterState | undefined;
  /** The key of the first condition that the request does not meet. */
  unmet: string | undefined;
}

/** The limits that hold for one request. */
export interface LimitsOfRequest {
  /** Of the limits that depend on the target; undefined = there are none. @throws GatewayError 429 */
  reserveTarget(
    target: TargetFacts,
    saved: SavedProvider | undefined,
  ): Reservation | undefined | Promise<Reservation>;
  /** How they stand; takes nothing. */
  peekTarget(target: TargetFacts, saved: SavedProvider | undefined): Promise<LimitCheck[]>;
  /** Counts what one call used, with the limits of the request and of the target called. */
  settle(ofTarget: Reservation | undefined, actual: Pick<Estimate, 'tokens'>): void;
}
