/**
 * A whole stream put together to the JSON that the same request without
 * `stream` would have had. It works on the wire itself, not through the chat
 * model, so that fields unknown here survive; where a part cannot be carried
 * over faithfully there is no JSON. `replay/` goes the other way.
 */
import type { JsonObject, StreamableFormat } from '@sluice/contracts';
import { parseSseEvents, type SseEvent } from '../framing/sse.ts';
import { assembleMessage } from './anthropic-messages.ts';
import { assembleChat } from './openai-chat.ts';
import type { ChunkOptions } from './openai-chunks.ts';
import { assembleCompletion } from './openai-completions.ts';
import { assembleResponse } from './openai-responses.ts';

const assemblers: Record<
  StreamableFormat,
  (events: SseEvent[], options: ChunkOptions) => JsonObject | undefined
> = {
  'openai-chat': assembleChat,
  'openai-completions': assembleCompletion,
  'openai-responses': assembleResponse,
  'anthropic-messages': assembleMessage,
};

/**
 * Undefined when the stream is not whole, says something that the JSON could
 * not, or does not say what the JSON must (OpenAI's formats: the usage).
 */
export function assembleStream(
  format: StreamableFormat,
  stream: Buffer,
  options: ChunkOptions = {},
): JsonObject | undefined {
  return assemblers[format](parseSseEvents(stream), options);
}
