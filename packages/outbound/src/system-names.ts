import { isIP } from 'node:net';
import { hostname } from 'node:os';
import type { Address } from './address.ts';
import { keepFile } from './kept-file.ts';
import { isNeverReachableName } from './never-reachable.ts';

/** What the system knows of names before anybody is asked, and how it completes short ones. */
export interface SystemNames {
  /** The addresses that stand in the hosts file; undefined when the name does not. */
  known(name: string): readonly Address[] | undefined;
  /** The names to ask for in place of this one, in order: search domains come before or after it. */
  candidates(name: string): readonly string[];
}

const loopback: readonly Address[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];
/** Six is what resolvers had for long; Kubernetes sets three to five. */
const searchMax = 10;

export function createSystemNames(
  hostsPath = '/etc/hosts',
  resolvConfPath = '/etc/resolv.conf',
): SystemNames {
  const hosts = keepFile(hostsPath, readHosts);
  const settings = keepFile(resolvConfPath, readResolvConf);
  return {
    known(name) {
      const listed = hosts().get(name);
      if (listed !== undefined) return listed;
      if (name === 'localhost') return loopback;
      // Names below it are loopback by definition, whatever a server says.
      return name.endsWith('.localhost') ? (hosts().get('localhost') ?? loopback) : undefined;
    },
    candidates(name) {
      const { search, dotsMin } = settings();
      const completed = search
        .map((domain) => `${name}.${domain}`)
        .filter((candidate) => candidate.length <= 253 && !isNeverReachableName(candidate));
      return name.split('.').length - 1 >= dotsMin ? [name, ...completed] : [...completed, name];
    },
  };
}

/** `address name alias …`, lines one after the other; a name may have several addresses. */
export function readHosts(text: string): ReadonlyMap<string, readonly Address[]> {
  const hosts = new Map<string, Address[]>();
  for (const line of text.split(/\r?\n/)) {
    const [address = '', ...names] = line.replace(/#.*$/, '').trim().split(/\s+/);
    const family = isIP(address);
    if (family === 0 || address.includes('%')) continue;
    for (const name of names) {
      const key = name.toLowerCase();
      const addresses = hosts.get(key) ?? [];
      if (addresses.some((known) => known.address === address)) continue;
      hosts.set(key, [...addresses, { address, family: family as 4 | 6 }]);
    }
  }
  return hosts;
}

interface ResolvConf {
  search: readonly string[];
  /** A name with fewer dots is completed before it is asked for as it is. */
  dotsMin: number;
}

/** `search` and `ndots` of resolv.conf(5); the servers are c-ares' to read. */
export function readResolvConf(text: string): ResolvConf {
  const ownDomain = hostname().toLowerCase().split('.').slice(1).join('.');
  let search = ownDomain === '' ? [] : [ownDomain];
  let dotsMin = 1;
  for (const line of text.split(/\r?\n/)) {
    const [key, ...words] = line
      .replace(/[#;].*$/, '')
      .trim()
      .split(/\s+/);
    if (key === 'search' || key === 'domain')
      search = words.map((word) => word.toLowerCase().replace(/\.$/, '')).filter(Boolean);
    if (key === 'options')
      for (const word of words) {
        const dots = /^ndots:([0-9]{1,2})$/.exec(word)?.[1];
        if (dots !== undefined) dotsMin = Math.min(Number(dots), 15);
      }
  }
  return { search: search.slice(0, searchMax), dotsMin };
}
