import type { SseEvent } from './sse.ts';

/**
 * The events of a stream that ends each with a line end alone, where a blank
 * line belongs: read by the rules they are the lines of one. JSON that is
 * spread over lines does not have a whole object in each.
 */
export function separateEvents(events: readonly SseEvent[]): readonly SseEvent[] {
  return events.some(isJoined) ? events.flatMap(linesOf) : events;
}

function isJoined({ data }: SseEvent): boolean {
  return data.includes('\n') && data.split('\n').every(isWhole);
}

function isWhole(line: string): boolean {
  const text = line.trim();
  return text === '' || text === '[DONE]' || (text.startsWith('{') && text.endsWith('}'));
}

function linesOf(event: SseEvent): SseEvent[] {
  if (!isJoined(event)) return [event];
  return event.data.split('\n').map((data) => ({ ...event, data }));
}
