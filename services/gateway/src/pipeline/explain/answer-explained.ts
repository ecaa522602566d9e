import type { Exchange } from '../../exchange/exchange.ts';
import type { Reply } from '../../exchange/reply.ts';
import type { Stage } from '../pipeline.ts';

/** Who asks for a decision. */
export interface WhoExplains {
  readonly authenticate: Stage;
  /** For who asks about the key of that id instead of their own. */
  readonly authenticateFor: (keyId: string) => Stage;
}

/** Lets in who asks for a decision, for their own key or the one that `api_key_id` names, and answers with it. */
export function answerExplained(
  exchange: Exchange,
  { authenticate, authenticateFor }: WhoExplains,
  explain: () => Promise<object>,
): Promise<Reply> {
  const keyId = new URLSearchParams(exchange.arrival.search).get('api_key_id');
  const enter = keyId === null ? authenticate : authenticateFor(keyId);
  return enter(exchange, async () => ({
    kind: 'body',
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify(await explain())),
  }));
}
