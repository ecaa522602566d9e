import type { AnsweringFormat, CallerFormat, CheckedFormat } from '@sluice/contracts';
import { anthropicMessagesTexts } from './anthropic-messages.ts';
import { openAiChatTexts } from './openai-chat.ts';
import { openAiCompletionsTexts } from './openai-completions.ts';
import { openAiEmbeddingsTexts } from './openai-embeddings.ts';
import { openAiResponsesTexts } from './openai-responses.ts';
import type { AnswerFormat, TextFormat } from './text-format.ts';

/** One for each format whose answers hooks may see: the operations say which. */
export const answerFormats: Readonly<Record<AnsweringFormat, AnswerFormat>> = {
  'openai-chat': openAiChatTexts,
  'openai-completions': openAiCompletionsTexts,
  'openai-responses': openAiResponsesTexts,
  'anthropic-messages': anthropicMessagesTexts,
};

/** One for each format whose requests hooks may see. */
export const textFormats: Readonly<Record<CheckedFormat, TextFormat>> = {
  ...answerFormats,
  'openai-embeddings': openAiEmbeddingsTexts,
};

/** Undefined where nothing is a text to hooks. */
export function textFormat(format: CallerFormat): TextFormat | undefined {
  return (textFormats as Partial<Record<CallerFormat, TextFormat>>)[format];
}

export function answerFormat(format: CallerFormat): AnswerFormat | undefined {
  return (answerFormats as Partial<Record<CallerFormat, AnswerFormat>>)[format];
}
