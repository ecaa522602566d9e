import { isObject, type SealedAddresses } from '@sluice/a2a';
import { checkUpstreamUrl, type HostRules } from '@sluice/outbound';
import type { CompiledAgentServer } from '../compiled/agent-servers.ts';

/** Where a call goes, and what it may say there. */
export interface Destination {
  readonly base: Readonly<URL>;
  readonly by: 'admin' | 'caller';
  readonly remainder: string;
}

/** Of what is asked for below an agent. @throws GatewayError `host.invalid` */
export function destinationOf(
  server: CompiledAgentServer,
  remainder: string,
  { hostRules, sealed }: { hostRules: HostRules; sealed: SealedAddresses },
): Destination {
  const { source } = server;
  const [segment = ''] = remainder.slice(1).split('/', 1);
  const address = segment.startsWith('~') ? sealed.open(source.id, segment) : undefined;
  if (address === undefined) {
    const { url } = checkUpstreamUrl(source.url, hostRules, 'url', 'admin');
    return { base: url, by: 'admin', remainder };
  }
  // An admin who saved the card has seen where it leads; of others nothing is known but what the agent says.
  const isApproved = originsOf(server).has(new URL(address).origin);
  const by = isApproved ? 'admin' : 'caller';
  const { url } = checkUpstreamUrl(address, hostRules, 'card', by);
  return { base: url, by, remainder: remainder.slice(1 + segment.length) };
}

const origins = new WeakMap<CompiledAgentServer, ReadonlySet<string>>();

/** Of the registered address, and of those that the saved card names. */
function originsOf(server: CompiledAgentServer): ReadonlySet<string> {
  const known = origins.get(server);
  if (known !== undefined) return known;
  const { card, source } = server;
  const listed = [card?.supportedInterfaces, card?.additionalInterfaces].flatMap((list) =>
    Array.isArray(list) ? list.map((one: unknown) => (isObject(one) ? one.url : undefined)) : [],
  );
  const found = [source.url, card?.url, ...listed].flatMap((address) =>
    typeof address === 'string' && URL.canParse(address, source.url)
      ? [new URL(address, source.url).origin]
      : [],
  );
  const made = new Set(found);
  origins.set(server, made);
  return made;
}
