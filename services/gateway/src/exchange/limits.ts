import type { CompiledPolicy, TargetFacts } from '@sluice/engine';
import type { SavedProvider } from '../compiled/compiled-bundle.ts';
import type { CounterState, Estimate, Reservation, Used } from './reservation.ts';

/** What one limit would say to a request; nothing is taken by asking. */
export interface LimitCheck {
  /** Undefined = a limit that is set on the key, the workspace or the provider itself. */
  readonly policy: CompiledPolicy | undefined;
  /** Undefined = the policy does not apply. */
  readonly state: CounterState | undefined;
  /** The key of the first condition that the request does not meet. */
  readonly unmet: string | undefined;
}

/** The limits that hold for one request. */
export interface LimitsOfRequest {
  /** A limit of the request itself has refused: no target will do. */
  readonly isRefused: boolean;
  /** How far the request's own limits are, as they were when they were asked. */
  readonly statesOfRequest: readonly CounterState[];
  /**
   * Takes what a target needs: for the first with what the request's own limits
   * ask for, in one call. Undefined = nothing is limited.
   * @throws GatewayError 429, 412 or 503 of the request's own limits
   */
  reserve(
    target: TargetFacts,
    saved: SavedProvider | undefined,
    estimate: () => Estimate,
  ): Reservation | undefined | Promise<Reservation | undefined>;
  /** How the limits of a target stand; takes nothing. */
  peekTarget(target: TargetFacts, saved: SavedProvider | undefined): Promise<LimitCheck[]>;
  /** Counts what a call used that was made beside the request's own. */
  post(actual: Used): void;
  /** More may be asked after the answer has begun: nothing that is held goes back until `release`. */
  hold(): void;
  /** Ends one `hold`. */
  release(): void;
  /** An answer without a call: it counts as a request of the caller, and as nothing of the target. */
  noteAnswered(): void;
}
