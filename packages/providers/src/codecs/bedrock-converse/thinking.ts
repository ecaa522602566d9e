import type { ChatRequest, JsonObject } from '@sluice/contracts';
import type { ClaudeFacts } from '../../models/claude.ts';
import { encodeThinking } from '../anthropic-messages/thinking.ts';
import { demandsCall } from '../anthropic-messages/tool-choice.ts';
import type { Family } from './models.ts';

export interface ModelThinking {
  /** What goes among the model's further fields. */
  fields: JsonObject;
  outputTokensMax: number | undefined;
}

/** What part of the output limit an effort may spend on thinking, on Bedrock's Claude. */
const shareOfEffort: ReadonlyMap<string, number> = new Map(
  Object.entries({ minimal: 0.1, low: 0.2, medium: 0.5, high: 0.8, xhigh: 0.8, max: 0.8 }),
);

/** How a model other than Claude is told to think: families with an effort take its name. */
export function encodeFamilyThinking(
  { reasoning, outputTokensMax }: ChatRequest,
  family: Family,
  dropped: string[],
): ModelThinking {
  if (reasoning?.mode !== undefined && reasoning.effort === undefined) dropped.push('thinking');
  // What an effort is put into is a table; without a place it is told as dropped.
  if (reasoning?.effort !== undefined && family.fields.effort === undefined)
    dropped.push('reasoning_effort');
  return { fields: {}, outputTokensMax };
}

/** How Claude is told to think. A limit that nobody set is only named where a budget has to stay below it. */
export function encodeClaudeThinking(
  request: ChatRequest,
  facts: ClaudeFacts,
  lacksThought: boolean,
  dropped: string[],
): ModelThinking {
  const asked = withoutThinking(request, facts, dropped);
  const options = {
    lacksThought,
    budgetShareOf: (effort: string) => shareOfEffort.get(effort),
  };
  const { thinking, outputConfig, outputTokensMax } = encodeThinking(
    asked,
    facts,
    options,
    dropped,
  );
  const needsLimit = request.outputTokensMax !== undefined || thinking?.type === 'enabled';
  return {
    fields: {
      ...(thinking !== undefined && { thinking }),
      ...(outputConfig !== undefined && { output_config: outputConfig }),
    },
    outputTokensMax: needsLimit ? outputTokensMax : undefined,
  };
}

/** Models that think by themselves are not made to call a tool here unless they are told not to think. */
function withoutThinking(request: ChatRequest, facts: ClaudeFacts, dropped: string[]): ChatRequest {
  const { mode, effort } = request.reasoning ?? {};
  const isNeeded =
    facts.forcedWithoutThinkingAt?.includes('bedrock') === true &&
    demandsCall(request) &&
    (request.tools ?? []).length > 0 &&
    mode !== 'disabled';
  if (!isNeeded) return request;
  if (mode !== undefined) dropped.push('thinking');
  const wanted = effort === undefined || effort === 'none' ? {} : { effort };
  return { ...request, reasoning: { mode: 'disabled', ...wanted } };
}
