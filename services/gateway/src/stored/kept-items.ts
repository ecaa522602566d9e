import { randomBytes } from 'node:crypto';
import { isObject } from '@sluice/mcp';
import { isItemOfOurs, type JsonObject, type JsonValue } from '@sluice/providers';
import { isOwnToolItem } from '../exchange/own-tool-items.ts';

/** Of items whose senders gave them none: nobody else has such an id, and no provider is shown it. */
const madePrefix = 'item_svc_';

/** An item that was referred to by an id under which its provider may not be shown it, kept so that it is found by that again. */
export function keptUnder(id: string, item: JsonObject): JsonObject {
  return item.id === undefined ? { id: `${madePrefix}${id}`, ...item } : item;
}

/** The ids that an item is referred to by. */
export function idsOf({ id }: JsonObject): string[] {
  if (typeof id !== 'string') return [];
  return id.startsWith(madePrefix) ? [id, id.slice(madePrefix.length)] : [id];
}

/** What was sent, as items that can be listed: each with an id. */
export function itemsOfInput(input: JsonValue | undefined): JsonObject[] {
  if (typeof input === 'string')
    return [withId({ type: 'message', role: 'user', content: [textPart(input)] })];
  return Array.isArray(input) ? input.filter(isObject).map(listed) : [];
}

/** With the type that callers may leave out, and the content that they may write as a text. */
function listed(item: JsonObject): JsonObject {
  const { type = 'message', content, role } = item;
  if (type !== 'message' || typeof content !== 'string') return withId({ ...item, type });
  const part =
    role === 'assistant' ? { ...textPart(content), type: 'output_text' } : textPart(content);
  return withId({ ...item, type, content: [part] });
}

function textPart(text: string): JsonObject {
  return { type: 'input_text', text };
}

function withId(item: JsonObject): JsonObject {
  const { id, ...rest } = item;
  return {
    id:
      typeof id === 'string' && id !== '' ? id : `${madePrefix}${randomBytes(16).toString('hex')}`,
    ...(rest.type === 'message' && { status: 'completed' }),
    ...rest,
  };
}

/** What a response answered, as the next one is told it. */
export function itemsOfOutput(response: JsonObject): JsonObject[] {
  return itemsAnswered(response).flatMap(({ item }) => (item === undefined ? [] : [item]));
}

/** Each item that a response answered, by the id that its caller was told, as the next response is told it; undefined = it is lost. */
export function itemsAnswered({
  output,
}: JsonObject): { id: JsonValue | undefined; item: JsonObject | undefined }[] {
  const items = Array.isArray(output) ? output.filter(isObject) : [];
  if (!items.some(isLost)) return items.map((item) => ({ id: item.id, item }));
  // Their provider would ask for the thought that each of them came from.
  const told = (item: JsonObject) =>
    isItemOfOurs(textOf(item.id)) || isOwnToolItem(item) ? item : withoutId(item);
  return items.map((item) => ({ id: item.id, item: isLost(item) ? undefined : told(item) }));
}

/** A thought that only its provider could have kept, by its id. */
function isLost({ type, id, encrypted_content: sealed }: JsonObject): boolean {
  return type === 'reasoning' && typeof sealed !== 'string' && !isItemOfOurs(textOf(id));
}

/** Items as a provider is sent them; references to those before them are what they refer to. */
export function itemsToSend(
  context: readonly JsonObject[],
  input: JsonValue | undefined,
): JsonValue[] {
  const own: JsonValue =
    typeof input === 'string' ? [{ role: 'user', content: input }] : (input ?? []);
  // Of earlier turns too: they are kept as they were written.
  const byId = new Map(
    context.filter((item) => item.type !== 'item_reference').map((item) => [item.id, item]),
  );
  return [...context, ...(Array.isArray(own) ? own : [own])]
    .map((item) =>
      isObject(item) && item.type === 'item_reference' ? (byId.get(item.id) ?? item) : item,
    )
    .map((item) =>
      isObject(item) && textOf(item.id)?.startsWith(madePrefix) === true ? withoutId(item) : item,
    );
}

function withoutId({ id: _id, ...item }: JsonObject): JsonObject {
  return item;
}

function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
