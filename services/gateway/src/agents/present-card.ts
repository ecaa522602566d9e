import { type AgentCard, CardFault, cardBytesMax, readCard } from '@sluice/a2a';
import { GatewayError } from '@sluice/errors';
import { checkUpstreamUrl, type HostRules } from '@sluice/outbound';
import type { UpstreamCall } from '../calls/upstream-call.ts';
import type { CompiledAgentServer } from '../compiled/agent-servers.ts';
import type { Destination } from './destination.ts';

export interface CardAsking {
  readonly hostRules: HostRules;
  readonly replyBytesMax: number;
  /** Of the caller. */
  readonly signal: AbortSignal;
  readonly open: (destination: Destination) => UpstreamCall;
}

/** As the agent shows it; else as an admin saved it. @throws GatewayError */
export async function presentCard(
  { card: saved, source }: CompiledAgentServer,
  { hostRules, replyBytesMax, signal, open }: CardAsking,
): Promise<AgentCard> {
  const { url } = checkUpstreamUrl(source.url, hostRules, 'url', 'admin');
  for (const [base, remainder] of cardPlaces(url)) {
    const call = open({ base, by: 'admin', remainder });
    try {
      await call.head;
      if (call.status === 200)
        return readCard(await call.readAll(Math.min(cardBytesMax, replyBytesMax)));
    } catch (error) {
      if (saved === undefined || signal.aborted) throw asBadCard(error);
      return saved;
    } finally {
      call.abort(new GatewayError('request.superseded'));
    }
  }
  if (saved !== undefined) return saved;
  throw new GatewayError('agent.bad_card', { message: 'The agent shows no card.' });
}

/** Below the address the present name and the one before; then at the root of the host. */
function cardPlaces(url: Readonly<URL>): [Readonly<URL>, string][] {
  const names = ['/.well-known/agent-card.json', '/.well-known/agent.json'];
  const root = new URL(url.origin);
  const below = new URL(url.pathname, url.origin);
  const bases = below.pathname === '/' ? [root] : [below, root];
  return bases.flatMap((base) => names.map((name): [URL, string] => [base, name]));
}

function asBadCard(error: unknown): unknown {
  if (error instanceof CardFault)
    return new GatewayError('agent.bad_card', {
      message: `The agent shows a card that is ${error.message}.`,
    });
  const isTooLarge = error instanceof GatewayError && error.code === 'upstream.response_too_large';
  return isTooLarge
    ? new GatewayError('agent.bad_card', { message: 'The agent shows a card of more than 1 MB.' })
    : error;
}
