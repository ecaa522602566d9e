import { unreachable } from './upstream-failure.ts';

export interface FairPlacesOptions {
  /** What the places are for, for the operator's log. */
  what: string;
  /** Places of one owner, and of all together. */
  ownerMax: number;
  allMax: number;
  /** Of one owner; who comes on top is refused at once. */
  waitingMax: number;
}

/** Gives the place back, or leaves the line. May be called twice. */
export type Leave = () => void;

interface Turn {
  readonly begin: () => void;
  state: 'waiting' | 'running' | 'left';
}

interface Line {
  running: number;
  /** In the order in which they came. */
  readonly waiting: Set<Turn>;
}

/**
 * A bounded number of places, shared fairly: an owner waits for its own only,
 * until all places are taken, and from then on a place goes to whoever has
 * fewest. Whoever is slow is slow at the cost of the same owner.
 */
export class FairPlaces {
  /** Who has had no turn from the line for longest stands first. */
  readonly #lines = new Map<string, Line>();
  readonly #options: FairPlacesOptions;
  #running = 0;
  #waiting = 0;

  constructor(options: FairPlacesOptions) {
    this.#options = options;
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /**
   * Calls `begin` when there is a place: at once, or later.
   * @throws GatewayError `upstream.unreachable` when too many of this owner's wait already
   */
  enter(owner: string, begin: () => void): Leave {
    const line = this.#line(owner);
    const turn: Turn = { begin, state: 'waiting' };
    const leave = () => this.#leave(owner, line, turn);
    if (this.#running < this.#options.allMax && this.#mayBegin(line)) {
      this.#start(line, turn);
      return leave;
    }
    if (line.waiting.size >= this.#options.waitingMax)
      throw unreachable('busy', {
        detail: { reason: `too many wait for ${this.#options.what}`, owner },
      });
    line.waiting.add(turn);
    this.#waiting += 1;
    return leave;
  }

  #line(owner: string): Line {
    const known = this.#lines.get(owner);
    if (known !== undefined) return known;
    const line: Line = { running: 0, waiting: new Set() };
    this.#lines.set(owner, line);
    return line;
  }

  #mayBegin(line: Line): boolean {
    return line.running < this.#options.ownerMax;
  }

  #start(line: Line, turn: Turn): void {
    turn.state = 'running';
    line.running += 1;
    this.#running += 1;
    turn.begin();
  }

  #leave(owner: string, line: Line, turn: Turn): void {
    const { state } = turn;
    if (state === 'left') return;
    turn.state = 'left';
    if (state === 'running') {
      line.running -= 1;
      this.#running -= 1;
    } else {
      line.waiting.delete(turn);
      this.#waiting -= 1;
    }
    // Whoever gave a place back stands last from now on.
    this.#lines.delete(owner);
    if (line.running > 0 || line.waiting.size > 0) this.#lines.set(owner, line);
    if (state === 'running' && this.#waiting > 0) this.#admitOne();
  }

  /** One place was given back, so one may begin: of the owner who has fewest, and has waited longest for a turn. */
  #admitOne(): void {
    let next: [owner: string, line: Line] | undefined;
    for (const entry of this.#lines) {
      const [, line] = entry;
      if (line.waiting.size === 0 || !this.#mayBegin(line)) continue;
      if (next === undefined || line.running < next[1].running) next = entry;
      if (line.running === 0) break;
    }
    if (next === undefined) return;
    const [owner, line] = next;
    this.#lines.delete(owner);
    this.#lines.set(owner, line);
    const turn = line.waiting.values().next().value!;
    line.waiting.delete(turn);
    this.#waiting -= 1;
    this.#start(line, turn);
  }
}
