import { invalidType, missing } from '../openai-vendor.ts';
import { isObject, type JsonObject, VendorFault } from '../protocol.ts';
import { type Item, itemPage, listedItems, listOf } from './items.ts';
import { Kept } from './kept.ts';

export interface Conversation {
  readonly id: string;
  readonly createdAtS: number;
  metadata: JsonObject;
  items: readonly Item[];
  /** What is being said in the background: undefined while it is, none where it came to nothing. */
  pending: (() => readonly Item[] | undefined) | undefined;
}

/** Of one request, as the vendor has it. */
const itemsMax = 20;
const metadataMax = { members: 16, key: 64, value: 512 };
const conversationsMax = { count: 1000, bytes: 32 * 1024 * 1024 };
export const saidBytesMax = 8 * 1024 * 1024;

/** As OpenAI's, in memory: https://platform.openai.com/docs/api-reference/conversations */
export class DemoConversations {
  readonly #conversations = new Kept<Conversation>(conversationsMax);
  readonly #now: () => number;
  readonly #newId: () => string;

  /** @param newId without a prefix */
  constructor(now: () => number, newId: () => string) {
    this.#now = now;
    this.#newId = newId;
  }

  /** @throws VendorFault 404, and 400 while something is said in it in the background */
  open(id: string): Conversation {
    const conversation = this.#find(id);
    if (conversation.pending !== undefined)
      throw new VendorFault(
        400,
        'Another process is currently operating on this conversation. Please retry in a few seconds.',
        { param: 'conversation', code: 'conversation_locked' },
      );
    return conversation;
  }

  /** Of one that is not there any more nothing is kept. */
  append(id: string, items: readonly Item[]): void {
    const conversation = this.#conversations.get(id);
    if (conversation !== undefined) this.#put(conversation, [...conversation.items, ...items]);
  }

  /** @param said once it has ended */
  await(id: string, said: () => readonly Item[] | undefined): void {
    this.#find(id).pending = said;
  }

  /** @throws VendorFault */
  answer(
    method: string,
    [id, part, itemId]: readonly (string | undefined)[],
    body: JsonObject,
    query: URLSearchParams,
  ): JsonObject | undefined {
    if (id === undefined) return method === 'POST' ? this.#create(body) : undefined;
    if (part === undefined) return this.#ofOne(method, id, body);
    if (part !== 'items') return undefined;
    if (itemId !== undefined) return this.#ofItem(method, id, itemId);
    if (method === 'GET') return itemPage(this.#find(id).items, query);
    return method === 'POST' ? this.#add(id, body) : undefined;
  }

  #create({ items = [], metadata }: JsonObject): JsonObject {
    const madeOf = this.#newId();
    const conversation: Conversation = {
      id: `conv_demo${madeOf}`,
      createdAtS: Math.floor(this.#now() / 1000),
      metadata: readMetadata(metadata),
      items: [],
      pending: undefined,
    };
    this.#put(conversation, listedItems(readItems(items ?? []), madeOf));
    return present(conversation);
  }

  #ofOne(method: string, id: string, body: JsonObject): JsonObject | undefined {
    const conversation = this.#find(id);
    switch (method) {
      case 'GET':
        return present(conversation);
      case 'POST':
        if (body.metadata === undefined) throw missing('metadata');
        conversation.metadata = readMetadata(body.metadata);
        return present(conversation);
      case 'DELETE':
        this.#conversations.delete(id);
        return { id, object: 'conversation.deleted', deleted: true };
      default:
        return undefined;
    }
  }

  #add(id: string, { items }: JsonObject): JsonObject {
    if (items === undefined) throw missing('items');
    const conversation = this.open(id);
    const added = listedItems(readItems(items), this.#newId());
    this.#put(conversation, [...conversation.items, ...added]);
    return listOf(added, false);
  }

  #ofItem(method: string, id: string, itemId: string): JsonObject | undefined {
    const conversation = method === 'DELETE' ? this.open(id) : this.#find(id);
    const item = conversation.items.find((one) => one.id === itemId);
    if (item === undefined) throw new VendorFault(404, `Item with id '${itemId}' not found.`);
    if (method === 'GET') return item;
    if (method !== 'DELETE') return undefined;
    this.#put(
      conversation,
      conversation.items.filter((one) => one.id !== itemId),
    );
    return present(conversation);
  }

  #find(id: string): Conversation {
    const conversation = this.#conversations.get(id);
    if (conversation === undefined)
      throw new VendorFault(404, `Conversation with id '${id}' not found.`);
    const said = conversation.pending?.();
    if (said !== undefined) {
      conversation.pending = undefined;
      this.#put(conversation, [...conversation.items, ...said]);
    }
    return conversation;
  }

  #put(conversation: Conversation, items: readonly Item[]): void {
    const bytes = JSON.stringify(items).length;
    if (bytes > saidBytesMax) throw tooLong('items');
    conversation.items = items;
    this.#conversations.set(conversation.id, conversation, bytes);
  }
}

export function tooLong(param: string): VendorFault {
  const message = 'Your input exceeds the context window of this model. Please adjust your input.';
  return new VendorFault(400, message, { param, code: 'context_length_exceeded' });
}

function present({ id, createdAtS, metadata }: Conversation): JsonObject {
  return { id, object: 'conversation', created_at: createdAtS, metadata };
}

function readItems(items: unknown): JsonObject[] {
  if (!Array.isArray(items)) throw invalidType('items', 'an array of items', items);
  if (items.length > itemsMax)
    throw new VendorFault(
      400,
      `Invalid 'items': array too long. Expected an array with maximum length ${itemsMax}, but got an array with length ${items.length} instead.`,
      { param: 'items', code: 'array_above_max_length' },
    );
  for (const [index, item] of items.entries())
    if (!isObject(item)) throw invalidType(`items[${index}]`, 'an object', item);
  return items as JsonObject[];
}

function readMetadata(metadata: unknown): JsonObject {
  if (metadata === undefined || metadata === null) return {};
  if (!isObject(metadata)) throw invalidType('metadata', 'an object', metadata);
  const { members, key: keyMax, value: valueMax } = metadataMax;
  const entries = Object.entries(metadata);
  if (entries.length > members)
    throw new VendorFault(400, `Invalid 'metadata': too many properties, ${members} at most.`, {
      param: 'metadata',
      code: 'object_above_max_properties',
    });
  for (const [key, value] of entries) {
    const param = `metadata.${key.slice(0, keyMax)}`;
    if (typeof value !== 'string') throw invalidType(param, 'a string', value);
    if (key.length > keyMax || value.length > valueMax)
      throw new VendorFault(400, `Invalid '${param}': string too long.`, {
        param,
        code: 'string_above_max_length',
      });
  }
  return metadata;
}
