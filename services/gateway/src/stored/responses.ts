import { GatewayError } from '@sluice/errors';
import type { ArrivedRequest } from '../exchange/arrived-request.ts';
import type { Reply } from '../exchange/reply.ts';
import type { StoredOwner } from './files.ts';
import { itemPage } from './item-page.ts';
import { type KeptStore, keptUuid } from './kept-store.ts';
import { jsonReply } from './requests.ts';

const nameOf = (id: string, { workspaceId }: StoredOwner) =>
  ({ kind: 'response', workspaceId, id: keptUuid('response', id) }) as const;

export async function getResponse(
  id: string,
  arrival: ArrivedRequest,
  owner: StoredOwner,
  store: KeptStore,
): Promise<Reply> {
  const { response } = await store.find(nameOf(id, owner));
  if (new URLSearchParams(arrival.search).get('stream') === 'true')
    throw new GatewayError('response.not_in_background', { field: 'query.stream' });
  return jsonReply(response);
}

export async function deleteResponse(
  id: string,
  owner: StoredOwner,
  store: KeptStore,
): Promise<Reply> {
  await store.delete(nameOf(id, owner));
  return jsonReply({ id, object: 'response', deleted: true });
}

/** All that its model was given, what was said in earlier turns included. */
export async function listInputItems(
  id: string,
  arrival: ArrivedRequest,
  owner: StoredOwner,
  store: KeptStore,
): Promise<Reply> {
  const { items } = await store.find(nameOf(id, owner));
  return jsonReply(itemPage(items, arrival));
}

export async function cancelResponse(
  id: string,
  owner: StoredOwner,
  store: KeptStore,
): Promise<Reply> {
  await store.find(nameOf(id, owner));
  throw new GatewayError('response.not_in_background');
}
