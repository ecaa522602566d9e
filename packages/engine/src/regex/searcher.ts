import { contains } from './char-set.ts';
import type { Program } from './program.ts';
import { assertionHolds, surroundingsOf } from './surroundings.ts';
import { RegexFault } from './syntax.ts';

/** What a search may cost, counted in instructions looked at; shared by the searches of one call. */
export interface StepBudget {
  left: number;
}

/** Begin and end of the match, then of each group; -1 = the group took no part. */
export type Slots = readonly number[];

/**
 * Finds the first match from `from` on, the one a backtracking engine would find.
 * All ways are followed at once in the order of preference (Pike's machine).
 * @throws RegexFault when the budget is spent
 */
export function searchText(
  program: Program,
  text: string,
  from: number,
  budget: StepBudget,
): Slots | undefined {
  const search = new Search(program, text, budget);
  return search.run(from);
}

interface Thread {
  readonly at: number;
  readonly slots: Slots;
}

class Search {
  readonly #program: Program;
  readonly #text: string;
  readonly #budget: StepBudget;
  /** At which position an instruction was last reached: each is followed once a position. */
  readonly #reachedAt: Int32Array;

  constructor(program: Program, text: string, budget: StepBudget) {
    this.#program = program;
    this.#text = text;
    this.#budget = budget;
    this.#reachedAt = new Int32Array(program.instructions.length).fill(-1);
  }

  run(from: number): Slots | undefined {
    const { instructions, groupCount } = this.#program;
    const noSlots: Slots = new Array<number>((groupCount + 1) * 2).fill(-1);
    let threads: Thread[] = [];
    let found: Slots | undefined;
    for (let position = from; position <= this.#text.length; position++) {
      const current: Thread[] = [];
      for (const thread of threads) this.#enter(thread.at, thread.slots, position, current);
      // Once something is found, later beginnings are worse.
      if (found === undefined) this.#enter(0, noSlots, position, current);
      const unit = position < this.#text.length ? this.#text.charCodeAt(position) : -1;
      const next: Thread[] = [];
      for (const thread of current) {
        const instruction = instructions[thread.at];
        if (instruction?.op === 'match') {
          // Threads behind this one are less preferred, those before it still run.
          found = thread.slots;
          break;
        }
        if (instruction?.op === 'set' && unit >= 0 && contains(instruction.set, unit))
          next.push({ at: thread.at + 1, slots: thread.slots });
      }
      if (found !== undefined && next.length === 0) return found;
      threads = next;
    }
    return found;
  }

  /** Follows everything that takes no character, preferred ways first. */
  #enter(start: number, startSlots: Slots, position: number, into: Thread[]): void {
    const { instructions } = this.#program;
    const before = surroundingsOf(position > 0 ? this.#text.charCodeAt(position - 1) : -1);
    const after = surroundingsOf(
      position < this.#text.length ? this.#text.charCodeAt(position) : -1,
    );
    const waiting: Thread[] = [{ at: start, slots: startSlots }];
    for (let thread = waiting.pop(); thread !== undefined; thread = waiting.pop()) {
      const { at, slots } = thread;
      if (this.#reachedAt[at] === position) continue;
      this.#reachedAt[at] = position;
      if (--this.#budget.left < 0) throw new RegexFault('took too many steps on this text');
      const instruction = instructions[at];
      switch (instruction?.op) {
        case 'split':
          waiting.push({ at: instruction.second, slots }, { at: instruction.first, slots });
          break;
        case 'jump':
          waiting.push({ at: instruction.to, slots });
          break;
        case 'save':
          waiting.push({ at: at + 1, slots: slots.with(instruction.slot, position) });
          break;
        case 'assert':
          if (assertionHolds(instruction.what, before, after)) waiting.push({ at: at + 1, slots });
          break;
        default:
          into.push(thread);
      }
    }
  }
}
