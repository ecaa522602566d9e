import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * How long the checks of all requests may keep the event loop in one turn, ms.
 * One check takes no longer than some 50; those after it wait for the next turn.
 */
const turnMs = 20;

let spentMs = 0;

/** Waits until this turn of the event loop has time for a check; at once when it has. */
export async function hasTime(): Promise<void> {
  while (spentMs > turnMs) await nextTurn();
}

export function isBusy(): boolean {
  return spentMs > turnMs;
}

/** Notes what a check took of this turn. */
export function noteSpent(ms: number): void {
  if (spentMs === 0)
    setImmediate(() => {
      spentMs = 0;
    });
  spentMs += ms;
}
