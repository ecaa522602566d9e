import type { JsonObject, Reasoning } from '@sluice/contracts';
import { booleanOf, compact, numberOf, stringOf } from '../../json/json-access.ts';
import { budgetOfEffort, effortOrder, type GeminiModel } from './models.ts';

/**
 * How the model is told to think; an explicit mode beats an effort. Never both
 * a budget and a level: the provider refuses that.
 */
export function encodeThinking(
  reasoning: Reasoning | undefined,
  { thinking }: GeminiModel,
  dropped: string[],
): JsonObject | undefined {
  if (reasoning === undefined) return undefined;
  const { mode, budgetTokens, effort } = reasoning;
  const isOff =
    mode === 'disabled' || budgetTokens === 0 || (mode === undefined && effort === 'none');
  if (thinking.by === 'none') {
    if (!isOff) dropped.push(mode === undefined ? 'reasoning_effort' : 'thinking');
    return undefined;
  }
  // No more than whether to think can be told.
  if (mode === 'between_tools') dropped.push('thinking.type');
  if (isOff)
    return thinking.by === 'budget'
      ? { thinkingBudget: thinking.min }
      : { thinkingLevel: thinking.levels[0] as string };
  const shown: JsonObject = { includeThoughts: reasoning.display !== 'omitted' };
  if (budgetTokens !== undefined) {
    // The third generation takes budgets, too, for old times' sake, and knows its own bounds.
    const fitting = thinking.by === 'budget' ? within(budgetTokens, thinking) : budgetTokens;
    return { ...shown, thinkingBudget: fitting };
  }
  if (effort !== undefined) return withEffort(effort, shown, thinking, dropped);
  const isAdaptive = mode === 'adaptive' && thinking.by === 'budget';
  return isAdaptive ? { ...shown, thinkingBudget: -1 } : shown;
}

type Thinking = Exclude<GeminiModel['thinking'], { by: 'none' }>;

function withEffort(
  effort: string,
  shown: JsonObject,
  thinking: Thinking,
  dropped: string[],
): JsonObject {
  const budget = budgetOfEffort.get(effort);
  if (budget === undefined) {
    dropped.push('reasoning_effort');
    return shown;
  }
  if (thinking.by === 'budget') return { ...shown, thinkingBudget: within(budget, thinking) };
  return { ...shown, thinkingLevel: nearestLevel(effort, thinking.levels) };
}

/** -1 leaves it to the model. */
function within(budget: number, { least, max }: { least: number; max: number }): number {
  return budget < 0 ? -1 : Math.min(max, Math.max(least, budget));
}

/** The model's own level of this effort, else the next stronger, else its strongest. */
function nearestLevel(effort: string, levels: readonly string[]): string {
  const wanted = effortOrder.indexOf(effort);
  const strength = wanted === -1 ? effortOrder.length : wanted;
  const found = levels.find((level) => effortOrder.indexOf(level) >= strength);
  return found ?? (levels.at(-1) as string);
}

export function decodeThinking(config: JsonObject | undefined): Reasoning | undefined {
  if (config === undefined) return undefined;
  const budget = numberOf(config.thinkingBudget);
  const level = stringOf(config.thinkingLevel)?.toLowerCase();
  const isShown = booleanOf(config.includeThoughts);
  // Thoughts that are not asked for are not sent, which other formats call omitted.
  const display = isShown === true ? undefined : 'omitted';
  if (budget === 0) return { mode: 'disabled' };
  if (budget !== undefined && budget < 0) return compact({ mode: 'adaptive' as const, display });
  if (budget !== undefined)
    return compact({ mode: 'enabled' as const, budgetTokens: budget, display });
  if (level !== undefined) return { effort: level };
  return isShown === true ? { mode: 'adaptive' } : undefined;
}
