import type { JsonObject } from '@sluice/contracts';
import type { SseEvent } from '../framing/sse.ts';
import { GatheredFields } from './fields.ts';
import { assembleChunks, type ChunkOptions } from './openai-chunks.ts';

/** Chunks → completion; undefined when that would not be faithful. */
export function assembleCompletion(
  events: SseEvent[],
  options: ChunkOptions,
): JsonObject | undefined {
  return assembleChunks(events, 'text_completion', assembleChoice, options);
}

function assembleChoice(chunks: JsonObject[], index: number): JsonObject | undefined {
  const fields = new GatheredFields();
  fields.append('text', '');
  for (const chunk of chunks)
    for (const key in chunk) {
      const value = chunk[key];
      if (key === 'index' || value === undefined) continue;
      const taken =
        key === 'text'
          ? fields.append(key, value)
          : key === 'logprobs'
            ? fields.extendLists(key, value)
            : fields.same(key, value);
      if (!taken) return undefined;
    }
  const { text, logprobs = null, ...rest } = fields.values;
  return { text, index, logprobs, ...rest } as JsonObject;
}
