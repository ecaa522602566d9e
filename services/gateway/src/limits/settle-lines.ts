import type { Counter } from '@sluice/engine';
import type { CounterState } from '../exchange/reservation.ts';
import type { Hold } from './limit-store.ts';
import type { Line } from './settle-queue.ts';
import { SharedHold } from './shared-holds.ts';

export function memberOf({ id, held, short }: Hold): string {
  return `${id}:${held}:${short}`;
}

export function endLine(hold: Hold, actual: number): Line {
  if (hold.counter.limit.type === 'requests')
    return lineOf(hold, 'add', actual - hold.held, hold.id);
  const shared = hold instanceof SharedHold ? hold : undefined;
  return {
    name: hold.name,
    state: hold,
    what: 'end',
    id: memberOf(hold),
    amount: actual,
    wire: shared?.wire,
    mark: shared?.mark,
  };
}

export function lineOf(state: CounterState, what: Line['what'], amount: number, id = ''): Line {
  const mark = state instanceof SharedHold ? state.mark : undefined;
  return { name: state.name, state, what, id, amount, wire: undefined, mark };
}

let added = 0;
const addedPrefix = crypto.randomUUID().slice(0, 13);

export function addLine(state: CounterState, amount: number, onArrived?: () => void): Line {
  const line = lineOf(state, 'add', amount, `${addedPrefix}+${(++added).toString(36)}`);
  line.onArrived = onArrived;
  return line;
}

/** What the ledger has of a counter of which nothing else is known. */
export function sumLine(
  counter: Counter,
  { epoch, name }: Pick<CounterState, 'epoch' | 'name'>,
  sum: number,
): Line {
  const untouched: CounterState = {
    counter,
    epoch,
    name,
    posted: 0,
    pending: 0,
    overshoot: 0,
    countedAtUs: 0,
    remaining: counter.limit.value,
    resetAtMs: epoch.endMs,
    held: 0,
    wouldRefuse: false,
    isOverflow: false,
    alone: undefined,
  };
  return lineOf(untouched, 'sum', sum);
}
