import type { JwtSettings } from '@sluice/contracts/admin';
import { GatewayError, invalidField } from '@sluice/errors';
import { readKeySet } from '@sluice/jwt';
import { checkUpstreamUrl, type HostRules } from '@sluice/outbound';

/**
 * What the schema cannot see: addresses that may not be called, keys that
 * cannot be used. @throws 400 with the path of the fault
 */
export function checkJwtSettings(settings: JwtSettings, rules: HostRules): void {
  if (settings.jwks_url !== undefined) checkAddress(settings.jwks_url, 'body.jwt.jwks_url', rules);
  if (settings.introspection !== undefined)
    checkAddress(settings.introspection.url, 'body.jwt.introspection.url', rules);
  const fault = readKeySet(settings.jwks ?? { keys: [] })?.faults[0];
  if (fault !== undefined) throw invalidField(`body.jwt.jwks.keys[${fault.index}]`, fault.reason);
}

function checkAddress(address: string, field: string, rules: HostRules): void {
  const { url, trusted } = checkedUrl(address, field, rules);
  // Whoever can change what is read on the way could make keys of their own ours.
  if (url.protocol !== 'https:' && !trusted)
    throw invalidField(field, 'must be an https URL unless its host is in TRUSTED_CUSTOM_HOSTS');
}

function checkedUrl(address: string, field: string, rules: HostRules) {
  try {
    return checkUpstreamUrl(address, rules, field, 'admin');
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'host.invalid')
      throw invalidField(field, error.message);
    throw error;
  }
}
