import type { ChatRequest, JsonObject } from '@sluice/contracts';
import { compact } from '../../json/json-access.ts';
import { budgetOfEffort, type ClaudeModel, thinkingBudgetMin } from './models.ts';

export interface EncodedThinking {
  thinking?: JsonObject;
  outputConfig?: JsonObject;
  /** The mandatory limit, which budgets must stay below. */
  outputTokensMax: number;
}

/** How the model is told to think, and what that does to max_tokens. An explicit mode beats an effort. */
export function encodeThinking(
  request: ChatRequest,
  model: ClaudeModel,
  dropped: string[],
): EncodedThinking {
  const reasoning = request.reasoning;
  const limit = request.outputTokensMax;
  const outputTokensMax = limit ?? model.outputTokensDefault;
  if (reasoning?.mode !== undefined) {
    if (reasoning.effort !== undefined && model.thinking !== 'adaptive')
      dropped.push('reasoning_effort');
    const thinking = compact({
      type: reasoning.mode,
      budget_tokens: reasoning.budgetTokens,
      display: reasoning.display,
    }) as JsonObject;
    const effort = model.thinking === 'adaptive' ? effortOf(reasoning.effort) : {};
    return {
      thinking,
      ...effort,
      ...withRoom(limit, outputTokensMax, reasoning.budgetTokens ?? 0),
    };
  }
  const effort = reasoning?.effort;
  if (effort === undefined || effort === 'none') return { outputTokensMax };
  if (model.thinking === 'adaptive')
    return { thinking: { type: 'adaptive' }, ...effortOf(effort), outputTokensMax };
  const budget = budgetOfEffort.get(effort);
  // Where there is no room for the least budget, an answer is worth more than the thought.
  if (model.thinking === 'none' || budget === undefined || outputTokensMax <= thinkingBudgetMin) {
    dropped.push('reasoning_effort');
    return { outputTokensMax };
  }
  const fitting =
    limit === undefined
      ? budget
      : Math.min(budget, Math.max(thinkingBudgetMin, Math.floor(limit / 2)));
  return {
    thinking: { type: 'enabled', budget_tokens: fitting },
    ...withRoom(limit, outputTokensMax, fitting),
  };
}

function effortOf(effort: string | undefined): { outputConfig?: JsonObject } {
  if (effort === undefined || effort === 'none') return {};
  return { outputConfig: { effort: effort === 'minimal' ? 'low' : effort } };
}

/** A limit of our own making is raised above the budget; the caller's is left to the provider to judge. */
function withRoom(
  limit: number | undefined,
  max: number,
  budget: number,
): { outputTokensMax: number } {
  return { outputTokensMax: limit === undefined && budget >= max ? budget + 4096 : max };
}
