import type { JsonObject } from '@sluice/contracts';
import type { ProviderEntry } from '../../contract.ts';
import { decodeRequest } from '../openai-chat/decode-request.ts';
import { encodeRequest } from './encode-request.ts';

/**
 * The same request for a conversation in the words of responses, for those who
 * ask there with what was saved for chat completions. What is to be kept where is
 * not the saved one's to say.
 * @throws GatewayError `request.invalid_field` when it is no request of chat completions
 */
export function responsesRequestOf(chat: JsonObject, provider: ProviderEntry): JsonObject {
  const { request } = decodeRequest(chat);
  const context = {
    provider,
    model: request.model,
    stream: false,
    setting: () => undefined,
    request: chat,
    strictOpenAiCompliance: true,
    nowMs: 0,
  };
  const { store: _store, include: _include, ...body } = encodeRequest(request, context).body;
  return body;
}
