/**
 * A whole reply told as a stream, for a caller that wants one where only the
 * JSON is at hand. `assemble/` goes the other way; the two are inverse.
 */
import type { JsonObject, StreamableFormat } from '@sluice/contracts';
import { replayMessage } from './anthropic-messages.ts';
import { replayChat } from './openai-chat.ts';
import type { ReplayOptions } from './openai-chunks.ts';
import { replayCompletion } from './openai-completions.ts';
import { replayResponse } from './openai-responses.ts';

const replayers: Record<
  StreamableFormat,
  (reply: JsonObject, options: ReplayOptions) => Buffer[] | undefined
> = {
  'openai-chat': replayChat,
  'openai-completions': replayCompletion,
  'openai-responses': replayResponse,
  'anthropic-messages': replayMessage,
};

/** One buffer an event, the terminal event last; undefined when the JSON is not the format's reply. */
export function replayAsStream(
  format: StreamableFormat,
  reply: JsonObject,
  options: ReplayOptions,
): Buffer[] | undefined {
  return replayers[format](reply, options);
}
