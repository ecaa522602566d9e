import type { CompiledPolicy, Counter, TargetFacts } from '@sluice/engine';
import type { SavedProvider } from '../compiled/compiled-bundle.ts';

/** How far a counter is after a check. */
export interface CounterState {
  counter: Counter;
  remaining: number;
  /** Unix ms at which the window ends. */
  resetAtMs: number;
}

/** What one limit would say to a request; nothing is taken by asking. */
export interface LimitCheck {
  /** Undefined = a limit that is set on the key, the workspace or the provider itself. */
  policy: CompiledPolicy | undefined;
  /** Undefined = the policy does not apply. */
  state: CounterState | undefined;
  /** The key of the first condition that the request does not meet. */
  unmet: string | undefined;
}

/** What was taken for one target; its counters are needed again to settle. */
export interface TargetReservation {
  readonly counters: readonly Counter[];
  readonly states: readonly CounterState[];
}

/** The limits that hold for one request. */
export interface LimitsOfRequest {
  /** Limits that depend on the target. @throws GatewayError 429 */
  reserveTarget(
    target: TargetFacts,
    saved: SavedProvider | undefined,
  ): TargetReservation | Promise<TargetReservation>;
  /** How they stand; takes nothing. */
  peekTarget(target: TargetFacts, saved: SavedProvider | undefined): Promise<LimitCheck[]>;
  /** Counts the tokens of one call, with the limits of the request and of the target called. */
  settle(targetCounters: readonly Counter[], tokens: number): void;
}
