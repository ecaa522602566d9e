import type { CompiledPolicy, TargetFacts } from '@sluice/engine';
import type { GatewayError } from '@sluice/errors';
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
  /** What the request would be refused with: nothing is left, or not what it is estimated to use. */
  readonly refusal: GatewayError | undefined;
}

/** What the limits of a request would say to one target, by what it is estimated to use there; nothing is taken by asking. */
export interface LimitVerdict {
  /** Those of the request itself. */
  readonly own: readonly LimitCheck[];
  readonly ofTarget: readonly LimitCheck[];
  /**
   * What the target is refused with before anything is done for it. Neither that of
   * the request nothing is left, which is said before, nor the target's own, which come later.
   */
  readonly refusal: GatewayError | undefined;
  /** No other target would be asked, were this the first. */
  readonly endsRequest: boolean;
}

/** What is held for a call beside the request's own; closed when no attempt of it will follow. */
export interface BesideHold {
  readonly reservation: Reservation;
  close(): void;
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
  /** As `reserve` would, for those who only judge; takes nothing. @throws what the estimate throws */
  judge(
    target: TargetFacts,
    saved: SavedProvider | undefined,
    estimate: () => Estimate,
  ): Promise<LimitVerdict>;
  /** Counts what a call used that was made beside the request's own. */
  post(actual: Used): void;
  /**
   * What counts such a call with the limits of its target as well: afterwards, as no request, and
   * none of them refuses it. What is posted there is posted here. Undefined = nothing of the target's is limited.
   */
  beside(target: TargetFacts, saved: SavedProvider | undefined): Promise<BesideHold> | undefined;
  /** More may be asked after the answer has begun: nothing that is held goes back until `release`. */
  hold(): void;
  /** Ends one `hold`. */
  release(): void;
  /** An answer without a call: it counts as a request of the caller, and as nothing of the target. */
  noteAnswered(): void;
}
