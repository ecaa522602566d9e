import type { Counter, Holder, Limit } from '@sluice/engine';
import type { CounterState } from '../exchange/reservation.ts';
import type { SettlingEnd } from './settling-notes.ts';

/** What is asked of one counter. */
export interface Want {
  readonly counter: Counter;
  /** In the limit's unit; less is taken where less is left, unless the limit is strict. */
  readonly amount: number;
  /** Takes what is left, and refuses nothing: adds to what the request holds already. */
  readonly isSoft: boolean;
}

export interface Wants {
  /** Of the reservation; one of its own among all gateways. */
  readonly id: string;
  readonly counters: readonly Want[];
  /** So many of them, the first, are the request's own; the others are the target's. */
  readonly ofRequest: number;
}

/** A counter with what was taken of it, until it is ended. */
export interface Hold extends CounterState {
  readonly id: string;
  /** What was asked for, and there was no room for. */
  readonly short: number;
}

export interface Taken {
  /** The counter that refused; 0 to `ofRequest` - 1: nothing was taken; -1 = none refused. */
  readonly refusedAt: number;
  /** One for each counter that was asked for, in their order. */
  readonly states: readonly Hold[];
}

/** What becomes of a hold: what was used is counted, and the rest goes back. */
export interface EndedHold {
  readonly hold: Hold;
  readonly actual: number;
}

/** What the control plane is told of a counter. */
export type ToldCounter = Pick<
  CounterState,
  'name' | 'posted' | 'pending' | 'overshoot' | 'countedAtUs' | 'isOverflow'
> & {
  readonly epoch: { readonly name: string };
  readonly counter: Pick<Counter, 'group'> & {
    readonly limit: Pick<Limit, 'id'> & { readonly holder: Pick<Holder, 'kind' | 'workspaceId'> };
  };
};

/** A budget that changed, for the control plane. */
export interface ChangedCounter {
  readonly scope: string;
  readonly state: ToldCounter;
}

/**
 * Counts in epochs. A counter has what was used for good, what is held by
 * requests under way, and what is left; the three are the limit. Requests are
 * counted at once, tokens and cost are held until they are known.
 */
export interface LimitStore {
  /** All counters of the request, or nothing at all; and all of the target, or none of those. */
  take(scope: string, wants: Wants): Taken | Promise<Taken>;
  /**
   * Once for each hold; a second time does nothing. Neither throws nor waits.
   * @param noteKey of the note that is to be forgotten when all that was ended so far has arrived
   */
  end(scope: string, ends: readonly EndedHold[], noteKey?: string): void;
  /** When what was ended so far counts for whoever asks next, at most half a second in which this process runs; absent = at once. Never rejects. */
  settled?(scope: string): Promise<void>;
  /** What another life of this gateway needs to end a hold; undefined, and absent, = nobody else knows of it. */
  noteOf?(ended: EndedHold): SettlingEnd | undefined;
  /** Adds to counters of which nothing is held. Neither throws nor waits. */
  add(scope: string, states: readonly CounterState[], amounts: readonly number[]): void;
  /** How far each counter is; takes nothing. One that nobody has used yet is whole. */
  peek(scope: string, counters: readonly Counter[]): CounterState[] | Promise<CounterState[]>;
  /** The first counter that is known to be spent, as far as memory tells: nobody is asked. */
  findSpent(scope: string, counters: readonly Counter[]): CounterState | undefined;
  /** Budgets that changed since this was asked last, at most so many. */
  changedCounters(max: number): ChangedCounter[];
  /** Whether the counts are those of all gateways together. */
  readonly isShared: boolean;
  /** What is on its way to where others see it. */
  readonly settling: { readonly lines: number; readonly lagMs: number; readonly dropped: number };
  close(): Promise<void>;
}

/** What nobody has used, holds, or may use beyond what is held. */
export function leftOf(
  value: number,
  { posted, pending, overshoot }: Omit<Counted, 'countedAtUs'>,
): number {
  return value - posted - pending - overshoot;
}

/** How far a counter is, and was when. */
export type Counted = Pick<CounterState, 'posted' | 'pending' | 'overshoot' | 'countedAtUs'>;

/** What must be left for a want to be met. */
export function neededFor({ counter, amount, isSoft }: Want): number {
  if (isSoft) return Number.NEGATIVE_INFINITY;
  return counter.limit.rules.isStrict || counter.limit.type === 'requests'
    ? Math.max(1, amount)
    : 1;
}
