import type { JsonObject } from '@sluice/contracts';
import { objectOf, stringOf } from '../../json/json-access.ts';

/** What an event of the provider's does to the conversation of its session. */
export type ItemEvent =
  /** Undefined `after` = it is not said; null = it is the first. */
  | { readonly kind: 'is'; readonly item: JsonObject; readonly after: string | null | undefined }
  | { readonly kind: 'said'; readonly itemId: string; readonly transcript: string }
  | { readonly kind: 'gone'; readonly itemId: string };

const readers: ReadonlyMap<string, (event: JsonObject) => ItemEvent | undefined> = new Map([
  // The first is xAI's and today's, the second that of the beta, the third tells what the item has become.
  ['conversation.item.added', itemIs],
  ['conversation.item.created', itemIs],
  ['conversation.item.done', itemIs],
  ['conversation.item.deleted', ({ item_id }: JsonObject) => gone(stringOf(item_id))],
  [
    'conversation.item.input_audio_transcription.completed',
    ({ item_id, transcript }: JsonObject) => said(stringOf(item_id), stringOf(transcript)),
  ],
]);

/** Whether an event of this type tells of the conversation. */
export function tellsItem(type: string): boolean {
  return readers.has(type);
}

export function itemTold(type: string, event: JsonObject): ItemEvent | undefined {
  return readers.get(type)?.(event);
}

function itemIs({ item: told, previous_item_id: previous }: JsonObject): ItemEvent | undefined {
  const item = objectOf(told);
  if (item === undefined) return undefined;
  return { kind: 'is', item, after: previous === null ? null : stringOf(previous) };
}

function gone(itemId: string | undefined): ItemEvent | undefined {
  return itemId === undefined ? undefined : { kind: 'gone', itemId };
}

function said(itemId: string | undefined, transcript: string | undefined): ItemEvent | undefined {
  return itemId === undefined || transcript === undefined
    ? undefined
    : { kind: 'said', itemId, transcript };
}
