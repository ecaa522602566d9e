import { type CharSet, contains } from './char-set.ts';
import type { Program } from './program.ts';
import { assertionHolds, surroundingsOf } from './surroundings.ts';
import { spend, type WorkBudget, work } from './work-budget.ts';

/**
 * Says whether a pattern occurs in a text, in time linear in the text. Works on
 * sets of instructions and remembers, for each set and each kind of character,
 * the set that follows; what is remembered has a cap and is forgotten whole.
 */
export class Matcher {
  readonly #program: Program;
  readonly #isAnchored: boolean;
  #states = new Map<string, State>();
  #initial: State;
  #kinds: CharacterKinds;

  constructor(program: Program, isAnchored: boolean) {
    this.#program = program;
    this.#isAnchored = isAnchored;
    this.#kinds = new CharacterKinds(program);
    this.#initial = this.#state([], surroundingsOf(-1));
  }

  #forget(): void {
    this.#kinds = new CharacterKinds(this.#program);
    this.#states = new Map();
    this.#initial = this.#state([], surroundingsOf(-1));
  }

  /**
   * Looks at `length` characters; a text that goes on behind them does not end there.
   * @throws RegexFault when the budget is spent: a pattern can make it forget all the time
   */
  test(text: string, length: number, budget: WorkBudget): boolean {
    spend(budget, length * work.remembered);
    if (this.#kinds.isFull) this.#forget();
    let state = this.#initial;
    for (let index = 0; index < length; index++) {
      const kind = this.#kinds.of(text.charCodeAt(index));
      const next = state.next[kind] ?? this.#follow(state, kind, budget);
      if (next === accepted) return true;
      if (next === dead) return false;
      state = next;
    }
    const kind = length < text.length ? this.#kinds.of(text.charCodeAt(length)) : endKind;
    return (state.next[kind] ?? this.#follow(state, kind, budget)) === accepted;
  }

  #follow(state: State, kind: number, budget: WorkBudget): State {
    const unit = kind === endKind ? -1 : this.#kinds.example(kind);
    const after = surroundingsOf(unit);
    const { instructions } = this.#program;
    const reached = new Set<number>();
    const waiting = [...state.threads];
    // A match may begin here, whatever came before.
    const mayBegin = !this.#isAnchored || state === this.#initial;
    if (mayBegin) waiting.push(0);
    const threads: number[] = [];
    for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
      if (reached.has(at)) continue;
      reached.add(at);
      const instruction = instructions[at];
      switch (instruction?.op) {
        case 'match':
          spend(budget, reached.size * work.followed);
          state.next[kind] = accepted;
          return accepted;
        case 'set':
          if (unit >= 0 && contains(instruction.set, unit)) threads.push(at + 1);
          break;
        case 'split':
          waiting.push(instruction.first, instruction.second);
          break;
        case 'jump':
          waiting.push(instruction.to);
          break;
        case 'save':
        case 'clear':
          waiting.push(at + 1);
          break;
        case 'assert':
          if (assertionHolds(instruction.what, state.before, after)) waiting.push(at + 1);
      }
    }
    spend(budget, (reached.size + 1) * work.followed);
    const isDead = kind === endKind || (this.#isAnchored && threads.length === 0);
    const next = isDead ? dead : this.#state(threads, this.#program.hasAssertions ? after : 0);
    state.next[kind] = next;
    return next;
  }

  #state(threads: number[], before: number): State {
    threads.sort((a, b) => a - b);
    const key = `${before}:${threads.join()}`;
    const known = this.#states.get(key);
    if (known !== undefined) return known;
    if (this.#states.size >= statesMax) {
      this.#states = new Map();
      this.#initial = { threads: [], before: surroundingsOf(-1), next: [] };
    }
    const state: State = { threads, before, next: [] };
    this.#states.set(key, state);
    return state;
  }
}

interface State {
  /** Where the threads stand, before the forks that follow are taken. */
  readonly threads: readonly number[];
  /** What stands before this position; 0 when no assertion asks. */
  readonly before: number;
  /** By kind of the character that follows. */
  readonly next: (State | undefined)[];
}

const accepted: State = { threads: [], before: 0, next: [] };
const dead: State = { threads: [], before: 0, next: [] };

const statesMax = 500;
/** The kind of the end of the text. */
const endKind = 0;
const kindsMax = 1000;
const unitsMax = 4000;

/** Characters that no set of the pattern and no assertion tells apart are of one kind. */
class CharacterKinds {
  readonly #sets: readonly CharSet[];
  readonly #byUnit = new Map<number, number>();
  readonly #ascii = new Int16Array(128);
  readonly #bySignature = new Map<string, number>();
  readonly #examples: number[] = [-1];

  constructor(program: Program) {
    // Repetitions written out share their sets.
    const sets = program.instructions.flatMap((step) => (step.op === 'set' ? [step.set] : []));
    this.#sets = [...new Set(sets)];
  }

  /** Asked before a text, since kinds must not change while one is read. */
  get isFull(): boolean {
    return this.#examples.length > kindsMax || this.#byUnit.size > unitsMax;
  }

  of(unit: number): number {
    if (unit < 128) {
      const kind = this.#ascii[unit] ?? 0;
      if (kind !== 0) return kind;
      const found = this.#find(unit);
      this.#ascii[unit] = found;
      return found;
    }
    const known = this.#byUnit.get(unit);
    if (known !== undefined) return known;
    const found = this.#find(unit);
    this.#byUnit.set(unit, found);
    return found;
  }

  example(kind: number): number {
    return this.#examples[kind] ?? -1;
  }

  #find(unit: number): number {
    let signature = String(surroundingsOf(unit));
    for (const set of this.#sets) signature += contains(set, unit) ? '1' : '0';
    const known = this.#bySignature.get(signature);
    if (known !== undefined) return known;
    const kind = this.#examples.length;
    this.#examples.push(unit);
    this.#bySignature.set(signature, kind);
    return kind;
  }
}
