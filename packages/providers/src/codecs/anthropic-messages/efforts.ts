/** Efforts, the least first: `minimal` is OpenAI's, and no model of Claude's has it. */
const order = ['minimal', 'low', 'medium', 'high', 'xhigh', 'max'];

/** Budgets that stand for efforts, where thinking is told a budget. */
const budgets: ReadonlyMap<string, number> = new Map(
  Object.entries({
    minimal: 1024,
    low: 1024,
    medium: 8192,
    high: 16_384,
    xhigh: 32_768,
    max: 32_768,
  }),
);

/** The smallest budget that is accepted; it must also stay below max_tokens. */
export const thinkingBudgetMin = 1024;

export function budgetOfEffort(effort: string): number | undefined {
  return budgets.get(effort);
}

/** The effort a budget asks for, where no budget is taken. */
export function effortOfBudget(budget: number): string {
  if (budget <= 4096) return 'low';
  if (budget <= 12_288) return 'medium';
  return budget <= 24_576 ? 'high' : 'xhigh';
}

/** The strongest of the levels that is not above the effort, else the least; undefined for a word nobody knows. */
export function nearestEffort(effort: string, levels: readonly string[]): string | undefined {
  const wanted = order.indexOf(effort);
  if (wanted === -1) return undefined;
  return levels.findLast((level) => order.indexOf(level) <= wanted) ?? levels[0];
}

export function isAbove(effort: string, other: string): boolean {
  return order.indexOf(effort) > order.indexOf(other);
}
