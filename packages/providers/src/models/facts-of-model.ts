import { claude } from './claude.ts';
import { findRow } from './find-row.ts';
import { gemini } from './gemini.ts';
import { grok } from './grok.ts';
import { mistral } from './mistral.ts';
import type { ModelFacts, ModelFamily } from './model-facts.ts';
import type { ModelOverrides } from './model-overrides.ts';
import { openModels } from './open-models.ts';
import { openAi } from './openai.ts';

/** All families there are rows of. */
export const modelFamilies: readonly ModelFamily[] = [
  claude,
  openAi,
  gemini,
  grok,
  mistral,
  openModels,
];

/** What is known of a model, by its name at any host; undefined = nothing. */
export function factsOfModel(name: string, overrides?: ModelOverrides): ModelFacts | undefined {
  return overrides === undefined ? rowOf(name) : overrides.apply(name, rowOf);
}

function rowOf(name: string): ModelFacts | undefined {
  for (const family of modelFamilies) {
    const asked = family.read(name);
    if (asked !== undefined) return findRow(family, asked)?.facts;
  }
  return undefined;
}
