import type { JsonObject } from '@sluice/contracts';
import type { ResolvedTarget } from './resolved-target.ts';

/** What conditions and sticky fields may look at. */
export interface RoutingFacts {
  /** Merged metadata; values as the caller typed them, workspace and key values as text. */
  readonly metadata: Readonly<Record<string, string | number | boolean>>;
  /** The request body before any target changes it; empty for bodies that are not JSON. */
  readonly params: Readonly<JsonObject>;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** With `/v1`, without the query. */
  readonly pathname: string;
  /**
   * Whose memory of sticky assignments this is: workspace and config (its id, not
   * its version). Requests of different scopes never share an assignment.
   */
  readonly scope: string;
}

/** What strategies know beside the request. Everything is at hand: planning waits for nothing. */
export interface RoutingState {
  readonly nowMs: number;
  /** In [0, 1). */
  readonly random: () => number;
  /** Paths of the targets whose circuit is open; undefined = none is. */
  readonly openTargets: ReadonlySet<string> | undefined;
  /** Decaying average of the time to first byte of a child of a least-latency strategy, by its path. */
  readonly latencyMs: (path: string) => number | undefined;
  /** Estimated cost of this request at a target; undefined = its price is not known. */
  readonly costNanoUsd: (target: ResolvedTarget) => number | undefined;
  /** The child a sticky key was given to (its `stickyId`), while that is remembered. */
  readonly stickyChild: (key: string) => string | undefined;
}

/** What to do, all choices made: a tree whose only remaining questions are answers of upstreams. */
export type PlanStep =
  | { readonly kind: 'target'; readonly target: ResolvedTarget }
  | {
      readonly kind: 'fallback';
      readonly path: string;
      /** Undefined = whatever is not 2xx. */
      readonly onStatusCodes: ReadonlySet<number> | undefined;
      readonly steps: readonly PlanStep[];
    }
  /** No way on from here: a conditional without a match. Ends the request when it is reached. */
  | { readonly kind: 'refusal'; readonly path: string; readonly message: string };

export interface RoutePlan {
  readonly root: PlanStep;
  /** One for each strategy node that was asked, outermost first. */
  readonly choices: readonly Choice[];
  /** To be remembered by the caller of `planRoutes`. */
  readonly sticky: readonly StickyAssignment[];
}

/** Why a strategy chose as it did; docs/explain.md says what each means. */
export const choiceReasons = [
  'only',
  'order',
  'weight',
  'sticky',
  'sticky-new',
  'sticky-away',
  'prompt',
  'prompt-away',
  'condition',
  'default',
  'no-match',
  'fastest',
  'unmeasured',
  'cheapest',
  'all-open',
] as const;

export type ChoiceReason = (typeof choiceReasons)[number];

/** How a strategy chose. */
export interface Choice {
  /** Of the node whose strategy it was. */
  readonly path: string;
  readonly mode: string;
  /** Index of the child in the original array; for fallback the first to be tried; -1 = none. */
  readonly picked: number;
  readonly reason: ChoiceReason;
  /** The random number that decided, where one did. */
  readonly random?: number;
  /** Indexes left out because their circuits are open. */
  readonly open?: readonly number[];
  /** Which condition matched, by index. */
  readonly condition?: number;
  /** Only with `trace`: every condition and every comparison in it. */
  readonly conditions?: readonly ConditionTrace[];
  /** Only with `trace`: the children in the order in which the hash of the prompt finds them. */
  readonly order?: readonly number[];
  /** Only with `trace`: what each child was judged by (share of the weight, ms, nano-USD). */
  readonly scores?: readonly (number | null)[];
}

export interface ConditionTrace {
  readonly index: number;
  readonly then: string;
  readonly matched: boolean;
  readonly comparisons: readonly {
    /** `metadata.tier`, `params.model`, `headers.x-team`, `url.pathname`. */
    readonly field: string;
    readonly operator: string;
    readonly expected: unknown;
    /** Absent = the request has no such value. Credentials are masked. */
    readonly actual?: unknown;
    readonly matched: boolean;
  }[];
}

export interface StickyAssignment {
  readonly key: string;
  readonly child: string;
  readonly ttlMs: number;
}
