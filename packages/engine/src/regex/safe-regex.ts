import { isExponential } from './ambiguity.ts';
import { Matcher } from './matcher.ts';
import { compileProgram, type Program } from './program.ts';
import { Searcher } from './searcher.ts';
import { backtrackingSteps, isAnchored } from './step-bound.ts';
import { type ParsedRegex, parseRegex, RegexFault } from './syntax.ts';
import { newWorkBudget, spend, type WorkBudget, work } from './work-budget.ts';

/**
 * Regular expressions out of configs, with JavaScript's syntax and meaning but
 * without its worst case: a pattern runs on the native engine only for texts on
 * which that provably takes few steps, and otherwise on a machine that is linear
 * in the text.
 */
export interface SafeRegex {
  readonly source: string;
  readonly flags: string;
  /**
   * How much of a text is looked at, in UTF-16 code units. What lies behind never
   * matches, and the text does not end there: `$` does not hold.
   */
  readonly textMax: number;
  /** What it costs, in instructions for each character. */
  readonly size: number;
  /** A backtracking engine could be made to work for ever: nearly always a mistake in the pattern. */
  readonly isExponential: boolean;
  /**
   * Whether it matches. A budget is shared by several calls, and else made for this one.
   * @throws RegexFault when it would take too many steps
   */
  test(text: string, lengthMax?: number, budget?: WorkBudget): boolean;
  /**
   * The first match from `from` on, as a backtracking engine would find it.
   * @throws RegexFault when it would take too many steps
   */
  find(text: string, from?: number): RegexMatch | undefined;
  /**
   * Replaces the first match, or with the flag g every match. In a text, `$&`
   * stands for the match, `$1` … `$99` for groups, `$$` for a dollar sign.
   * @throws RegexFault when it would take too many steps
   */
  replace(text: string, replacement: string | ((match: RegexMatch) => string)): string;
}

export interface RegexMatch {
  readonly index: number;
  readonly end: number;
  readonly text: string;
  /** Group 1 first; undefined = it took no part. */
  readonly groups: readonly (string | undefined)[];
}

export type SafeRegexResult =
  | { readonly ok: true; readonly regex: SafeRegex }
  /** A phrase that follows the name of the field: `must be …`. */
  | { readonly ok: false; readonly fault: string };

export const patternMax = 2000;
const textMax = 262_144;
/** What the native engine may be made to do, on short texts and for each character of long ones. */
const nativeStepsMax = 20_000;
const nativeStepsPerCharacterMax = 32;
const nativeLengths = [32, 128, 512, 2048, 8192, 32_768, 131_072, textMax];

/** Flags: i, m, s; g for `replace`; d is accepted and means nothing here. */
export function compileSafeRegex(pattern: string, flags = ''): SafeRegexResult {
  const refused = (why: string): SafeRegexResult => ({
    ok: false,
    fault: `must be a regular expression that can be run safely: this one ${why}`,
  });
  if (pattern.length > patternMax) return refused(`is longer than ${patternMax} characters`);
  const wrongFlag = /[^dgims]/.exec(flags);
  if (wrongFlag !== null)
    return refused(`has the flag ${wrongFlag[0]}; only g, i, m and s are known`);
  try {
    const native = new RegExp(pattern, `${flags.replace(/[dg]/g, '')}g`);
    const parsed = parseRegex(pattern, {
      ignoresCase: flags.includes('i'),
      isMultiline: flags.includes('m'),
      dotMatchesAll: flags.includes('s'),
    });
    const program = compileProgram(parsed);
    return { ok: true, regex: new LinearRegex({ pattern, flags, native, parsed, program }) };
  } catch (error) {
    if (error instanceof RegexFault) return refused(error.message);
    if (error instanceof SyntaxError)
      return { ok: false, fault: `must be a valid regular expression (${error.message})` };
    throw error;
  }
}

class LinearRegex implements SafeRegex {
  readonly source: string;
  readonly flags: string;
  readonly textMax = textMax;
  readonly size: number;
  readonly #native: RegExp;
  /** For texts up to each length at which it may run natively: the most steps that this can take. */
  readonly #nativeSteps: readonly { length: number; steps: number }[];
  readonly #program: Program;
  readonly #isAnchored: boolean;
  #matcher: Matcher | undefined;
  #searcher: Searcher | undefined;

  constructor(parts: {
    pattern: string;
    flags: string;
    native: RegExp;
    parsed: ParsedRegex;
    program: Program;
  }) {
    this.source = parts.pattern;
    this.flags = parts.flags;
    this.#native = parts.native;
    this.#program = parts.program;
    this.size = parts.program.instructions.length;
    this.#isAnchored = isAnchored(parts.parsed.root);
    this.#nativeSteps = nativeLengths.flatMap((length) => {
      const stepsMax = Math.max(nativeStepsMax, length * nativeStepsPerCharacterMax);
      const steps = backtrackingSteps(parts.parsed.root, length, stepsMax);
      return steps <= stepsMax ? [{ length, steps }] : [];
    });
  }

  get isExponential(): boolean {
    return this.#nativeSteps.at(-1)?.length !== textMax && isExponential(this.#program);
  }

  test(text: string, lengthMax = this.textMax, budget = newWorkBudget()): boolean {
    const length = Math.min(text.length, lengthMax, this.textMax);
    const steps = this.#nativeStepsOn(text, length);
    if (steps !== undefined) {
      spend(budget, steps * (length + 1) * work.backtracked);
      this.#native.lastIndex = 0;
      return this.#native.test(text);
    }
    this.#matcher ??= new Matcher(this.#program, this.#isAnchored);
    return this.#matcher.test(text, length, budget);
  }

  find(text: string, from = 0): RegexMatch | undefined {
    // Saying that nothing matches is cheaper than looking for where it does.
    const budget = newWorkBudget();
    if (from === 0 && !this.test(text, textMax, budget)) return undefined;
    return this.#find(text, from, budget);
  }

  replace(text: string, replacement: string | ((match: RegexMatch) => string)): string {
    const all = this.flags.includes('g');
    // Saying that nothing matches is cheaper than finding out where.
    const budget = newWorkBudget();
    if (!this.test(text, textMax, budget)) return text;
    let replaced = '';
    let done = 0;
    let from = 0;
    while (from <= text.length) {
      const match = this.#find(text, from, budget);
      if (match === undefined) break;
      replaced += text.slice(done, match.index);
      replaced += typeof replacement === 'string' ? expand(replacement, match) : replacement(match);
      done = match.end;
      if (!all) break;
      // An empty match must not be found again.
      from = match.end > match.index ? match.end : match.end + 1;
    }
    return replaced + text.slice(done);
  }

  #find(text: string, from: number, budget: WorkBudget): RegexMatch | undefined {
    const length = Math.min(text.length, this.textMax);
    const steps = this.#nativeStepsOn(text, length);
    if (steps !== undefined) {
      this.#native.lastIndex = from;
      const found = this.#native.exec(text);
      const end = found === null ? length : found.index + found[0].length;
      spend(budget, steps * (end - from + 1) * work.backtracked);
      if (found === null) return undefined;
      const [whole, ...groups] = found;
      return { index: found.index, end: found.index + whole.length, text: whole, groups };
    }
    this.#searcher ??= new Searcher(this.#program);
    const slots = this.#searcher.search(text, length, from, budget);
    if (slots === undefined) return undefined;
    const [index = 0, end = 0] = slots;
    const groups: (string | undefined)[] = [];
    for (let slot = 2; slot < slots.length; slot += 2) {
      const first = slots[slot] ?? -1;
      const last = slots[slot + 1] ?? -1;
      groups.push(first < 0 || last < 0 ? undefined : text.slice(first, last));
    }
    return { index, end, text: text.slice(index, end), groups };
  }

  /**
   * The most steps that the native engine takes for each place where a match
   * may begin; undefined when it must not be asked. It knows no end but the text's own.
   */
  #nativeStepsOn(text: string, length: number): number | undefined {
    if (length !== text.length) return undefined;
    const bound = this.#nativeSteps.find((steps) => length <= steps.length);
    return bound === undefined ? undefined : bound.steps / (bound.length + 1);
  }
}

function expand(replacement: string, match: RegexMatch): string {
  if (!replacement.includes('$')) return replacement;
  return replacement.replace(/\$(?:\$|&|\d{1,2})/g, (reference) => {
    if (reference === '$$') return '$';
    if (reference === '$&') return match.text;
    const group = Number(reference.slice(1));
    return group >= 1 && group <= match.groups.length ? (match.groups[group - 1] ?? '') : reference;
  });
}
