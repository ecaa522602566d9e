import type { ChatRequest, JsonObject } from '@sluice/contracts';
import { type ClaudeModel, claudeModel, thinkingBudgetMin } from '../anthropic-messages/models.ts';
import { encodeThinking } from '../anthropic-messages/thinking.ts';
import type { BedrockModel, Family } from './models.ts';

export interface ModelThinking {
  /** What goes among the model's further fields. */
  fields: JsonObject;
  isThinking: boolean;
  outputTokensMax: number | undefined;
}

/** What part of the output limit an effort may spend on thinking, on Bedrock's Claude. */
const shareOfEffort: ReadonlyMap<string, number> = new Map(
  Object.entries({ minimal: 0.1, low: 0.2, medium: 0.5, high: 0.8, xhigh: 0.8 }),
);

/** How the model is told to think. Only Claude has a budget; families with an effort take its name. */
export function encodeModelThinking(
  request: ChatRequest,
  model: BedrockModel,
  family: Family,
  dropped: string[],
): ModelThinking {
  const { reasoning, outputTokensMax } = request;
  const none: ModelThinking = { fields: {}, isThinking: false, outputTokensMax };
  if (reasoning === undefined) return none;
  if (!family.isClaude) {
    if (reasoning.mode !== undefined && reasoning.effort === undefined) dropped.push('thinking');
    // What an effort is put into is a table; without a place it is told as dropped.
    if (reasoning.effort !== undefined && family.fields.effort === undefined)
      dropped.push('reasoning_effort');
    return none;
  }
  const claude = claudeModel(model.name.slice('anthropic.'.length));
  if (reasoning.mode === undefined && claude.thinking !== 'adaptive')
    return shareOf(reasoning.effort, request, claude, dropped) ?? none;
  const encoded = encodeThinking(request, claude, dropped);
  if (encoded.thinking === undefined) return none;
  const { thinking, outputConfig } = encoded;
  const isThinking = thinking.type !== 'disabled';
  return {
    fields: outputConfig === undefined ? { thinking } : { thinking, output_config: outputConfig },
    isThinking,
    // A limit that nobody set is only named where a budget has to stay below it.
    outputTokensMax: thinking.type === 'enabled' ? encoded.outputTokensMax : outputTokensMax,
  };
}

function shareOf(
  effort: string | undefined,
  request: ChatRequest,
  claude: ClaudeModel,
  dropped: string[],
): ModelThinking | undefined {
  if (effort === undefined || effort === 'none') return undefined;
  const share = shareOfEffort.get(effort);
  const outputTokensMax = request.outputTokensMax ?? claude.outputTokensDefault;
  if (share === undefined || claude.thinking === 'none' || outputTokensMax <= thinkingBudgetMin) {
    dropped.push('reasoning_effort');
    return undefined;
  }
  const budget_tokens = Math.max(thinkingBudgetMin, Math.floor(outputTokensMax * share));
  return {
    fields: { thinking: { type: 'enabled', budget_tokens } },
    isThinking: true,
    outputTokensMax,
  };
}
