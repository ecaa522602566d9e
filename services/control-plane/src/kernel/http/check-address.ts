import { bearsAddress } from '@sluice/contracts/admin';
import { GatewayError, invalidField } from '@sluice/errors';
import { checkUpstreamUrl, type HostRules } from '@sluice/outbound';
import { faultPath, type InputNotes } from './parse-input.ts';

/**
 * An address that is called for an admin, with or after secrets of theirs.
 * @throws 400 for one that may not be called, or on the way to which others can read
 */
export function checkAddress(address: string, field: string, rules: HostRules): void {
  const { url, trusted } = checkedUrl(address, field, rules);
  if (url.protocol !== 'https:' && !trusted)
    throw invalidField(field, 'must be an https URL unless its host is in TRUSTED_CUSTOM_HOSTS');
}

/**
 * Warns of each address in what was sent at which gateways will call nobody, under whatever name that bears one, at any
 * depth. By name hosts are looked up when they are called, not here.
 * @param part  where the value stands, for the paths
 * @param without  names under which others' documents stand
 */
export function warnOfAddresses(
  { warnings }: InputNotes,
  sent: unknown,
  part: string,
  rules: HostRules,
  without: readonly string[] = [],
): void {
  const bodies = new Set(without);
  const named = addressesIn(sent, '', [], bodies);
  for (const { path, address } of named.slice(0, warnedMax)) {
    const field = faultPath(part, path);
    try {
      checkUpstreamUrl(address, rules, field, 'admin');
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      warnings.push(`${field}: ${error.message}`);
    }
  }
}

const warnedMax = 20;

interface NamedAddress {
  readonly path: readonly PropertyKey[];
  readonly address: string;
}

function addressesIn(
  value: unknown,
  name: string,
  path: readonly PropertyKey[],
  without: ReadonlySet<string>,
): NamedAddress[] {
  if (typeof value === 'string')
    return /^https?:/i.test(value) && bearsAddress(name) ? [{ path, address: value }] : [];
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value))
    return value.flatMap((each, index) => addressesIn(each, name, [...path, index], without));
  return Object.entries(value).flatMap(([inner, each]) =>
    without.has(inner) ? [] : addressesIn(each, inner, [...path, inner], without),
  );
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
