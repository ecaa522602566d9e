import type { ChatRequest, JsonObject, Reasoning } from '@sluice/contracts';
import type { ClaudeFacts } from '../../models/claude.ts';
import {
  budgetOfEffort,
  effortOfBudget,
  isAbove,
  nearestEffort,
  thinkingBudgetMin,
} from './efforts.ts';

export interface EncodedThinking {
  thinking?: JsonObject;
  outputConfig?: JsonObject;
  /** The mandatory limit, which budgets must stay below. */
  outputTokensMax: number;
}

export interface ThinkingOptions {
  /** The model's turn that is under way calls tools and has no thought to begin with: a budget is refused. */
  lacksThought: boolean;
  /** In place of the usual budgets of efforts: a share of what the answer may have. */
  budgetShareOf?: (effort: string) => number | undefined;
}

interface Asked {
  request: ChatRequest;
  reasoning: Reasoning;
  facts: ClaudeFacts;
  /** The caller's, as far as the model allows it. */
  limit: number | undefined;
  outputTokensMax: number;
  options: ThinkingOptions;
  dropped: string[];
}

/** How the model is told to think, and what that does to max_tokens. An explicit mode beats an effort. */
export function encodeThinking(
  request: ChatRequest,
  facts: ClaudeFacts,
  options: ThinkingOptions,
  dropped: string[],
): EncodedThinking {
  const limit = limitOf(request, facts, dropped);
  const outputTokensMax = limit ?? outputTokensDefault(facts);
  const { reasoning } = request;
  if (reasoning === undefined) return { outputTokensMax };
  const asked = { request, reasoning, facts, limit, outputTokensMax, options, dropped };
  const { mode, effort } = reasoning;
  if (mode === 'disabled' || mode === 'between_tools') return withoutThinking(asked, mode);
  if (mode === undefined && effort === 'none') return withoutThinking(asked, 'none');
  if (mode === undefined && effort === undefined) return justShown(asked);
  return withThinking(asked);
}

/** The default of the mandatory `max_tokens`; half of what the newest allow leaves room in shared limits. */
function outputTokensDefault({ outputTokensMax }: ClaudeFacts): number {
  return Math.min(64_000, outputTokensMax ?? 4096);
}

function limitOf(request: ChatRequest, facts: ClaudeFacts, dropped: string[]): number | undefined {
  const asked = request.outputTokensMax;
  const most = facts.outputTokensMax;
  if (asked === undefined || most === undefined || asked <= most) return asked;
  dropped.push('max_tokens');
  return most;
}

/** Thoughts are to be seen, and nothing is said of how to think. */
function justShown({ reasoning, facts, outputTokensMax }: Asked): EncodedThinking {
  if (facts.thinking.default !== 'adaptive' || reasoning.display === undefined)
    return { outputTokensMax };
  return { thinking: { type: 'adaptive', display: reasoning.display }, outputTokensMax };
}

function withThinking(asked: Asked): EncodedThinking {
  const { reasoning, facts, options, outputTokensMax, dropped } = asked;
  const { types } = facts.thinking;
  const prefersBudget = reasoning.mode === 'enabled' || !types.includes('adaptive');
  if (prefersBudget && types.includes('enabled') && !options.lacksThought) return withBudget(asked);
  if (!types.includes('adaptive')) {
    dropped.push(nameOf(reasoning));
    return { outputTokensMax };
  }
  const { budgetTokens } = reasoning;
  if (budgetTokens !== undefined) dropped.push('thinking.budget_tokens');
  const meant =
    budgetTokens === undefined
      ? undefined
      : nearestEffort(effortOfBudget(budgetTokens), facts.efforts);
  const level = effortField(reasoning.effort ?? meant, asked);
  // An effort that nobody knows asks for nothing.
  if (reasoning.mode === undefined && level === undefined) return { outputTokensMax };
  return {
    thinking: shown({ type: 'adaptive' }, asked),
    ...(level !== undefined && { outputConfig: level }),
    outputTokensMax,
  };
}

/** By the words the caller knows it. */
function nameOf({ mode }: Reasoning): string {
  return mode === undefined ? 'reasoning_effort' : 'thinking';
}

function effortField(
  effort: string | undefined,
  { facts, dropped }: Asked,
  most?: string,
): JsonObject | undefined {
  if (effort === undefined || effort === 'none') return undefined;
  const wanted = most !== undefined && isAbove(effort, most) ? most : effort;
  const level = nearestEffort(wanted, facts.efforts);
  // What OpenAI calls minimal is the least there is.
  if (level !== effort && effort !== 'minimal') dropped.push('reasoning_effort');
  return level === undefined ? undefined : { effort: level };
}

function shown(thinking: JsonObject, { reasoning, facts }: Asked): JsonObject {
  const { mode, display } = reasoning;
  // Nothing has to be said for what is so by default, and older hosts do not know the word.
  const isDefault = mode === undefined && display === (facts.thinking.display ?? 'summarized');
  return display === undefined || isDefault ? thinking : { ...thinking, display };
}

function withBudget(asked: Asked): EncodedThinking {
  const { reasoning, facts, limit, outputTokensMax, dropped } = asked;
  const { mode, effort, budgetTokens } = reasoning;
  // Where there is no room for the least budget, an answer is worth more than the thought.
  const hasRoom = limit === undefined || limit > thinkingBudgetMin;
  const budget = hasRoom
    ? budgetTokens === undefined
      ? budgetFor(effort ?? 'medium', asked)
      : fitted(budgetTokens, asked)
    : undefined;
  if (budget === undefined) {
    dropped.push(nameOf(reasoning));
    return { outputTokensMax };
  }
  if (mode === 'adaptive') dropped.push('thinking.type');
  if (budgetTokens !== undefined && budget !== budgetTokens) dropped.push('thinking.budget_tokens');
  // Beside a budget of the caller's an effort is a word of its own, where the model has it.
  const level = budgetTokens === undefined ? undefined : effortField(effort, asked);
  const most = facts.outputTokensMax ?? Number.POSITIVE_INFINITY;
  return {
    thinking: shown({ type: 'enabled', budget_tokens: budget }, asked),
    ...(level !== undefined && { outputConfig: level }),
    // A limit of our own making is raised above the budget.
    outputTokensMax:
      limit === undefined && budget >= outputTokensMax
        ? Math.min(most, budget + answerRoom)
        : outputTokensMax,
  };
}

/** What an answer needs beside a budget, where the limit is of our making. */
const answerRoom = 4096;

function budgetFor(effort: string, asked: Asked): number | undefined {
  const { limit, outputTokensMax, options } = asked;
  const share = options.budgetShareOf;
  if (share === undefined) {
    const budget = budgetOfEffort(effort);
    if (budget === undefined) return undefined;
    if (limit === undefined) return fitted(budget, asked);
    return Math.min(budget, Math.max(thinkingBudgetMin, Math.floor(limit / 2)));
  }
  const part = share(effort);
  if (part === undefined) return undefined;
  return Math.max(thinkingBudgetMin, Math.floor(outputTokensMax * part));
}

/** A budget that is too small, or leaves no room for the answer, is refused. */
function fitted(budget: number, { limit, facts }: Asked): number {
  const room = limit ?? facts.outputTokensMax ?? Number.POSITIVE_INFINITY;
  if (budget < room) return Math.max(thinkingBudgetMin, budget);
  const half = limit === undefined ? room - answerRoom : Math.floor(limit / 2);
  return Math.max(thinkingBudgetMin, half);
}

function withoutThinking(
  asked: Asked,
  wish: 'disabled' | 'between_tools' | 'none',
): EncodedThinking {
  const { request, reasoning, facts, outputTokensMax, dropped } = asked;
  const mode = offMode(wish, facts);
  if (mode === undefined) {
    if (facts.thinking.default === 'disabled') {
      const level = effortField(reasoning.effort, asked);
      return { ...(level !== undefined && { outputConfig: level }), outputTokensMax };
    }
    // As little as there is, where it cannot be switched off.
    dropped.push(nameOf(reasoning));
    const [least] = facts.efforts;
    return { ...(least !== undefined && { outputConfig: { effort: least } }), outputTokensMax };
  }
  if (mode !== wish && wish === 'between_tools') dropped.push('thinking.type');
  // Between calls it may still say what it is doing.
  const hasTools = (request.tools ?? []).length > 0;
  if (mode === 'between_tools' && wish !== mode && hasTools) dropped.push(nameOf(reasoning));
  if (reasoning.display !== undefined && wish !== 'none') dropped.push('thinking.display');
  const level = effortField(reasoning.effort, asked, facts.thinking.offUpTo);
  return {
    thinking: { type: mode },
    ...(level !== undefined && { outputConfig: level }),
    outputTokensMax,
  };
}

/** The word for no thinking; undefined = none is needed, or there is none. */
function offMode(
  wish: 'disabled' | 'between_tools' | 'none',
  { thinking }: ClaudeFacts,
): 'disabled' | 'between_tools' | undefined {
  const { types } = thinking;
  if (wish === 'between_tools' && types.includes(wish)) return wish;
  if (wish === 'none' && thinking.default === 'disabled') return undefined;
  if (types.includes('disabled')) return 'disabled';
  return types.includes('between_tools') ? 'between_tools' : undefined;
}
