import type { JsonObject } from '@sluice/contracts';
import { arrayOf, numberOf, objectOf, stringOf } from '../json/json-access.ts';
import { passThroughTranslation } from '../translation/pass-through.ts';
import { urlOfEndpoint } from './read-line.ts';
import type { RowDialect, RowEndpoint, VendorResult } from './row.ts';

const formats = {
  chatComplete: passThroughTranslation('openai-chat'),
  complete: passThroughTranslation('openai-completions'),
  embed: passThroughTranslation('openai-embeddings'),
  createModelResponse: passThroughTranslation('openai-responses'),
  messages: passThroughTranslation('anthropic-messages'),
};

/** OpenAI's own rows: Azure, Groq and others that speak them write the same. */
export const openAiRows: RowDialect = {
  endpoints: ['chatComplete', 'complete', 'embed', 'createModelResponse', 'messages'],
  translation: (endpoint) => formats[endpoint],
  write: ({ customId, endpoint }, body) => ({
    custom_id: customId,
    method: 'POST',
    url: urlOfEndpoint(endpoint),
    body,
  }),
  read: readOpenAiRow,
  endpointOf: (reply) => endpointOfReply(reply),
};

/** `{id, custom_id, response{status_code, request_id, body}, error}` */
export function readOpenAiRow(row: JsonObject): VendorResult | undefined {
  const customId = stringOf(row.custom_id);
  if (customId === undefined) return undefined;
  const response = objectOf(row.response);
  const error = objectOf(row.error);
  const reply = response?.body ?? undefined;
  return {
    customId,
    reply,
    status: numberOf(response?.status_code) ?? (reply === undefined ? 0 : 200),
    requestId: stringOf(response?.request_id) ?? '',
    error:
      error === undefined && reply !== undefined
        ? undefined
        : {
            code: stringOf(error?.code) ?? 'failed',
            message: stringOf(error?.message) ?? 'The provider gave no answer to this line.',
          },
  };
}

/** By what replies of OpenAI's endpoints call themselves. */
export function endpointOfReply(reply: JsonObject): RowEndpoint {
  const { object, type } = reply;
  if (object === 'response') return 'createModelResponse';
  if (object === 'text_completion') return 'complete';
  if (object === 'list') return 'embed';
  if (type === 'message' && arrayOf(reply.content) !== undefined) return 'messages';
  return 'chatComplete';
}
