import type { AddressAuthor } from '@sluice/outbound';
import type { Target } from './target.ts';

/**
 * Who decided where this target is: an admin, by saving it, or the caller. An
 * operator may trust the first with private hosts that the second may not name.
 * A setting that is part of an address leads to its vendor only, whoever sent it.
 */
export function addressAuthor(target: Target): AddressAuthor {
  if (target.customHost !== undefined) return target.customHost.by;
  // The catalogue's own address, which may be this machine's: who chose the provider?
  const isNamedBySaved = target.planned.provider !== undefined && target.planned.by === 'admin';
  return target.saved !== undefined || isNamedBySaved ? 'admin' : 'caller';
}
