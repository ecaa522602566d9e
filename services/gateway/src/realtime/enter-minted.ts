import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from '@sluice/errors';
import type { Sealer } from '@sluice/mcp';
import { type Exchange, expectModelCall } from '../exchange/exchange.ts';
import type { ConfigStore } from '../held/config-store.ts';
import { isOurs, readCallerHeaders } from '../http/caller-headers.ts';
import type { TokenKeys } from '../jwt-keys/token-keys.ts';
import { keyOfCaller, type WayIn } from '../pipeline/stages/authenticate.ts';
import { isMintedSecret, openSecret } from './minted-secret.ts';

/** Headers by which credentials come. */
const credentials: ReadonlySet<string> = new Set(['authorization', 'x-api-key', 'api-key']);

/**
 * Who shows a minted secret asks as the key that made it, with the headers that were sent then: a browser has no say
 * in who is asked, as whom, or for which model.
 */
export function createEnterMinted(
  sealer: Sealer,
  store: Pick<ConfigStore, 'heldKey' | 'findKey' | 'keyOfHash'>,
  tokens: TokenKeys | undefined,
): WayIn {
  const enter: WayIn['enter'] = async (exchange, secret) => {
    expectModelCall(exchange);
    const { arrival, subject } = exchange;
    const minted = openSecret(sealer, secret, arrival.startedAtMs);
    if (minted === undefined)
      throw invalid('This client secret is none that a gateway here made, or it has ended.');
    const isTranslation = /ranslation/.test(subject.operation.id);
    if (isTranslation !== (minted.kind === 'translation'))
      throw invalid(`This client secret is for a session of ${minted.kind}.`);
    const headers = { ...withoutOurs(arrival.headers), ...minted.headers };
    const caller = readCallerHeaders(headers);
    const { by } = minted;
    const asked = 'token' in by ? withKey(exchange, by.token) : exchange;
    const key =
      'token' in by ? await keyOfCaller(asked, store, tokens) : await store.keyOfHash(by.keyHash);
    if (key === undefined) throw invalid('The key that made this client secret is gone.');
    exchange.arrival = {
      ...arrival,
      headers,
      // What must not travel on.
      caller: { ...caller, serviceKey: secret, upstreamKey: undefined },
      traceId: caller.traceId ?? arrival.traceId,
    };
    subject.minted = minted;
    return { key, isLook: false };
  };
  return { isMeant: isMintedSecret, enter };
}

function withKey(exchange: Exchange, token: string): Exchange {
  const { arrival } = exchange;
  return {
    ...exchange,
    arrival: {
      ...arrival,
      headers: { ...arrival.headers, 'x-service-api-key': token },
      caller: { ...arrival.caller, serviceKey: token },
    },
  };
}

function withoutOurs(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => !isOurs(name) && !credentials.has(name)),
  );
}

function invalid(message: string): GatewayError {
  return new GatewayError('auth.invalid_key', { message });
}
