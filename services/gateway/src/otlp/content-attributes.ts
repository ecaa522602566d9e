import type { ChatRequest, JsonObject } from '@sluice/contracts';
import type { AttributeValue } from '@sluice/otlp';
import { readConversation } from '@sluice/providers';
import type { SegmentEntry } from '../content/segment.ts';
import { storedLogOf } from '../content/stored-log-of.ts';
import { inputMessages, outputMessages, systemInstructions } from './messages.ts';

type Attributes = Record<string, AttributeValue>;

/**
 * What was asked and answered, as far as it may be told: whoever made the segment
 * has decided that. Bodies that were cut, and those that are not chats, have no messages.
 */
export function contentAttributes(entry: SegmentEntry): Attributes {
  const { streamFormat: format } = entry.head;
  const log = storedLogOf(entry);
  const asked = log.request.body as JsonObject | undefined;
  const answered = log.response.body as JsonObject | undefined;
  if (format === undefined) return {};
  if (format === 'openai-embeddings') return embeddingAttributes(asked);
  const { request, reply } = readConversation(format, asked, answered);
  const instructions = request === undefined ? [] : systemInstructions(request);
  return {
    ...(request !== undefined && requestAttributes(request)),
    ...(request !== undefined && { 'gen_ai.input.messages': asJson(inputMessages(request)) }),
    'gen_ai.system_instructions': asJson(instructions),
    'gen_ai.tool.definitions': asJson(toolsOf(request)),
    'gen_ai.conversation.id': conversationOf(asked),
    ...(reply !== undefined && {
      'gen_ai.response.id': reply.id,
      'gen_ai.output.messages': asJson(outputMessages(reply)),
    }),
  };
}

function requestAttributes(request: ChatRequest): Attributes {
  const { choices, responseFormat } = request;
  return {
    'gen_ai.request.max_tokens': request.outputTokensMax,
    'gen_ai.request.temperature': request.temperature,
    'gen_ai.request.top_p': request.topP,
    'gen_ai.request.top_k': request.topK,
    'gen_ai.request.stop_sequences': request.stop,
    'gen_ai.request.frequency_penalty': request.frequencyPenalty,
    'gen_ai.request.presence_penalty': request.presencePenalty,
    'gen_ai.request.seed': request.seed,
    'gen_ai.request.choice.count': choices === 1 ? undefined : choices,
    'gen_ai.request.reasoning.level': request.reasoning?.effort,
    'gen_ai.output.type':
      responseFormat === undefined ? undefined : responseFormat.type === 'text' ? 'text' : 'json',
  };
}

function embeddingAttributes(asked: JsonObject | undefined): Attributes {
  const { dimensions, encoding_format: format } = asked ?? {};
  return {
    'gen_ai.embeddings.dimension.count': typeof dimensions === 'number' ? dimensions : undefined,
    'gen_ai.request.encoding_formats': typeof format === 'string' ? [format] : undefined,
  };
}

/** Names and kinds: descriptions and schemas are long, and the same each time. */
function toolsOf(request: ChatRequest | undefined): readonly object[] {
  return (request?.tools ?? []).map((tool) =>
    tool.type === 'function'
      ? { type: 'function', name: tool.name }
      : { type: String(tool.value.type ?? tool.type), name: String(tool.value.name ?? '') },
  );
}

/** Of OpenAI's responses: by its id, or as the object that has one. */
function conversationOf(asked: JsonObject | undefined): string | undefined {
  const { conversation } = asked ?? {};
  if (typeof conversation === 'string') return conversation;
  if (typeof conversation !== 'object' || conversation === null || Array.isArray(conversation))
    return undefined;
  return typeof conversation.id === 'string' ? conversation.id : undefined;
}

/** The conventions take structures as JSON text where receivers know texts only, as most do. */
function asJson(list: readonly object[]): string | undefined {
  return list.length === 0 ? undefined : JSON.stringify(list);
}
