/**
 * What a request must know of a Claude model to be accepted: how much it may
 * write at most, and how it is told to think. Matched by prefix, longest first.
 * Source: https://platform.claude.com/docs/en/models/overview, November 2026.
 */
export interface ClaudeModel {
  /** The default of the mandatory `max_tokens`, when the caller sets no limit. */
  outputTokensDefault: number;
  thinking: 'none' | 'budget' | 'adaptive';
}

const table: readonly (readonly [prefix: string, model: ClaudeModel])[] = [
  ['claude-3-7-sonnet', { outputTokensDefault: 64_000, thinking: 'budget' }],
  ['claude-3-5', { outputTokensDefault: 8192, thinking: 'none' }],
  ['claude-3', { outputTokensDefault: 4096, thinking: 'none' }],
  ['claude-2', { outputTokensDefault: 4096, thinking: 'none' }],
  ['claude-opus-4-0', { outputTokensDefault: 32_000, thinking: 'budget' }],
  ['claude-opus-4-1', { outputTokensDefault: 32_000, thinking: 'budget' }],
  ['claude-opus-4-2', { outputTokensDefault: 32_000, thinking: 'budget' }],
  ['claude-opus-4-5', { outputTokensDefault: 64_000, thinking: 'budget' }],
  ['claude-sonnet-4-0', { outputTokensDefault: 64_000, thinking: 'budget' }],
  ['claude-sonnet-4-2', { outputTokensDefault: 64_000, thinking: 'budget' }],
  ['claude-sonnet-4-5', { outputTokensDefault: 64_000, thinking: 'budget' }],
  ['claude-haiku-4-5', { outputTokensDefault: 64_000, thinking: 'budget' }],
  // 4.6 and later allow 128,000; half of it leaves room in shared output limits.
  ['claude-', { outputTokensDefault: 64_000, thinking: 'adaptive' }],
];

const unknown: ClaudeModel = { outputTokensDefault: 4096, thinking: 'budget' };

/** Other clouds put a region and the publisher before the name: `us.anthropic.claude-…`. */
export function claudeModel(id: string): ClaudeModel {
  const name = id.slice(Math.max(0, id.indexOf('claude-')));
  for (const [prefix, model] of table) if (name.startsWith(prefix)) return model;
  return unknown;
}

/** Thinking budgets for efforts, for models that are told a budget. */
export const budgetOfEffort: ReadonlyMap<string, number> = new Map(
  Object.entries({
    minimal: 1024,
    low: 1024,
    medium: 8192,
    high: 16_384,
    xhigh: 32_768,
  }),
);

/** The smallest budget that is accepted; it must also stay below max_tokens. */
export const thinkingBudgetMin = 1024;
