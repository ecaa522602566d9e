import { isIP } from 'node:net';
import { hostname, networkInterfaces } from 'node:os';
import { parseRange, withoutEmbedding } from './address-ranges.ts';
import { machineNames } from './blocked-hosts.ts';

/** Loopback, and the addresses that stand for "this machine" when connected to. */
const loopback = ['127.0.0.0/8', '0.0.0.0/8', '::1', '::'].map((range) => parseRange(range)!);
/** Interfaces come and go; asking for them costs a system call each. */
const knownForMs = 5_000;

let known: { addresses: ReadonlySet<string>; hasGlobalIpv6: boolean; untilMs: number } | undefined;

function interfaces() {
  const nowMs = performance.now();
  if (known === undefined || known.untilMs <= nowMs) {
    const all = Object.values(networkInterfaces()).flatMap((of) => of ?? []);
    const globalUnicast = parseRange('2000::/3')!;
    known = {
      addresses: new Set(all.map(({ address }) => address.replace(/%.*$/, ''))),
      hasGlobalIpv6: all.some(({ address }) => globalUnicast(address)),
      untilMs: nowMs + knownForMs,
    };
  }
  return known;
}

/** Whether a connection to this address ends at this machine. */
export function isMachineAddress(ip: string): boolean {
  const plain = withoutEmbedding(ip);
  return loopback.some((covers) => covers(plain)) || interfaces().addresses.has(plain);
}

/** Whether this host, as it is written, is this machine. */
export function isMachineHost(host: string): boolean {
  if (isIP(host) !== 0) return isMachineAddress(host);
  return machineNames.has(host) || host.endsWith('.localhost') || host === hostname().toLowerCase();
}

/** Whether IPv6 addresses of others can be reached, as far as this machine knows. */
export function hasGlobalIpv6(): boolean {
  return interfaces().hasGlobalIpv6;
}
