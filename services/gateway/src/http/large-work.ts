import { overloaded } from './read-body.ts';

/**
 * Turns for work on large bodies. Each piece of it (a parse, an encoding, a check)
 * keeps the event loop for some tens of milliseconds at most; what would keep
 * others waiting is one piece after another. So one goes at a time, the next
 * one after a pause twice as long as it took, and workspaces take turns. Work on
 * bodies of usual size never waits here.
 */
export class LargeWork {
  /** Who waits, by owner; the owner whose turn is next stands first. */
  readonly #lines = new Map<string, Waiting[]>();
  readonly #now: () => number;
  #freeAtMs = 0;
  #timer: NodeJS.Timeout | undefined;
  #waiting = 0;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /**
   * Resolves when work may begin; undefined = it may at once. The work is done
   * without waiting for anything else, and `note` told how long it took.
   * @throws GatewayError `overloaded` (as a rejection) after half a minute, or when too many wait
   */
  turn(owner: string): Promise<void> | undefined {
    if (this.#waiting === 0 && this.#now() >= this.#freeAtMs) {
      // Who asks before this work is done stands behind it.
      this.#freeAtMs = this.#now() + 1;
      return undefined;
    }
    if (this.#waiting >= waitingMax) return Promise.reject(overloaded());
    return new Promise((begin, refuse) => {
      const line = this.#lines.get(owner);
      const waiting = { begin, refuse, sinceMs: this.#now() };
      if (line === undefined) this.#lines.set(owner, [waiting]);
      else line.push(waiting);
      this.#waiting++;
      this.#wake();
    });
  }

  /** Work took so long, or so much of it has been done in this turn. */
  note(ms: number): void {
    this.#freeAtMs = Math.max(this.#freeAtMs, this.#now() + 2 * ms);
  }

  #wake(): void {
    if (this.#timer !== undefined || this.#waiting === 0) return;
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        this.#refuseLate();
        if (this.#now() >= this.#freeAtMs) this.#admit();
        this.#wake();
      },
      Math.min(Math.max(1, this.#freeAtMs - this.#now()), wakeMsMax),
    );
  }

  #admit(): void {
    const first = this.#lines.entries().next().value;
    if (first === undefined) return;
    const [owner, line] = first;
    const next = line.shift();
    // Last from now on, or gone.
    this.#lines.delete(owner);
    if (line.length > 0) this.#lines.set(owner, line);
    this.#waiting--;
    this.#freeAtMs = this.#now() + 1;
    next?.begin();
  }

  #refuseLate(): void {
    const sinceMs = this.#now() - waitMsMax;
    for (const [owner, line] of this.#lines) {
      while (line[0] !== undefined && line[0].sinceMs < sinceMs) {
        line.shift()?.refuse(overloaded());
        this.#waiting--;
      }
      if (line.length === 0) this.#lines.delete(owner);
    }
  }
}

interface Waiting {
  readonly begin: () => void;
  readonly refuse: (error: Error) => void;
  readonly sinceMs: number;
}

/** Each holds a large body, of which there are not so many. */
const waitingMax = 1_000;
const waitMsMax = 30_000;
/** So often whoever waits too long is told so. */
const wakeMsMax = 1_000;

/** From this size on work on a body waits for a turn. Below, it takes one to three milliseconds. */
export const largeBytes = 256 * 1024;

/** Of the process, like the event loop that it is about. */
export const largeWork = new LargeWork();

/** Does the work on a body of this size: at once when it is of usual size, otherwise in its turn. */
export function inTurn<T>(owner: string, bytes: number, work: () => T): T | Promise<T> {
  if (bytes < largeBytes) return work();
  const turn = largeWork.turn(owner);
  return turn === undefined ? timed(work) : turn.then(() => timed(work));
}

function timed<T>(work: () => T): T {
  const startedAt = performance.now();
  try {
    return work();
  } finally {
    largeWork.note(performance.now() - startedAt);
  }
}
