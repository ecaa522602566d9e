import { CardFault, cardBytesMax, readCard } from '@sluice/a2a';
import type { AgentCard } from '@sluice/contracts/admin';
import { fromUnknown, type GatewayError, invalidField } from '@sluice/errors';
import type { GuardedFetch } from '@sluice/outbound';
import { refuseUnstorableText } from '../../kernel/http/json-body.ts';

const timeoutMs = 10_000;

/** Where agents put their cards: the present name first, then the one before. */
const places = ['agent-card.json', 'agent.json'];

/**
 * The card that an agent shows below its address, or else at the root of its
 * host. The first one that is there decides; it is not looked for further when
 * it is no card.
 * @throws 400 with what is wrong, and nothing of what was answered.
 */
export async function fetchCard(fetch: GuardedFetch, url: string): Promise<AgentCard> {
  const endsAt = performance.now() + timeoutMs;
  let fault = 'shows no agent card';
  for (const address of addressesOf(url)) {
    const remainingMs = Math.max(1, Math.round(endsAt - performance.now()));
    const reply = await fetch(address, {
      headers: { accept: 'application/json' },
      timeoutMs: remainingMs,
      bytesMax: cardBytesMax,
      field: 'body.url',
    }).catch((error: unknown) => {
      throw refusal(error);
    });
    if (reply.status === 200) return cardOf(reply.body);
    fault = `shows no agent card (status ${reply.status})`;
  }
  throw invalidField('body.url', fault);
}

function addressesOf(url: string): string[] {
  const { origin, pathname } = new URL(url);
  const path = pathname.replace(/\/\.well-known\/agent(-card)?\.json$/, '').replace(/\/+$/, '');
  return [...new Set([`${origin}${path}`, origin])].flatMap((base) =>
    places.map((place) => `${base}/.well-known/${place}`),
  );
}

function cardOf(body: Buffer): AgentCard {
  try {
    const card = readCard(body);
    refuseUnstorableText(card);
    return card as AgentCard;
  } catch (error) {
    const what = error instanceof CardFault ? error.message : 'no JSON that can be stored';
    throw invalidField('body.url', `shows an agent card that is ${what}`);
  }
}

function refusal(error: unknown): GatewayError {
  const { code, message } = fromUnknown(error);
  if (code === 'host.invalid' || code === 'host.air_gapped')
    return invalidField('body.url', message);
  if (code === 'upstream.response_too_large')
    return invalidField('body.url', 'shows an agent card of more than 1 MB');
  if (code.startsWith('upstream.')) return invalidField('body.url', 'could not be reached');
  return fromUnknown(error);
}
