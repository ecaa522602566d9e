import type { AgentCard } from '@sluice/contracts/admin';
import { fromUnknown, type GatewayError, invalidField } from '@sluice/errors';
import type { GuardedFetch } from '@sluice/outbound';
import { refuseCostlyJson, refuseUnstorableText } from '../../kernel/http/json-body.ts';
import { isObject } from '../../kernel/http/json-object.ts';

const timeoutMs = 10_000;
const bytesMax = 1024 * 1024;

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
      bytesMax,
      field: 'body.url',
    }).catch((error: unknown) => {
      throw refusal(error);
    });
    if (reply.status === 200) return readCard(reply.body);
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

function readCard(body: Buffer): AgentCard {
  let card: unknown;
  try {
    refuseCostlyJson(body);
    card = JSON.parse(body.toString('utf8'));
    refuseUnstorableText(card);
  } catch {
    throw invalidField('body.url', 'shows an agent card that is no JSON');
  }
  if (!isObject(card)) throw invalidField('body.url', 'shows an agent card that is no JSON object');
  for (const field of ['name', 'url'])
    if (typeof card[field] !== 'string' || card[field] === '')
      throw invalidField('body.url', `shows an agent card without ${field}`);
  return card as AgentCard;
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
