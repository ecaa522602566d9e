import { factsOfGemini } from '../../models/gemini.ts';
import type { ModelOverrides } from '../../models/model-overrides.ts';

/** How a request tells a model to think, by the facts of the model. */
export interface GeminiModel {
  thinking:
    | { by: 'none' }
    /** Tokens; `min` is what stands for no thinking at all, 0 where it can be switched off. */
    | { by: 'budget'; min: number; least: number; max: number }
    /** Words, the least thinking first. */
    | { by: 'level'; levels: readonly string[] };
  /** Calls without a signature are refused in its history, and tool results may hold images. */
  isThirdGeneration: boolean;
  /** Temperatures and penalties may be told. */
  takesSampling: boolean;
  /** The last turn may be the start of the answer. */
  takesPrefill: boolean;
}

export function geminiModel(id: string, overrides?: ModelOverrides): GeminiModel {
  const facts = factsOfGemini(id, overrides);
  if (facts === undefined) return { ...unknown, thinking: { by: 'none' } };
  const { efforts, thinkingBudget: budget, signsCalls: isThirdGeneration } = facts;
  const takes = {
    isThirdGeneration,
    takesSampling: facts.sampling !== 'default',
    takesPrefill: facts.prefill !== false,
  };
  if (budget !== undefined) {
    const { off: min, min: least, max } = budget;
    return { ...takes, thinking: { by: 'budget', min, least, max } };
  }
  if (efforts.length === 0) return { ...takes, thinking: { by: 'none' } };
  return { ...takes, thinking: { by: 'level', levels: efforts } };
}

/** A model of another maker behind this format is the provider's to judge. */
const unknown = { isThirdGeneration: false, takesSampling: true, takesPrefill: true };

/** Thinking budgets for efforts, for models that are told a budget. */
export const budgetOfEffort: ReadonlyMap<string, number> = new Map(
  Object.entries({
    none: 0,
    minimal: 1024,
    low: 1024,
    medium: 8192,
    high: 24_576,
    xhigh: 24_576,
    max: 24_576,
  }),
);

/** How strong each effort is, to find the nearest level that a model has. */
export const effortOrder: readonly string[] = ['none', 'minimal', 'low', 'medium', 'high'];
