import type { JsonObject } from '@sluice/contracts';
import { arrayOf, objectOf, stringOf } from '../json/json-access.ts';
import { openAiChunks, type ReplayOptions } from './openai-chunks.ts';
import { textPieces } from './pieces.ts';

/** A completion as its chunks; undefined when the JSON has no choices. */
export function replayCompletion(reply: JsonObject, options: ReplayOptions): Buffer[] | undefined {
  const choices = arrayOf(reply.choices);
  if (choices === undefined) return undefined;
  const chunks = choices.flatMap((value, position) => choiceChunks(objectOf(value), position));
  return openAiChunks(reply, 'text_completion', chunks, options);
}

function choiceChunks(choice: JsonObject | undefined, position: number): JsonObject[] {
  const { text, index = position, logprobs = null, finish_reason, ...rest } = choice ?? {};
  const pieces = textPieces(stringOf(text) ?? '');
  const chunks = pieces.map(
    (piece, order): JsonObject => ({
      text: piece,
      index,
      logprobs: order === 0 ? logprobs : null,
      finish_reason: null,
    }),
  );
  const last: JsonObject = { ...rest, text: '', index, finish_reason: finish_reason ?? 'stop' };
  return [...chunks, { ...last, logprobs: pieces.length === 0 ? logprobs : null }];
}
