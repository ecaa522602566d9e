import type { ResolvedTarget, TargetResult } from '@sluice/engine';
import type { GatewayError } from '@sluice/errors';
import type { Reply } from '../exchange/reply.ts';
import type { TargetVisit } from './target-visit.ts';

/** What asking one target came to: an answer, or the error that stands for it. */
export interface TargetAnswer extends TargetResult {
  readonly reply: Reply | undefined;
  readonly error: GatewayError | undefined;
}

export type Rung = (visit: TargetVisit) => Promise<TargetAnswer>;

/** One thing that is done for a target, before its call, after it, or in its place. */
export interface Step {
  /** Targets that do not need it go without; absent = all need it. `isEnforced`: the workspace has guardrails for every request. */
  isNeeded?(planned: ResolvedTarget, isEnforced: boolean): boolean;
  /** Steps that wait for nothing return what `next` does, and so add no promise of their own. */
  run(visit: TargetVisit, next: Rung): Promise<TargetAnswer>;
  /**
   * What it would refuse, found out without doing anything: for explain.
   * @throws GatewayError as `run` would
   */
  judge?(visit: TargetVisit): void | Promise<void>;
}
