import type { AddressAuthor } from '@sluice/outbound';
import { addressSettings } from '@sluice/providers';
import type { Target } from '../../exchange/target.ts';

/**
 * Who decided where this target is: an admin, by saving it, or the caller. An
 * operator may trust the first with private hosts that the second may not name.
 */
export function addressAuthor(target: Target): AddressAuthor {
  if (target.customHost !== undefined) return target.customHost.by;
  const { baseUrl } = target.entry;
  const isFixed = typeof baseUrl === 'string' && /^https:[^{]+$/.test(baseUrl);
  if (target.callerAdds && !isFixed) return 'caller';
  const isNamedByAdmin = target.planned.provider !== undefined && target.planned.by === 'admin';
  // A vendor's fixed address is nobody's choice. One that settings complete, or
  // that of a model server on this machine, is the choice of who names the provider.
  if (isFixed) return 'vendor';
  if (target.saved === undefined && !isNamedByAdmin) return 'caller';
  // Some settings are a whole address; the others are only a part of a vendor's.
  const isWhole = addressSettings.some((name) => URL.canParse(target.setting(name) ?? ''));
  return isWhole ? 'admin' : 'vendor';
}
