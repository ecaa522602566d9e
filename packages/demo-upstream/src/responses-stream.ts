import type { AnswerText } from './answer-text.ts';
import type { JsonObject } from './protocol.ts';

/** One item of the output before it is written. */
export type DemoItem =
  | { kind: 'thought'; summary: string | undefined; encrypted: string | undefined }
  | { kind: 'text'; answer: AnswerText }
  | { kind: 'call'; name: string; namespace?: string; arguments: string };

interface Event {
  type: string;
  fields: JsonObject;
}

/** A response as its events, in the order in which the vendor sends them. */
export function* streamResponse(response: JsonObject, items: DemoItem[]): Generator<string> {
  const output = response.output as JsonObject[];
  const started = unfinished(response, 'in_progress');
  let sequence = 0;
  const write = ({ type, fields }: Event): string =>
    `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence++, ...fields })}\n\n`;
  if (response.background === true) {
    const queued = unfinished(response, 'queued');
    yield write({ type: 'response.created', fields: { response: queued } });
    yield write({ type: 'response.queued', fields: { response: queued } });
  } else yield write({ type: 'response.created', fields: { response: started } });
  yield write({ type: 'response.in_progress', fields: { response: started } });
  for (const [index, item] of items.entries())
    for (const event of itemEvents(item, output[index] as JsonObject, index)) yield write(event);
  yield write({ type: `response.${response.status}`, fields: { response } });
}

/** A response of which nothing is there yet. */
export function unfinished(
  response: JsonObject,
  status: 'queued' | 'in_progress' | 'cancelled',
): JsonObject {
  return {
    ...response,
    status,
    error: null,
    output: [],
    usage: null,
    completed_at: null,
    incomplete_details: null,
  };
}

function* itemEvents(item: DemoItem, whole: JsonObject, output_index: number): Generator<Event> {
  yield { type: 'response.output_item.added', fields: { output_index, item: opened(whole) } };
  const place = { item_id: whole.id, output_index };
  if (item.kind === 'text') yield* textEvents(item.answer.pieces, whole, place);
  else if (item.kind === 'call') yield* callEvents(item, place);
  else if (item.summary !== undefined) yield* summaryEvents(item.summary, place);
  yield { type: 'response.output_item.done', fields: { output_index, item: whole } };
}

function opened(whole: JsonObject): JsonObject {
  if (whole.type === 'message') return { ...whole, status: 'in_progress', content: [] };
  if (whole.type === 'function_call') return { ...whole, status: 'in_progress', arguments: '' };
  const { encrypted_content: _, ...rest } = whole;
  return { ...rest, summary: [] };
}

function* textEvents(
  pieces: readonly string[],
  whole: JsonObject,
  item: JsonObject,
): Generator<Event> {
  const place = { ...item, content_index: 0 };
  const [part] = whole.content as JsonObject[];
  yield { type: 'response.content_part.added', fields: { ...place, part: { ...part, text: '' } } };
  for (const delta of pieces)
    yield { type: 'response.output_text.delta', fields: { ...place, delta, logprobs: [] } };
  const text = pieces.join('');
  yield { type: 'response.output_text.done', fields: { ...place, text, logprobs: [] } };
  yield { type: 'response.content_part.done', fields: { ...place, part } };
}

function* callEvents(
  call: { name: string; arguments: string },
  place: JsonObject,
): Generator<Event> {
  for (const delta of call.arguments.match(/[\s\S]{1,12}/g) ?? [])
    yield { type: 'response.function_call_arguments.delta', fields: { ...place, delta } };
  const fields = { ...place, name: call.name, arguments: call.arguments };
  yield { type: 'response.function_call_arguments.done', fields };
}

function* summaryEvents(text: string, item: JsonObject): Generator<Event> {
  const place = { ...item, summary_index: 0 };
  const part = (said: string) => ({ type: 'summary_text', text: said });
  yield { type: 'response.reasoning_summary_part.added', fields: { ...place, part: part('') } };
  for (const delta of text.match(/\s*\S+/g) ?? [])
    yield { type: 'response.reasoning_summary_text.delta', fields: { ...place, delta } };
  yield { type: 'response.reasoning_summary_text.done', fields: { ...place, text } };
  yield { type: 'response.reasoning_summary_part.done', fields: { ...place, part: part(text) } };
}
