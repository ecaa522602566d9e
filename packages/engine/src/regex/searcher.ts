import { type CharSet, contains } from './char-set.ts';
import type { Program } from './program.ts';
import { assertionHolds, surroundingsOf } from './surroundings.ts';
import { spend, type WorkBudget, work } from './work-budget.ts';

/** Begin and end of the match, then of each group; -1 = the group took no part. */
export type Slots = readonly number[];

interface Thread {
  readonly at: number;
  readonly slots: Slots;
}

/**
 * Finds the match that a backtracking engine would find. All ways are followed
 * at once in the order of preference (Pike's machine). Only where what is repeated
 * can match nothing, as in `(?:a??)?`, may its ends differ from the native engine's.
 */
export class Searcher {
  readonly #program: Program;
  readonly #noSlots: Slots;
  /** What a match can begin with; undefined = with anything, it may be empty. */
  readonly #firstSets: readonly CharSet[] | undefined;
  /** At which position an instruction was last reached: each is followed once a position. */
  readonly #reachedAt: Int32Array;

  constructor(program: Program) {
    this.#program = program;
    this.#noSlots = new Array<number>((program.groupCount + 1) * 2).fill(-1);
    this.#firstSets = firstSets(program);
    this.#reachedAt = new Int32Array(program.instructions.length);
  }

  /**
   * Looks at `length` characters; a text that goes on behind them does not end there.
   * @throws RegexFault when the budget is spent
   */
  search(text: string, length: number, from: number, budget: WorkBudget): Slots | undefined {
    const { instructions } = this.#program;
    this.#reachedAt.fill(-1);
    let threads: Thread[] = [];
    let found: Slots | undefined;
    for (let position = from; position <= length; position++) {
      if (threads.length === 0) {
        if (found !== undefined) return found;
        position = this.#nextBegin(text, length, position, budget);
        if (position < 0) return undefined;
      }
      const current: Thread[] = [];
      for (const thread of threads) this.#enter(thread, text, position, current, budget);
      // Once something is found, later beginnings are worse.
      if (found === undefined)
        this.#enter({ at: 0, slots: this.#noSlots }, text, position, current, budget);
      const unit = position < length ? text.charCodeAt(position) : -1;
      threads = [];
      for (const thread of current) {
        const instruction = instructions[thread.at];
        if (instruction?.op === 'match') {
          // Threads behind this one are less preferred, those before it still run.
          found = thread.slots;
          break;
        }
        if (instruction?.op === 'set' && unit >= 0 && contains(instruction.set, unit))
          threads.push({ at: thread.at + 1, slots: thread.slots });
      }
    }
    return found;
  }

  /** The next position with a character that a match can begin with; -1 = there is none. */
  #nextBegin(text: string, length: number, from: number, budget: WorkBudget): number {
    if (this.#firstSets === undefined) return from;
    for (let position = from; position < length; position++) {
      const unit = text.charCodeAt(position);
      for (const set of this.#firstSets) {
        spend(budget, work.searched);
        if (contains(set, unit)) return position;
      }
    }
    return -1;
  }

  /** Follows everything that takes no character, preferred ways first. */
  #enter(start: Thread, text: string, position: number, into: Thread[], budget: WorkBudget): void {
    const { instructions } = this.#program;
    const before = surroundingsOf(position > 0 ? text.charCodeAt(position - 1) : -1);
    const after = surroundingsOf(position < text.length ? text.charCodeAt(position) : -1);
    const waiting: Thread[] = [start];
    for (let thread = waiting.pop(); thread !== undefined; thread = waiting.pop()) {
      const { at, slots } = thread;
      if (this.#reachedAt[at] === position) continue;
      this.#reachedAt[at] = position;
      spend(budget, work.searched);
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
        case 'clear': {
          const { firstSlot, lastSlot } = instruction;
          const isOld = (slot: number) => slot >= firstSlot && slot <= lastSlot;
          waiting.push({ at: at + 1, slots: slots.map((held, slot) => (isOld(slot) ? -1 : held)) });
          break;
        }
        case 'assert':
          if (assertionHolds(instruction.what, before, after)) waiting.push({ at: at + 1, slots });
          break;
        default:
          into.push(thread);
      }
    }
  }
}

/** Assertions are taken to hold: too many beginnings only cost time. */
function firstSets(program: Program): readonly CharSet[] | undefined {
  const sets = new Set<CharSet>();
  const reached = new Set<number>();
  const waiting = [0];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    if (reached.has(at)) continue;
    reached.add(at);
    const instruction = program.instructions[at];
    switch (instruction?.op) {
      case 'match':
        return undefined;
      case 'set':
        sets.add(instruction.set);
        break;
      case 'split':
        waiting.push(instruction.first, instruction.second);
        break;
      case 'jump':
        waiting.push(instruction.to);
        break;
      default:
        waiting.push(at + 1);
    }
  }
  return [...sets];
}
