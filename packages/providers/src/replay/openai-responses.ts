import type { JsonObject, JsonValue } from '@sluice/contracts';
import { arrayOf, objectOf, stringOf } from '../json/json-access.ts';
import { textPieces } from './pieces.ts';

interface Event {
  type: string;
  fields: JsonObject;
}

/** A response as its events; undefined when the JSON is not one that has ended well. */
export function replayResponse(reply: JsonObject): Buffer[] | undefined {
  const output = arrayOf(reply.output);
  const { status } = reply;
  if (output === undefined || (status !== 'completed' && status !== 'incomplete')) return undefined;
  const response: JsonObject = { ...reply, status: 'in_progress', output: [] };
  for (const field of unknownAtFirst) if (reply[field] !== undefined) response[field] = null;
  const events: Event[] = [
    { type: 'response.created', fields: { response } },
    { type: 'response.in_progress', fields: { response } },
    ...output.flatMap((item, index) => itemEvents(objectOf(item) ?? {}, index)),
    { type: `response.${status}`, fields: { response: reply } },
  ];
  return events.map(({ type, fields }, sequence_number) =>
    Buffer.from(
      `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number, ...fields })}\n\n`,
    ),
  );
}

const unknownAtFirst = ['completed_at', 'incomplete_details', 'usage'];

/** What an item begins with, its pieces, and the item. A kind we do not know is whole from the start. */
function itemEvents(item: JsonObject, output_index: number): Event[] {
  const place = { item_id: item.id ?? null, output_index };
  const { start, pieces } = itemPieces(item, place);
  return [
    { type: 'response.output_item.added', fields: { output_index, item: start } },
    ...pieces,
    { type: 'response.output_item.done', fields: { output_index, item } },
  ];
}

function itemPieces(item: JsonObject, place: JsonObject): { start: JsonObject; pieces: Event[] } {
  switch (item.type) {
    case 'message':
      return {
        start: { ...item, status: 'in_progress', content: [] },
        pieces: listOf(item.content).flatMap((part, content_index) =>
          contentEvents(part, { ...place, content_index }),
        ),
      };
    case 'reasoning':
      return reasoningPieces(item, place);
    case 'function_call':
      return {
        start: { ...item, status: 'in_progress', arguments: '' },
        pieces: callPieces('function_call_arguments', 'arguments', item, place),
      };
    case 'custom_tool_call':
      return {
        start: { ...item, input: '' },
        pieces: callPieces('custom_tool_call_input', 'input', item, place),
      };
    default:
      return { start: item, pieces: [] };
  }
}

function reasoningPieces(
  item: JsonObject,
  place: JsonObject,
): { start: JsonObject; pieces: Event[] } {
  const { encrypted_content: _, ...start } = item;
  const summary = listOf(item.summary).flatMap((part, summary_index) => {
    const at = { ...place, summary_index };
    return partEvents('reasoning_summary_part', 'reasoning_summary_text', 'text', part, at);
  });
  const content = listOf(item.content).flatMap((part, content_index) =>
    partEvents('content_part', 'reasoning_text', 'text', part, { ...place, content_index }),
  );
  const empty: JsonObject = item.content === undefined ? {} : { content: [] };
  const begun: JsonObject = item.status === undefined ? {} : { status: 'in_progress' };
  return {
    start: { ...start, ...begun, summary: [], ...empty },
    pieces: [...summary, ...content],
  };
}

function contentEvents(part: JsonObject, place: JsonObject): Event[] {
  if (part.type === 'refusal') return partEvents('content_part', 'refusal', 'refusal', part, place);
  return partEvents('content_part', 'output_text', 'text', part, place);
}

/** A part: empty at first, then its text in pieces, then whole. */
function partEvents(
  kind: string,
  told: string,
  field: 'text' | 'refusal',
  part: JsonObject,
  place: JsonObject,
): Event[] {
  const text = stringOf(part[field]) ?? '';
  const isText = told === 'output_text';
  // Probabilities belong to words: they come with the first ones there are.
  const logprobs = isText ? (arrayOf(part.logprobs) ?? []) : undefined;
  const none: JsonObject = logprobs === undefined ? {} : { logprobs: [] };
  const all: JsonObject = logprobs === undefined ? {} : { logprobs };
  const start = { ...part, [field]: '', ...(isText ? { annotations: [], logprobs: [] } : {}) };
  return [
    { type: `response.${kind}.added`, fields: { ...place, part: start } },
    ...textPieces(text).map(
      (delta, order): Event => ({
        type: `response.${told}.delta`,
        fields: { ...place, delta, ...(order === 0 ? all : none) },
      }),
    ),
    ...(isText ? annotationEvents(part.annotations, place) : []),
    { type: `response.${told}.done`, fields: { ...place, [field]: text, ...all } },
    { type: `response.${kind}.done`, fields: { ...place, part } },
  ];
}

function annotationEvents(annotations: JsonValue | undefined, place: JsonObject): Event[] {
  return (arrayOf(annotations) ?? []).map((annotation, annotation_index) => ({
    type: 'response.output_text.annotation.added',
    fields: { ...place, annotation_index, annotation },
  }));
}

function callPieces(
  told: string,
  field: 'arguments' | 'input',
  item: JsonObject,
  place: JsonObject,
): Event[] {
  const text = stringOf(item[field]) ?? '';
  const named: JsonObject = field === 'arguments' ? { name: item.name ?? '' } : {};
  return [
    ...textPieces(text).map(
      (delta): Event => ({ type: `response.${told}.delta`, fields: { ...place, delta } }),
    ),
    { type: `response.${told}.done`, fields: { ...place, ...named, [field]: text } },
  ];
}

function listOf(value: JsonValue | undefined): JsonObject[] {
  return (arrayOf(value) ?? []).map((part) => objectOf(part) ?? {});
}
