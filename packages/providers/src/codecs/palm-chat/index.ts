/**
 * Chat of Google's PaLM models, as an upstream: turns of text, answered whole.
 * https://ai.google.dev/api/palm, before its retirement.
 */
import type { ChatMessage, ChatReply, ChatRequest, JsonObject } from '@sluice/contracts';
import type { EncodedRequest } from '../../contract.ts';
import { readVendorError } from '../../errors/read-vendor-error.ts';
import { invalidField } from '../../json/invalid-field.ts';
import { arrayOf, compact, objectOf, stringOf } from '../../json/json-access.ts';
import type { UpstreamCodec } from '../chat-codec.ts';
import { partName } from '../part-name.ts';

const formatName = 'palm-chat';
const choicesMax = 8;

export const palmChat: UpstreamCodec = {
  format: formatName,
  encodeRequest,
  decodeReply,
  decodeError: readVendorError,
};

function encodeRequest(request: ChatRequest): EncodedRequest & { body: JsonObject } {
  if ((request.choices ?? 1) > choicesMax) throw invalidField('n', `must be ${choicesMax} at most`);
  const dropped = droppedFields(request);
  const context: string[] = [];
  const messages: JsonObject[] = [];
  for (const message of request.messages) {
    const content = textOf(message, dropped);
    if (message.role === 'system' || message.role === 'developer') context.push(content);
    else messages.push({ author: message.role === 'assistant' ? '1' : '0', content });
  }
  const prompt: JsonObject = { messages };
  if (context.length > 0) prompt.context = context.join('\n');
  const body = compact<Record<string, unknown>>({
    prompt,
    temperature: request.temperature,
    topP: request.topP,
    topK: request.topK,
    candidateCount: request.choices,
  });
  return { body: body as JsonObject, dropped };
}

function droppedFields(request: ChatRequest): string[] {
  const candidates: [string, unknown][] = [
    ['max_tokens', request.outputTokensMax],
    ['stop', request.stop],
    ['seed', request.seed],
    ['frequency_penalty', request.frequencyPenalty],
    ['presence_penalty', request.presencePenalty],
    ['logit_bias', request.logitBias],
    ['logprobs', request.logprobs],
    ['tools', request.tools],
    ['tool_choice', request.toolChoice],
    ['response_format', request.responseFormat],
    ['reasoning_effort', request.reasoning],
    ['user', request.user],
    ['service_tier', request.serviceTier],
  ];
  const names = candidates.filter(([, value]) => value !== undefined).map(([name]) => name);
  return [...names, ...Object.keys(request.extensions.fields)];
}

function textOf(message: ChatMessage, dropped: string[]): string {
  const texts: string[] = [];
  for (const part of message.parts) {
    if (part.type === 'text') texts.push(part.text);
    else dropped.push(`${message.path}.${partName(part)}`);
  }
  return texts.join('\n');
}

/** An answer that was held back has no candidates but says why. */
function decodeReply(body: JsonObject): ChatReply | undefined {
  const candidates = arrayOf(body.candidates);
  const filters = arrayOf(body.filters);
  if (candidates === undefined && filters === undefined) return undefined;
  const choices = (candidates ?? []).map((value, index) => {
    const text = stringOf(objectOf(value)?.content) ?? '';
    return { index, parts: [{ type: 'text' as const, text }], finishReason: 'stop' as const };
  });
  const raw = stringOf(objectOf(filters?.[0])?.reason) ?? 'OTHER';
  return {
    choices:
      choices.length > 0
        ? choices
        : [{ index: 0, parts: [], finishReason: 'content-filter', rawFinishReason: raw }],
    extensions: { format: formatName, fields: {} },
  };
}
