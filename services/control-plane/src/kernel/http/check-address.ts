import { GatewayError, invalidField } from '@sluice/errors';
import { checkUpstreamUrl, type HostRules } from '@sluice/outbound';

/**
 * An address that is called for an admin, with or after secrets of theirs.
 * @throws 400 for one that may not be called, or on the way to which others can read
 */
export function checkAddress(address: string, field: string, rules: HostRules): void {
  const { url, trusted } = checkedUrl(address, field, rules);
  if (url.protocol !== 'https:' && !trusted)
    throw invalidField(field, 'must be an https URL unless its host is in TRUSTED_CUSTOM_HOSTS');
}

function checkedUrl(address: string, field: string, rules: HostRules) {
  try {
    return checkUpstreamUrl(address, rules, field, 'admin');
  } catch (error) {
    if (error instanceof GatewayError && refusals.has(error.code))
      throw invalidField(field, error.message);
    throw error;
  }
}

const refusals: ReadonlySet<string> = new Set(['host.invalid', 'host.air_gapped']);
