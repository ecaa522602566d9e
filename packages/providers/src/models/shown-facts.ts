import type { JsonObject, JsonValue } from '@sluice/contracts';
import type { ModelFacts } from './model-facts.ts';

/** Facts by the names of our API, for lists of models. */
export function shownFacts(facts: ModelFacts): JsonObject {
  return shown(facts);
}

function shown(facts: object): JsonObject {
  const result: JsonObject = {};
  for (const [key, value] of Object.entries(facts) as [string, JsonValue | object | undefined][]) {
    if (value === undefined) continue;
    const isGroup = typeof value === 'object' && value !== null && !Array.isArray(value);
    result[snakeCase(key)] = isGroup ? shown(value) : (value as JsonValue);
  }
  return result;
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

export function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
