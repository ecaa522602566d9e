import type { JsonObject } from '@sluice/contracts';
import type { SseEvent } from '../framing/sse.ts';
import { arrayOf, objectOf, parseObject } from '../json/json-access.ts';

/** Events → response, which the last one repeats whole; undefined when there was no good end. */
export function assembleResponse(events: SseEvent[]): JsonObject | undefined {
  let whole: JsonObject | undefined;
  let items = 0;
  for (const { data } of events) {
    if (data.trim() === '' || data.trim() === '[DONE]') continue;
    const event = parseObject(data);
    // What is told beside the response, or after its end, would not be in its JSON.
    if (typeof event?.type !== 'string' || whole !== undefined) return undefined;
    if (event.type === 'error' || event.type === 'response.failed') return undefined;
    if (event.type === 'response.output_item.done') items++;
    if (event.type === 'response.completed' || event.type === 'response.incomplete')
      whole = objectOf(event.response);
  }
  // Some compatible servers leave the last one without what came before it.
  return arrayOf(whole?.output)?.length === items ? whole : undefined;
}
