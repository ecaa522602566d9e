/**
 * What a request must know of a model to be accepted: how it is told to think,
 * and what it wants to see of its own history. Matched by prefix, the first wins.
 * Source: https://ai.google.dev/gemini-api/docs/thinking and
 * https://ai.google.dev/gemini-api/docs/thought-signatures, November 2026.
 */
export interface GeminiModel {
  thinking:
    | { by: 'none' }
    /** Tokens; `min` is what stands for no thinking at all, 0 where it can be switched off. */
    | { by: 'budget'; min: number; least: number; max: number }
    /** Words, the least thinking first. */
    | { by: 'level'; levels: readonly string[] };
  /** Calls without a signature are refused in its history, and tool results may hold images. */
  isThirdGeneration: boolean;
}

const none: GeminiModel = { thinking: { by: 'none' }, isThirdGeneration: false };

function budget(min: number, least: number, max: number): GeminiModel {
  return { thinking: { by: 'budget', min, least, max }, isThirdGeneration: false };
}

function level(...levels: string[]): GeminiModel {
  return { thinking: { by: 'level', levels }, isThirdGeneration: true };
}

const drawing: GeminiModel = { thinking: { by: 'none' }, isThirdGeneration: true };

const table: readonly (readonly [prefix: string, model: GeminiModel])[] = [
  ['gemini-1', none],
  ['gemini-2.0', none],
  ['gemini-2.5-flash-image', none],
  ['gemini-2.5-pro-preview-tts', none],
  ['gemini-2.5-flash-preview-tts', none],
  ['gemini-2.5-flash-lite', budget(0, 512, 24_576)],
  ['gemini-2.5-flash', budget(0, 1, 24_576)],
  // Its thinking cannot be switched off.
  ['gemini-2.5-pro', budget(128, 128, 32_768)],
  ['gemini-2.5', budget(0, 1, 24_576)],
  ['gemini-3-pro-image', drawing],
  ['gemini-3-pro', level('low', 'high')],
  ['gemini-3.1-pro', level('low', 'medium', 'high')],
  ['gemini-pro-latest', level('low', 'medium', 'high')],
  ['gemini-3.7-flash', level('low', 'medium', 'high')],
  ['gemini-embedding', none],
  ['gemini-', level('minimal', 'low', 'medium', 'high')],
];

/** `id` may carry a publisher or a collection before the name: `models/x`, `google/x`, `google.x`. */
export function geminiModel(id: string): GeminiModel {
  const name = id.slice(id.lastIndexOf('/') + 1).replace(/^google\./, '');
  for (const [prefix, model] of table) if (name.startsWith(prefix)) return model;
  return none;
}

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
