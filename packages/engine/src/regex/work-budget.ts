import { RegexFault } from './syntax.ts';

/** What may be spent on patterns, in nanoseconds as measured on a slow core; shared by all who are handed it. */
export interface WorkBudget {
  left: number;
}

/** Nanoseconds of each kind of step, rounded up. */
export const work = {
  /** A character whose successor is known. */
  remembered: 5,
  /** An instruction followed to find a successor. */
  followed: 100,
  /** An instruction looked at to find where a match is. */
  searched: 30,
  /** What a backtracking engine does in one step. */
  backtracked: 3,
} as const;

/** One pattern on one text: longer than this nobody else should wait. */
const budgetNs = 50_000_000;

export function newWorkBudget(): WorkBudget {
  return { left: budgetNs };
}

/** @throws RegexFault when the budget is spent */
export function spend(budget: WorkBudget, ns: number): void {
  budget.left -= ns;
  if (budget.left < 0) throw new RegexFault('took too many steps on this text');
}
