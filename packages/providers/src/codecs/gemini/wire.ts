/**
 * Words of Gemini's generateContent format that more than one file here needs.
 * https://ai.google.dev/api/generate-content
 */
import type { ChatUsage, FinishReason, JsonObject } from '@sluice/contracts';
import { furtherKinds } from '../../bills/further-kinds.ts';
import { arrayOf, countOf, objectOf, stringOf, tellsAny } from '../../json/json-access.ts';

export const formatName = 'gemini';

/** What the provider takes for the signature of a call that another model made. */
export const skippedSignature = 'skip_thought_signature_validator';

const unified = new Map<string, FinishReason>(
  Object.entries({
    STOP: 'stop',
    MAX_TOKENS: 'length',
    // More would come to who sends the token that comes with it, which no other format has.
    CONTINUATION: 'length',
    SAFETY: 'content-filter',
    RECITATION: 'content-filter',
    IMAGE_RECITATION: 'content-filter',
    LANGUAGE: 'content-filter',
    BLOCKLIST: 'content-filter',
    PROHIBITED_CONTENT: 'content-filter',
    SPII: 'content-filter',
    MODEL_ARMOR: 'content-filter',
    // A rule of the vendor's filtered it. @google/genai 3.3, November 2026
    ESCALATION: 'content-filter',
    IMAGE_SAFETY: 'content-filter',
    IMAGE_PROHIBITED_CONTENT: 'content-filter',
  }),
);

/** The format has no word for a reply that ends in calls. */
export function decodeFinishReason(raw: string, hasToolCalls: boolean): FinishReason {
  const reason = unified.get(raw) ?? 'other';
  // A call that was not expected is one all the same.
  const endsInCalls = reason === 'stop' || raw === 'UNEXPECTED_TOOL_CALL';
  return endsInCalls && hasToolCalls ? 'tool-calls' : reason;
}

const wire: Record<FinishReason, string> = {
  stop: 'STOP',
  length: 'MAX_TOKENS',
  'tool-calls': 'STOP',
  'content-filter': 'SAFETY',
  other: 'OTHER',
};

export function encodeFinishReason(reason: FinishReason): string {
  return wire[reason];
}

/** Usage that a reply tells; undefined where it counts neither what went in nor what came out. */
export function usageOf(told: JsonObject | undefined): ChatUsage | undefined {
  return told !== undefined && tellsAny(told, counts) ? decodeUsage(told) : undefined;
}

const counts = [
  'promptTokenCount',
  'toolUsePromptTokenCount',
  'candidatesTokenCount',
  'thoughtsTokenCount',
] as const;

/** The prompt includes cached tokens; what tools put into it, and thoughts, are counted apart. */
export function decodeUsage(usage: JsonObject): ChatUsage {
  const thoughts = countOf(usage.thoughtsTokenCount);
  return {
    inputTokens: countOf(usage.promptTokenCount) + countOf(usage.toolUsePromptTokenCount),
    outputTokens: countOf(usage.candidatesTokenCount) + thoughts,
    cacheReadTokens: countOf(usage.cachedContentTokenCount),
    cacheWriteTokens: 0,
    cacheWrite1hTokens: 0,
    reasoningTokens: thoughts,
    inputAudioTokens: inputOf('AUDIO', usage),
    outputAudioTokens: tokensOf('AUDIO', usage.candidatesTokensDetails),
    ...furtherKinds({
      inputImageTokens: inputOf('IMAGE', usage),
      outputImageTokens: tokensOf('IMAGE', usage.candidatesTokensDetails),
      inputVideoTokens: inputOf('VIDEO', usage),
      outputVideoTokens: tokensOf('VIDEO', usage.candidatesTokensDetails),
      cacheReadAudioTokens: tokensOf('AUDIO', usage.cacheTokensDetails),
      cacheReadImageTokens: tokensOf('IMAGE', usage.cacheTokensDetails),
    }),
  };
}

/** What callers sent, and what tools read for them. */
function inputOf(modality: string, usage: JsonObject): number {
  return (
    tokensOf(modality, usage.promptTokensDetails) +
    tokensOf(modality, usage.toolUsePromptTokensDetails)
  );
}

function tokensOf(modality: string, details: unknown): number {
  let total = 0;
  for (const value of arrayOf(details) ?? []) {
    const detail = objectOf(value);
    if (stringOf(detail?.modality) === modality) total += countOf(detail?.tokenCount);
  }
  return total;
}

export function encodeUsage(usage: ChatUsage): JsonObject {
  const body: JsonObject = {
    promptTokenCount: usage.inputTokens,
    candidatesTokenCount: Math.max(0, usage.outputTokens - usage.reasoningTokens),
    totalTokenCount: usage.inputTokens + usage.outputTokens,
  };
  if (usage.reasoningTokens > 0) body.thoughtsTokenCount = usage.reasoningTokens;
  if (usage.cacheReadTokens > 0) body.cachedContentTokenCount = usage.cacheReadTokens;
  if (usage.inputAudioTokens > 0)
    body.promptTokensDetails = [{ modality: 'AUDIO', tokenCount: usage.inputAudioTokens }];
  if (usage.outputAudioTokens > 0)
    body.candidatesTokensDetails = [{ modality: 'AUDIO', tokenCount: usage.outputAudioTokens }];
  return body;
}

/** The id of a call, where the provider gave none: the same reply always gets the same ids. */
export function callId(responseId: string | undefined, choice: number, call: number): string {
  const reply = (responseId ?? 'gemini').replace(/[^A-Za-z0-9_-]/g, '').slice(0, 24);
  return choice === 0 ? `call_${reply}_${call}` : `call_${reply}_${choice}_${call}`;
}
