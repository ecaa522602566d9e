import type { ResolvedTarget } from '@sluice/engine';
import type { Rung, Step } from './step.ts';
import { askForRest } from './steps/ask-for-rest.ts';
import { type CallParts, call } from './steps/call.ts';
import { type CheckInputParts, checkInput } from './steps/check-input.ts';
import { checkOutput } from './steps/check-output.ts';
import { fillCache } from './steps/fill-cache.ts';
import { type LookInCacheParts, lookInCache } from './steps/look-in-cache.ts';
import { type NarrowListParts, narrowList } from './steps/narrow-list.ts';
import { type NoteOwnerParts, noteOwner } from './steps/note-owner.ts';
import { type PrepareCallParts, prepareCall } from './steps/prepare-call.ts';
import { type ReadRowsParts, readRows } from './steps/read-rows.ts';
import { refuseDear } from './steps/refuse-dear.ts';
import { refuseSpentTarget } from './steps/refuse-spent-target.ts';
import { type ReserveParts, reserve } from './steps/reserve.ts';
import { type ResolveTargetParts, resolveTarget } from './steps/resolve-target.ts';
import { shapeBody } from './steps/shape-body.ts';
import type { TargetVisit } from './target-visit.ts';

export type LadderParts = ResolveTargetParts &
  ReserveParts &
  CheckInputParts &
  PrepareCallParts &
  LookInCacheParts &
  NarrowListParts &
  ReadRowsParts &
  NoteOwnerParts &
  CallParts;

/** What is done for one target, in order; each step has in its hands what those below it come to. */
export function createLadder(parts: LadderParts): Ladder {
  return new Ladder([
    resolveTarget(parts), // who and where, before anything is done on their account
    shapeBody, // so that checks see what would be sent
    refuseDear(parts), // by an estimate: nothing is asked, nothing held
    reserve(parts), // before anything that costs: hooks may call, too
    checkInput(parts), // a denied request is not looked up, let alone sent
    askForRest, // checks look at what the caller asks
    prepareCall(parts), // what cannot be sent is refused here
    lookInCache(parts), // a kept answer costs nothing
    refuseSpentTarget, // the last refusal before money is spent
    checkOutput, // of what the cache is given first, it keeps what passed
    fillCache,
    narrowList(parts), // asks for further pages
    readRows(parts), // of files that the provider works through by itself
    noteOwner(parts), // what was made, of what the provider itself said
    call(parts),
  ]);
}

/** The same for what is held over a WebSocket: its limits are asked, and its answers come, within it. */
export function createSessionLadder(
  parts: ResolveTargetParts & CheckInputParts,
  prepare: Step,
  open: Step,
): Ladder {
  return new Ladder([
    resolveTarget(parts),
    checkInput(parts), // of what is judged before anything is said
    prepare,
    open,
  ]);
}

/** The same for a request that prepares or begins a session, whose limits are asked as at a handshake. */
export function createCallLadder(parts: LadderParts, ...within: readonly Step[]): Ladder {
  return new Ladder([
    resolveTarget(parts),
    checkInput(parts), // instructions are texts as well
    ...within,
  ]);
}

/** The same for a call that another gateway heard so far. */
export function createTakenCallLadder(parts: ResolveTargetParts, takeOver: Step): Ladder {
  return new Ladder([resolveTarget(parts), takeOver]);
}

/** Innermost of those that ask the provider: the request itself. */
export function callProvider(parts: LadderParts): readonly Step[] {
  return [noteOwner(parts), call(parts)];
}

/** The steps of all targets, and for each target those that it needs, as one function. */
export class Ladder {
  readonly #steps: readonly Step[];
  readonly #composed = new WeakMap<ResolvedTarget, Rung>();
  readonly #composedEnforced = new WeakMap<ResolvedTarget, Rung>();

  constructor(steps: readonly Step[]) {
    this.#steps = steps;
  }

  /** @throws GatewayError when a step refuses */
  climb: Rung = (visit) => {
    const { planned } = visit;
    const isEnforced = isEnforcedOn(visit);
    const composed = isEnforced ? this.#composedEnforced : this.#composed;
    let rung = composed.get(planned);
    if (rung === undefined) {
      // Targets are compiled with their config and kept with it: composed once for each.
      rung = compose(this.#steps.filter((step) => step.isNeeded?.(planned, isEnforced) !== false));
      composed.set(planned, rung);
    }
    return rung(visit);
  };

  /** The same steps, doing nothing. @throws GatewayError as the first that would refuse */
  async judge(visit: TargetVisit): Promise<void> {
    const isEnforced = isEnforcedOn(visit);
    for (const step of this.#steps)
      if (step.isNeeded?.(visit.planned, isEnforced) !== false) await step.judge?.(visit);
  }
}

function isEnforcedOn({ exchange }: TargetVisit): boolean {
  return exchange.bundle?.enforced !== undefined;
}

function compose(steps: readonly Step[]): Rung {
  return steps.reduceRight<Rung>(
    (next, step) => (visit) => step.run(visit, next),
    () => Promise.reject(new Error('the last step must answer')),
  );
}
