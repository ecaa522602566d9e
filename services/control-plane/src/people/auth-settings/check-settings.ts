import type { JwtSettings } from '@sluice/contracts/admin';
import { invalidField } from '@sluice/errors';
import { readKeySet } from '@sluice/jwt';
import type { HostRules } from '@sluice/outbound';
import { checkAddress } from '../../kernel/http/check-address.ts';

/**
 * What the schema cannot see: addresses that may not be called, as whoever can
 * change what is read on the way could make keys of their own ours; and keys that
 * cannot be used. @throws 400 with the path of the fault
 */
export function checkJwtSettings(settings: JwtSettings, rules: HostRules): void {
  if (settings.jwks_url !== undefined) checkAddress(settings.jwks_url, 'body.jwt.jwks_url', rules);
  if (settings.introspection !== undefined)
    checkAddress(settings.introspection.url, 'body.jwt.introspection.url', rules);
  const fault = readKeySet(settings.jwks ?? { keys: [] })?.faults[0];
  if (fault !== undefined) throw invalidField(`body.jwt.jwks.keys[${fault.index}]`, fault.reason);
}
