import type { CacheControl, JsonObject } from '@sluice/contracts';
import type { CallContext, HostCacheMarks } from '../contract.ts';
import { compact } from '../json/json-access.ts';
import type { ModelFacts } from '../models/model-facts.ts';
import { type CacheRules, noCacheMarks } from './fit-cache-marks.ts';

/** How marks of the prompt cache are written on the parts of OpenAI's two formats. */
export interface CacheMarks {
  readonly rules: CacheRules;
  readonly write: (control: CacheControl | undefined) => JsonObject;
}

const none: CacheMarks = { rules: noCacheMarks, write: () => ({}) };

/**
 * OpenAI's own: of newer models, which keep a prefix for half an hour at least.
 * What there is of a prompt is kept anyway, and more marks than are written are no fault.
 * https://developers.openai.com/api/docs/guides/prompt-caching, November 2026.
 */
const breakpoints: CacheMarks = {
  rules: {
    marksMax: Number.POSITIVE_INFINITY,
    onTools: false,
    onAnswers: false,
    onRequest: 'implied',
    anHour: false,
    halfADay: true,
  },
  write: (control): JsonObject =>
    control === undefined
      ? {}
      : { prompt_cache_breakpoint: compact({ mode: 'explicit', ttl: control.ttl }) as JsonObject },
};

/** Anthropic's words in OpenAI's format. */
function controls({ onTools, onRequest, anHour }: HostCacheMarks): CacheMarks {
  return {
    rules: { marksMax: 4, onTools, onRequest, onAnswers: false, anHour },
    write: (control): JsonObject =>
      control === undefined ? {} : { cache_control: { ...control } },
  };
}

export function cacheMarksOf(facts: ModelFacts, { provider }: CallContext): CacheMarks {
  const host = provider.quirks?.cacheMarks;
  if (host !== undefined) return controls(host);
  return facts.cacheBreakpoints === true && breakpointsAt.has(provider.id) ? breakpoints : none;
}

const breakpointsAt: ReadonlySet<string> = new Set(['openai', 'azure-openai', 'azure-ai']);
