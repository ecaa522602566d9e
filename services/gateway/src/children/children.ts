import type { EventRequester } from '../exchange/event-requester.ts';
import type { AttemptListener, OutcomeListener } from '../exchange/prepared-call.ts';
import type { SharedPart } from '../redis/shared-store.ts';
import { CallMarks } from './call-marks.ts';
import { ChildSums, type ChildUse, type TakenUse } from './child-sums.ts';

/** For whom something is called, and what it came with. */
export type ChildRequester = Pick<EventRequester, 'key'> & {
  readonly arrival: Pick<EventRequester['arrival'], 'callMark'>;
};

/** The calls that agents make themselves while they work on one: each says by its mark for which. */
export class Children {
  readonly #marks: CallMarks;
  readonly #sums: ChildSums;

  constructor(marks: CallMarks, sums: ChildSums) {
    this.#marks = marks;
    this.#sums = sums;
  }

  /** What a request counts towards, the innermost first. */
  sumsOf({ arrival, key }: ChildRequester): readonly string[] {
    const { callMark } = arrival;
    if (callMark === undefined || key === undefined) return none;
    return this.#marks.open(key.source.organisationId, callMark);
  }

  /** What other gateways see is not known here, though they share it. */
  get isAlone(): boolean {
    return this.#sums.isAlone;
  }

  newSum(): string {
    return this.#marks.newSum();
  }

  /**
   * What an agent is to send with its own calls; undefined = nobody wants to know of them.
   * @param sum that they count towards, before what the call of the agent counts towards itself
   */
  markFor(requester: ChildRequester, sum: string | undefined): string | undefined {
    const around = this.sumsOf(requester);
    const sums = sum === undefined ? around : [sum, ...around.filter((other) => other !== sum)];
    const { key } = requester;
    return sums.length === 0 || key === undefined
      ? undefined
      : this.#marks.seal(key.source.organisationId, sums);
  }

  /**
   * Counts what was billed of a request towards the calls that it was made for. Undefined = it is done. Never rejects.
   * @param own what it reports itself is none of its own calls
   */
  add(
    requester: ChildRequester,
    use: ChildUse,
    own: readonly string[] = none,
  ): Promise<void> | undefined {
    if (requester.arrival.callMark === undefined) return undefined;
    if (use.inputTokens + use.outputTokens + use.costNanoUsd === 0) return undefined;
    const sums = this.sumsOf(requester).filter((sum) => !own.includes(sum));
    return this.#sums.add(requester.key?.source.organisationId ?? '', sums, use);
  }

  /** See `ChildSums.take`. */
  take(
    { key }: ChildRequester,
    sums: readonly string[],
    most: ChildUse,
    isOver: boolean,
  ): Promise<TakenUse> {
    return this.#sums.take(key?.source.organisationId ?? '', sums, most, isOver);
  }
}

/**
 * @param secret that all gateways have
 * @param shared where they sum together, as `shareAgents` makes it; undefined = each for itself
 */
export function createChildren(secret: string, shared: SharedPart | undefined): Children {
  return new Children(new CallMarks(secret), new ChildSums(shared));
}

/** Counts attempts towards the calls of agents that they were made for, before their answers end. */
export function countChildren(children: Pick<Children, 'add'>): AttemptListener {
  const hears: OutcomeListener = ({ call, bill, price }) => {
    const tokens = bill?.facts.usage;
    return children.add(call.requester, {
      inputTokens: tokens?.inputTokens ?? 0,
      outputTokens: tokens?.outputTokens ?? 0,
      costNanoUsd: price?.cost.totalNanoUsd ?? 0,
    });
  };
  return ({ call }) => (call.requester.arrival.callMark === undefined ? undefined : hears);
}

const none: readonly string[] = Object.freeze([]);
