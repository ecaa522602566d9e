import { randomUUID } from 'node:crypto';
import { storedId } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import { isObject } from '@sluice/mcp';
import type { JsonObject, JsonValue } from '@sluice/providers';
import type { ArrivedRequest } from '../exchange/arrived-request.ts';
import type { Reply } from '../exchange/reply.ts';
import { parseJsonBody } from '../http/json-body.ts';
import type { StoredOwner } from './files.ts';
import { itemsOfInput } from './kept-items.ts';
import { type KeptConversation, type KeptStore, keptUuid } from './kept-store.ts';
import { readMetadata } from './metadata.ts';
import { presentPage } from './present.ts';
import { jsonReply } from './requests.ts';

/** Of one request, as the vendor has it. */
const itemsMax = 20;

const nameOf = (id: string, { workspaceId }: StoredOwner) =>
  ({ kind: 'conversation', workspaceId, id: keptUuid('conversation', id) }) as const;

function present(id: string, { createdAtS, metadata }: KeptConversation) {
  return { id, object: 'conversation', created_at: createdAtS, metadata };
}

export async function createConversation(
  arrival: ArrivedRequest,
  owner: StoredOwner,
  store: KeptStore,
): Promise<Reply> {
  const bytes = await arrival.readBody();
  const body = bytes.length === 0 ? {} : parseJsonBody(bytes);
  const conversation: KeptConversation = {
    createdAtS: Math.floor(arrival.startedAtMs / 1000),
    metadata: readMetadata(body.metadata),
    items: readItems(body.items ?? []),
  };
  const id = randomUUID();
  await store.create('conversation', id, owner, conversation);
  return jsonReply(present(storedId('conversation', id), conversation));
}

export async function getConversation(
  id: string,
  owner: StoredOwner,
  store: KeptStore,
): Promise<Reply> {
  return jsonReply(present(id, await store.find(nameOf(id, owner))));
}

export async function updateConversation(
  id: string,
  arrival: ArrivedRequest,
  owner: StoredOwner,
  store: KeptStore,
): Promise<Reply> {
  const metadata = readMetadata(parseJsonBody(await arrival.readBody()).metadata);
  const changed = await store.change(nameOf(id, owner), owner, (now) => ({ ...now, metadata }));
  return jsonReply(present(id, changed));
}

export async function deleteConversation(
  id: string,
  owner: StoredOwner,
  store: KeptStore,
): Promise<Reply> {
  await store.delete(nameOf(id, owner));
  return jsonReply({ id, object: 'conversation.deleted', deleted: true });
}

export async function addItems(
  id: string,
  arrival: ArrivedRequest,
  owner: StoredOwner,
  store: KeptStore,
): Promise<Reply> {
  const added = readItems(parseJsonBody(await arrival.readBody()).items);
  await store.change(nameOf(id, owner), owner, (now) => ({
    ...now,
    items: [...now.items, ...added],
  }));
  return jsonReply(
    presentPage(
      added.map((item) => ({ ...item, id: String(item.id) })),
      false,
    ),
  );
}

export async function getItem(
  id: string,
  itemId: string,
  owner: StoredOwner,
  store: KeptStore,
): Promise<Reply> {
  const { items } = await store.find(nameOf(id, owner));
  const item = items.find((one) => one.id === itemId);
  if (item === undefined) throw new GatewayError('conversation.item_not_found');
  return jsonReply(item);
}

/** Answered with the conversation, as the vendor does. */
export async function deleteItem(
  id: string,
  itemId: string,
  owner: StoredOwner,
  store: KeptStore,
): Promise<Reply> {
  const changed = await store.change(nameOf(id, owner), owner, (now) => {
    const items = now.items.filter((one) => one.id !== itemId);
    if (items.length === now.items.length) throw new GatewayError('conversation.item_not_found');
    return { ...now, items };
  });
  return jsonReply(present(id, changed));
}

function readItems(sent: JsonValue | undefined): JsonObject[] {
  if (!Array.isArray(sent) || sent.length > itemsMax || !sent.every(isObject))
    throw new GatewayError('request.invalid_field', {
      field: 'body.items',
      message: `body.items must be a list of at most ${itemsMax} items.`,
    });
  return itemsOfInput(sent);
}
