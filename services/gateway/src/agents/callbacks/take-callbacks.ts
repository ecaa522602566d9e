import { create } from '@bufbuild/protobuf';
import { GatewayError } from '@sluice/errors';
import { config } from '@sluice/proto-stubs';
import { type ResolvedKey, resolvedKey } from '../../compiled/resolved-key.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import type { Reply } from '../../exchange/reply.ts';
import type { ConfigStore } from '../../held/config-store.ts';
import type { Stage } from '../../pipeline/pipeline.ts';
import { admit } from '../../pipeline/stages/authenticate.ts';
import { type AgentExchange, expectAgentCall } from '../find-agent.ts';
import type { CallbackAddresses, CallbackOwner, CallbackTarget } from './callback-addresses.ts';

const targets = new WeakMap<Exchange, CallbackTarget>();

/** Where the request is to go, which came to an address of ours. */
export function targetOf(exchange: Exchange): CallbackTarget {
  const target = targets.get(exchange);
  if (target === undefined) throw new Error('it is no callback');
  return target;
}

/** Beside agents' own addresses: those that agents call back. They come with no key: the address is what lets them in. */
export function takeCallbacks(
  store: Pick<ConfigStore, 'keyOfHash' | 'bundle'>,
  addresses: CallbackAddresses,
): (pass: (exchange: Exchange) => Promise<Reply>) => Stage {
  return (pass) => (exchange, next) => {
    expectAgentCall(exchange);
    // No slug begins so.
    return exchange.subject.reference.startsWith('~') ? taken(exchange, pass) : next();
  };

  async function taken(
    exchange: AgentExchange,
    pass: (exchange: Exchange) => Promise<Reply>,
  ): Promise<Reply> {
    const { subject, arrival } = exchange;
    const target = addresses.open(subject.reference);
    if (target === undefined || subject.remainder !== '')
      throw new GatewayError('agent.not_found', {
        field: 'path',
        message: 'Nobody is called back at this address.',
      });
    if (arrival.method !== 'POST')
      throw new GatewayError('request.method_not_allowed', { headers: { allow: 'POST' } });
    targets.set(exchange, target);
    exchange.subject = { ...subject, reference: target.serverId };
    const key = await keyOf(target.by, store);
    if (key === undefined) throw new GatewayError('auth.invalid_key', { message: keyGone });
    await admit(exchange, key, store);
    return pass(exchange);
  }
}

const keyGone = 'The key that asked to be called back is gone.';

function keyOf(
  by: CallbackOwner,
  store: Pick<ConfigStore, 'keyOfHash'>,
): ResolvedKey | undefined | Promise<ResolvedKey | undefined> {
  if ('keyHash' in by) return store.keyOfHash(by.keyHash);
  const source = create(config.KeySchema, {
    ...by.token,
    slug: by.token.name,
    type: config.KeyType.WORKSPACE_SERVICE,
    status: config.KeyStatus.ACTIVE,
    scopes: ['agents.invoke'],
  });
  return resolvedKey('', source);
}
