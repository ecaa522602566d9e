import { randomUUID } from 'node:crypto';
import { GatewayError } from '@sluice/errors';
import type { Sealer } from '@sluice/mcp';
import { findTranslation, type JsonObject, providersKeeping } from '@sluice/providers';
import { contextOf } from '../calls/prepare/call-context.ts';
import type { CallRules } from '../calls/prepare/call-rules.ts';
import { isAskedAlone } from '../exchange/asked-alone.ts';
import type { MintedSecret } from '../exchange/asked-session.ts';
import type { ModelExchange } from '../exchange/exchange.ts';
import type { Reply } from '../exchange/reply.ts';
import type { Target } from '../exchange/target.ts';
import type { Step } from '../visit/step.ts';
import { targetOf } from '../visit/target-visit.ts';
import { askerOf } from './asker-of.ts';
import { sealSecret } from './minted-secret.ts';
import { isOfBeta } from './read-secret-request.ts';
import { sidebandCall } from './session-call.ts';
import { writeSession } from './session-document.ts';
import { type MeterParts, SessionMeter } from './session-meter.ts';

export interface MintParts extends CallRules, MeterParts {
  readonly sealer: Sealer;
}

/** Innermost: a secret of ours for a browser, in the place of one of the provider's, which nobody would count. */
export function mintSecret(parts: MintParts): Step {
  return {
    async run(visit) {
      const { exchange } = visit;
      const target = targetOf(visit);
      expectSessions(exchange, target, parts);
      await expectUnspent(exchange, target, parts);
      const minted = secretFor(exchange, target);
      const text = sealed(minted, parts.sealer);
      exchange.progress.tries++;
      const body = Buffer.from(JSON.stringify(answer(exchange, minted, text)));
      const headers = { 'content-type': 'application/json', 'cache-control': 'no-store' };
      const reply: Reply = { kind: 'body', status: 200, headers, body };
      return { status: 200, stops: true, reply, error: undefined };
    },
  };
}

/** @throws GatewayError `provider.endpoint_unsupported`, `credential.mixed` */
function expectSessions(exchange: ModelExchange, target: Target, rules: CallRules): void {
  const { asked, operation } = exchange.subject;
  const context = contextOf(exchange, target, {}, rules);
  findTranslation(
    target.entry,
    asked?.kind === 'translation' ? 'realtimeTranslation' : 'realtime',
    context,
  );
  if (!isAskedAlone(target))
    throw new GatewayError('provider.endpoint_unsupported', {
      field: 'x-service-provider',
      message: `A client secret is made for a saved provider (of ${providersKeeping('realtime calls').join(', ')}): a credential that comes with the request does not go into a browser (${operation.id}).`,
    });
}

/** As a handshake would be refused. @throws GatewayError 429, 412, 503 of a limit */
async function expectUnspent(
  exchange: ModelExchange,
  target: Target,
  parts: MintParts,
): Promise<void> {
  const { exchange: session, call } = sidebandCall(
    exchange,
    target,
    '',
    exchange.arrival.signal,
    parts,
  );
  const meter = new SessionMeter(call, session, parts);
  await meter.begin();
  meter.giveUp();
}

function secretFor(exchange: ModelExchange, target: Target): MintedSecret {
  const { key, subject, arrival } = exchange;
  const { asked, secret } = subject;
  if (key === undefined || asked === undefined || secret === undefined)
    throw new Error('a secret is of a key');
  const lastsUntil = arrival.startedAtMs + secret.lifeMs;
  return {
    ...asked,
    ...askerOf(exchange),
    upstreamModel: asked.model === '' ? '' : target.model,
    untilMs: key.expiresAtMs === 0 ? lastsUntil : Math.min(lastsUntil, key.expiresAtMs),
  };
}

/** @throws GatewayError `request.too_large` */
function sealed(minted: MintedSecret, sealer: Sealer): string {
  try {
    return sealSecret(sealer, minted);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new GatewayError('request.too_large', {
      field: 'body.session',
      message:
        'The session is too large to travel in a client secret: what it has beyond some kB, send with session.update.',
      cause: error,
    });
  }
}

/** As the endpoint's own clients read it. */
function answer(exchange: ModelExchange, minted: MintedSecret, value: string): JsonObject {
  const expires_at = Math.floor(minted.untilMs / 1000);
  const { kind, upstreamModel: model } = minted;
  const object = kind === 'realtime' ? 'realtime.session' : `realtime.${kind}_session`;
  const session = {
    ...writeSession({ ...minted, model }),
    id: `sess_${randomUUID().replaceAll('-', '')}`,
    object,
  };
  return isOfBeta(exchange)
    ? { ...session, client_secret: { value, expires_at } }
    : { value, expires_at, session };
}
