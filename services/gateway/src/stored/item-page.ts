import { GatewayError } from '@sluice/errors';
import type { JsonObject } from '@sluice/providers';
import type { ArrivedRequest } from '../exchange/arrived-request.ts';
import type { Reply } from '../exchange/reply.ts';
import type { StoredOwner } from './files.ts';
import { type KeptStore, keptUuid } from './kept-store.ts';
import { presentPage } from './present.ts';
import { jsonReply, pageLimit } from './requests.ts';

/** As the vendor has it. */
const usual = 20;
const most = 100;

/** Of a conversation; of a response all that its model was given, what was said in earlier turns included. */
export async function listItems(
  { kind, id }: { kind: 'response' | 'conversation'; id: string },
  arrival: ArrivedRequest,
  { workspaceId }: StoredOwner,
  store: KeptStore,
): Promise<Reply> {
  const { items } = await store.find({ kind, workspaceId, id: keptUuid(kind, id) });
  return jsonReply(itemPage(items, arrival));
}

/** A part of the items of a response or a conversation, the newest first unless it is asked for otherwise. @throws GatewayError `request.invalid_field` */
function itemPage(items: readonly JsonObject[], { search }: ArrivedRequest) {
  const query = new URLSearchParams(search);
  const limit = pageLimit(query, { usual, most });
  const order = query.get('order') ?? 'desc';
  if (order !== 'asc' && order !== 'desc')
    throw new GatewayError('request.invalid_field', {
      field: 'query.order',
      message: 'query.order must be asc or desc.',
    });
  const sorted = order === 'asc' ? items : items.toReversed();
  const after = query.get('after');
  const from = after === null ? 0 : sorted.findIndex(({ id }) => id === after) + 1;
  if (after !== null && from === 0)
    throw new GatewayError('request.invalid_field', {
      field: 'query.after',
      message: 'query.after must be the id of an item of this list.',
    });
  const page = sorted.slice(from, from + limit).map((item) => ({ ...item, id: String(item.id) }));
  return presentPage(page, from + limit < sorted.length);
}
