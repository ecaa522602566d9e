/**
 * Preloaded into a gateway (`NODE_OPTIONS=--import=…`), so that one domain of
 * its real resolver changes its mind: names under `flips.example` have a public
 * address when first asked for, and this machine's from then on.
 */
import dns from 'node:dns';

type Lookup = (
  hostname: string,
  options: dns.LookupAllOptions,
) => Promise<dns.LookupAddress[] | dns.LookupAddress>;

const lookup = dns.promises.lookup as Lookup;
const askedBefore = new Set<string>();

const flipping: Lookup = async (hostname, options) => {
  if (!hostname.endsWith('.flips.example')) return lookup(hostname, options);
  if (askedBefore.has(hostname)) return [{ address: '127.0.0.1', family: 4 }];
  askedBefore.add(hostname);
  // Global unicast that was never assigned to anybody.
  return [{ address: '2000::1', family: 6 }];
};

Object.assign(dns.promises, { lookup: flipping });
