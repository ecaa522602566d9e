import { folded, isObject, type JsonObject } from './fold.ts';

/** Where an agent was registered, and what callers use in its place. */
export interface Place {
  /** As an admin saved it: an http or https address. */
  readonly registeredUrl: string;
  /** With a slash at its end: clients look for what is below the address they are given. */
  readonly gatewayUrl: string;
  /**
   * The sub-path, without slashes around it, of an address that is not below the
   * registered one; undefined = it gets none and is left out.
   */
  readonly subPathOf: (address: string) => string | undefined;
}

const interfacesMax = 64;
const addressLengthMax = 2048;

/** The address through the gateway of one that a card names; undefined = no way leads there. */
export function addressThroughGateway(address: unknown, place: Place): string | undefined {
  if (typeof address !== 'string' || address.length > addressLengthMax) return undefined;
  if (!URL.canParse(address, place.registeredUrl)) return undefined;
  const url = new URL(address, place.registeredUrl);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return undefined;
  if (url.username !== '' || url.password !== '') return undefined;
  url.hash = '';
  const base = new URL(place.registeredUrl);
  const root = base.pathname.replace(/\/+$/, '');
  const isBelow =
    url.origin === base.origin && (url.pathname === root || url.pathname.startsWith(`${root}/`));
  // A query that is registered is added to every call; what is below it has no other.
  const search = base.search === '' ? url.search : '';
  if (isBelow && (base.search === '' || base.search === url.search))
    return `${place.gatewayUrl}${url.pathname.slice(root.length).replace(/^\/+/, '')}${search}`;
  const subPath = place.subPathOf(url.href);
  return subPath === undefined ? undefined : `${place.gatewayUrl}${subPath}`;
}

/** The interfaces of a list as callers may use them. What is no HTTP, the gateway does not carry. */
export function interfacesThroughGateway(listed: unknown, place: Place): JsonObject[] {
  if (!Array.isArray(listed)) return [];
  return listed.slice(0, interfacesMax).flatMap((entry) => {
    if (!isObject(entry) || bindingOf(entry) === 'GRPC') return [];
    const [address] = valuesOf(entry, 'url');
    const url = addressThroughGateway(address, place);
    if (url === undefined) return [];
    const rest = Object.entries(entry).filter(([name]) => folded(name) !== 'url');
    return [Object.fromEntries([['url', url], ...rest])];
  });
}

/** How an interface is spoken to, in upper case, under whichever name its generation has for it. */
export function bindingOf(entry: JsonObject): string {
  const [binding] = valuesOf(entry, 'protocolbinding', 'transport', 'preferredtransport');
  return typeof binding === 'string' ? binding.toUpperCase() : '';
}

function valuesOf(entry: JsonObject, ...names: readonly string[]): unknown[] {
  return Object.entries(entry).flatMap(([name, value]) =>
    names.includes(folded(name)) ? [value] : [],
  );
}
