import type { JsonObject, JsonValue } from '@sluice/contracts';
import { objectOf, stringOf } from '../../json/json-access.ts';

/** Something that was said in a session, for whoever judges texts. */
export interface Said {
  readonly by: 'caller' | 'model';
  readonly text: string;
  /** Of the conversation; undefined = it is in none. */
  readonly itemId: string | undefined;
}

/** Members that hold sounds, pictures and names, and nothing that a model reads as words. */
const wordless: ReadonlySet<string> = new Set([
  'audio',
  'image_url',
  'type',
  'id',
  'event_id',
  'item_id',
  'previous_item_id',
  'previous_response_id',
  'call_id',
  'object',
  'status',
  'role',
  'model',
  'voice',
]);
const textLengthMax = 1_000_000;

/** All words of a caller's event, whatever it is, one text after the other; empty = it has none. */
export function wordsOfEvent(event: JsonObject): string {
  const texts: string[] = [];
  collect(event, texts);
  return texts.join('\n').slice(0, textLengthMax);
}

function collect(value: JsonValue | undefined, texts: string[]): void {
  if (typeof value === 'string') {
    if (value !== '') texts.push(value);
  } else if (Array.isArray(value)) for (const item of value) collect(item, texts);
  else if (typeof value === 'object' && value !== null)
    for (const name of Object.keys(value)) if (!wordless.has(name)) collect(value[name], texts);
}

const byModel = (text: JsonValue | undefined, { item_id }: JsonObject): Said | undefined =>
  said('model', text, item_id);

const readers: ReadonlyMap<string, (event: JsonObject) => Said | undefined> = new Map([
  ['response.output_text.done', (event: JsonObject) => byModel(event.text, event)],
  ['response.text.done', (event: JsonObject) => byModel(event.text, event)],
  [
    'response.output_audio_transcript.done',
    (event: JsonObject) => byModel(event.transcript, event),
  ],
  ['response.audio_transcript.done', (event: JsonObject) => byModel(event.transcript, event)],
  ['response.function_call_arguments.done', (event: JsonObject) => byModel(event.arguments, event)],
  ['response.mcp_call_arguments.done', (event: JsonObject) => byModel(event.arguments, event)],
  [
    'conversation.item.input_audio_transcription.completed',
    ({ transcript, item_id }: JsonObject) => said('caller', transcript, item_id),
  ],
  ['response.completed', ofResponse],
  ['response.incomplete', ofResponse],
]);

/** What only who listens beside a call needs: over a WebSocket it was read when the caller said it. */
const besideCalls: ReadonlyMap<string, (event: JsonObject) => Said | undefined> = new Map([
  ['conversation.item.added', ofItem],
  ['conversation.item.created', ofItem],
  ['session.updated', ({ session }: JsonObject) => said('caller', objectOf(session)?.instructions)],
]);

/** Whether an event of the provider's can tell what was said. */
export function tellsWords(type: string, isBesideCall: boolean): boolean {
  return readers.has(type) || (isBesideCall && besideCalls.has(type));
}

export function wordsTold(
  type: string,
  event: JsonObject,
  isBesideCall: boolean,
): Said | undefined {
  return (readers.get(type) ?? (isBesideCall ? besideCalls.get(type) : undefined))?.(event);
}

function ofResponse({ response }: JsonObject): Said | undefined {
  return said('model', wordsOfEvent({ output: objectOf(response)?.output ?? null }));
}

function ofItem({ item }: JsonObject): Said | undefined {
  const { role, id, content, output } = objectOf(item) ?? {};
  if (role === 'assistant') return undefined;
  return said('caller', wordsOfEvent({ content: content ?? null, output: output ?? null }), id);
}

function said(
  by: Said['by'],
  text: JsonValue | undefined,
  itemId?: JsonValue | undefined,
): Said | undefined {
  return typeof text !== 'string' || text === ''
    ? undefined
    : { by, text: text.slice(0, textLengthMax), itemId: stringOf(itemId) };
}
