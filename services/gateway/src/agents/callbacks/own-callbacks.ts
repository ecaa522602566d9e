import { folded, isObject, readAgentRequest } from '@sluice/a2a';
import { JsonEdit, type JsonStep, jsonBounds, readJson } from '@sluice/json';
import type { AgentExchange } from '../find-agent.ts';
import type { CallbackAddresses } from './callback-addresses.ts';

/** A request whose addresses to call back are ours, in the place of the caller's. @throws GatewayError */
export function withOwnCallbacks(
  body: Buffer,
  { arrival, subject, key }: AgentExchange,
  addresses: CallbackAddresses,
): Buffer {
  const serverId = subject.server?.source.id;
  if (key === undefined || serverId === undefined) throw new Error('nobody was let in');
  // Checks may have changed what was asked: what goes out counts.
  const document = readJson(body, jsonBounds.request);
  const { callbacks } = readAgentRequest(arrival.method, subject.remainder, document);
  const edit = new JsonEdit(body);
  for (const { path, url } of callbacks)
    if (typeof url === 'string')
      edit.set(path, JSON.stringify(addresses.address(url, serverId, key, arrival.headers.host)));
  return edit.bytes();
}

/** What an agent shows of its callbacks, with the addresses that callers gave. Undefined = it shows none of ours. */
export function withGivenCallbacks(
  bytes: Buffer,
  document: unknown,
  serverId: string,
  addresses: CallbackAddresses,
): Buffer | undefined {
  const edit = new JsonEdit(bytes);
  let isChanged = false;
  const look = (value: unknown, path: readonly JsonStep[]) => {
    if (Array.isArray(value)) {
      for (const [at, item] of value.entries()) look(item, [...path, at]);
      return;
    }
    if (!isObject(value)) return;
    for (const [name, inner] of Object.entries(value)) {
      const given =
        typeof inner === 'string' && folded(name) === 'url'
          ? addresses.given(inner, serverId)
          : undefined;
      if (given === undefined) look(inner, [...path, name]);
      else {
        edit.set([...path, name], JSON.stringify(given));
        isChanged = true;
      }
    }
  };
  look(document, []);
  return isChanged ? edit.bytes() : undefined;
}
