import { GatewayError } from '@sluice/errors';
import type { ArrivedRequest } from '../exchange/arrived-request.ts';
import type { Reply } from '../exchange/reply.ts';
import { cancelJob, currentResponse, type KeptDeps } from './current-response.ts';
import { eventsReply } from './events-reply.ts';
import type { StoredOwner } from './files.ts';
import { keptUuid } from './kept-store.ts';
import { jsonReply } from './requests.ts';

const nameOf = (id: string, { workspaceId }: StoredOwner) =>
  ({ kind: 'response', workspaceId, id: keptUuid('response', id) }) as const;

export async function getResponse(
  id: string,
  arrival: ArrivedRequest,
  owner: StoredOwner,
  deps: KeptDeps,
): Promise<Reply> {
  const { id: uuid } = nameOf(id, owner);
  const query = new URLSearchParams(arrival.search);
  const kept = await currentResponse(uuid, owner, deps);
  if (query.get('stream') !== 'true') return jsonReply(kept.response);
  if (kept.streams !== true)
    throw new GatewayError('response.not_in_background', {
      field: 'query.stream',
      message:
        'Events are kept of responses that were asked for in the background and as a stream.',
    });
  const asked = { id: uuid, owner, after: startOf(query), signal: arrival.signal };
  return eventsReply(asked, deps);
}

export async function deleteResponse(
  id: string,
  owner: StoredOwner,
  { store, register }: KeptDeps,
): Promise<Reply> {
  const name = nameOf(id, owner);
  await store.delete(name);
  // What is still to be made has nobody to make it for.
  await cancelJob(name.id, owner, { register }).catch(() => {});
  return jsonReply({ id, object: 'response', deleted: true });
}

/** @throws GatewayError `request.invalid_field` */
function startOf(query: URLSearchParams): number {
  const sent = query.get('starting_after');
  if (sent === null) return -1;
  if (!/^\d{1,9}$/.test(sent))
    throw new GatewayError('request.invalid_field', {
      field: 'query.starting_after',
      message: 'query.starting_after must be the number of an event.',
    });
  return Number(sent);
}

export async function cancelResponse(
  id: string,
  owner: StoredOwner,
  deps: KeptDeps,
): Promise<Reply> {
  const name = nameOf(id, owner);
  const { response } = await deps.store.find(name);
  if (response.background !== true) throw new GatewayError('response.not_in_background');
  await cancelJob(name.id, owner, deps);
  return jsonReply((await currentResponse(name.id, owner, deps)).response);
}
