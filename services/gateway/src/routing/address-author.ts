import type { AddressAuthor } from '@sluice/outbound';
import type { Exchange } from '../pipeline/exchange.ts';
import type { Target } from './target.ts';

/**
 * Who decided where this target is: an admin, by saving it, or the caller. An
 * operator may trust the first with private hosts that the second may not name.
 * A setting that is part of an address leads to its vendor only, whoever sent it.
 */
export function addressAuthor(exchange: Exchange, target: Target): AddressAuthor {
  const isSavedConfig = exchange.config?.saved !== undefined;
  if (target.customHost !== undefined) {
    const { field } = target.customHost;
    if (field === 'x-service-custom-host') return 'caller';
    const isConfigs = field === `${target.path}.custom_host`;
    return isConfigs && !isSavedConfig ? 'caller' : 'admin';
  }
  const isNamedByConfig = target.planned.provider !== undefined && isSavedConfig;
  return target.saved !== undefined || isNamedByConfig ? 'admin' : 'caller';
}
