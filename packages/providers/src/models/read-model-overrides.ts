import { JsonError, jsonBounds, readJsonText } from '@sluice/json';
import { objectOf } from '../json/json-access.ts';
import type { ModelFacts } from './model-facts.ts';
import { type ModelOverride, ModelOverrides } from './model-overrides.ts';
import { camelCase } from './shown-facts.ts';

/** What is wrong with an operator's file, by the place in it. */
export class ModelOverridesError extends Error {}

type Read = (value: unknown, path: string) => unknown;

/** How each column is written. A column that is missing here does not compile. */
const columns: Record<Exclude<keyof ModelFacts, 'model' | 'source' | 'checked'>, Read> = {
  sampling: word('all', 'one', 'unless-reasoning', 'default'),
  efforts: words,
  effortsInChat: words,
  effortDefault: text,
  thinking: object({
    types: words,
    default: word('enabled', 'adaptive', 'between_tools', 'disabled'),
    offUpTo: text,
    display: word('summarized', 'omitted'),
  }),
  thinkingBudget: object({ off: countOrNone, min: count, max: count }),
  signsCalls: flag,
  forcedTools: word('always', 'unless-budget', 'never'),
  forcedWithoutThinkingAt: words,
  structuredOutputs: flag,
  systemTurnsAt: words,
  prefill: flag,
  bindsThoughts: flag,
  newerVersions: flag,
  cacheBreakpoints: flag,
  contextTokens: count,
  outputTokensMax: count,
  endpoints: words,
  toolsAt: words,
  toolsWithReasoningAt: words,
};

/**
 * An operator's file: `{"models": [{"match", "like", "facts"}]}`, with the words
 * that `GET /v1/models` shows.
 * @throws ModelOverridesError with the place and the reason
 */
export function readModelOverrides(source: string): ModelOverrides {
  const file = objectOf(parsed(source));
  if (file === undefined) throw fault('the file', 'must hold an object');
  refuseOthers(file, ['models'], 'the file');
  if (!Array.isArray(file.models)) throw fault('models', 'must be a list');
  return new ModelOverrides(file.models.map((value, index) => row(value, `models[${index}]`)));
}

function parsed(source: string): unknown {
  try {
    return readJsonText(source, jsonBounds.reply);
  } catch (error) {
    if (error instanceof JsonError) throw fault('the file', `is not JSON: ${error.message}`);
    throw error;
  }
}

function row(value: unknown, path: string): ModelOverride {
  const entry = objectOf(value);
  if (entry === undefined) throw fault(path, 'must be an object');
  refuseOthers(entry, ['match', 'like', 'facts'], path);
  const match = text(entry.match, `${path}.match`) as string;
  const facts = object(columns)(entry.facts ?? {}, `${path}.facts`) as Partial<ModelFacts>;
  if (entry.like === undefined) return { match, facts };
  return { match, facts, like: text(entry.like, `${path}.like`) as string };
}

function object(members: Readonly<Record<string, Read>>): Read {
  return (value, path) => {
    const entry = objectOf(value);
    if (entry === undefined) throw fault(path, 'must be an object');
    const result: Record<string, unknown> = {};
    for (const key in entry) {
      const name = camelCase(key);
      const read = Object.hasOwn(members, name) ? members[name] : undefined;
      if (read === undefined) throw fault(`${path}.${key}`, 'is not known');
      result[name] = read(entry[key], `${path}.${key}`);
    }
    return result;
  };
}

function refuseOthers(entry: object, known: readonly string[], path: string): void {
  for (const key in entry)
    if (!known.includes(key))
      throw fault(path === 'the file' ? key : `${path}.${key}`, 'is not known');
}

function word(...known: string[]): Read {
  return (value, path) => {
    if (!known.includes(value as string)) throw fault(path, `must be one of ${known.join(', ')}`);
    return value;
  };
}

function text(value: unknown, path: string): unknown {
  if (typeof value !== 'string' || value === '') throw fault(path, 'must be a text');
  return value;
}

function words(value: unknown, path: string): unknown {
  if (!Array.isArray(value)) throw fault(path, 'must be a list');
  return value.map((entry, index) => text(entry, `${path}[${index}]`));
}

function flag(value: unknown, path: string): unknown {
  if (typeof value !== 'boolean') throw fault(path, 'must be true or false');
  return value;
}

function count(value: unknown, path: string): unknown {
  if (!Number.isSafeInteger(value) || (value as number) < 1) throw fault(path, 'must be a count');
  return value;
}

function countOrNone(value: unknown, path: string): unknown {
  return value === 0 ? value : count(value, path);
}

function fault(path: string, reason: string): ModelOverridesError {
  return new ModelOverridesError(`${path} ${reason}`);
}
