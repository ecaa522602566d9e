import { isIPv4, isIPv6 } from 'node:net';

/**
 * Which IP addresses an upstream may have. Addresses are compared as numbers,
 * never as text, so that every spelling of one address gets one answer.
 */

/** Each connection asks several times of one address, and a burst of them of few. */
const rememberedMax = 256;
/** No address is longer. */
const textMax = 45;

function remembering<T>(read: (text: string) => T): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    const found = known.get(text);
    if (found !== undefined || known.has(text)) return found as T;
    const value = read(text);
    if (text.length > textMax) return value;
    if (known.size >= rememberedMax) known.clear();
    known.set(text, value);
    return value;
  };
}

/** An IPv4 address as a 32-bit unsigned number; only the plain dotted form is read. */
export const parseIpv4 = remembering((text: string): number | undefined => {
  if (!isIPv4(text)) return undefined;
  let value = 0;
  for (const part of text.split('.')) value = value * 256 + Number(part);
  return value;
});

/** An IPv6 address as 128 bits. Zone ids are not read: such an address is local to one link. */
export const parseIpv6 = remembering(readIpv6);

function readIpv6(text: string): bigint | undefined {
  if (!isIPv6(text) || text.includes('%')) return undefined;
  const halves = withHexTail(text).split('::');
  const head = groups(halves[0] ?? '');
  const tail = groups(halves[1] ?? '');
  const zeros =
    halves.length === 2 ? new Array<string>(8 - head.length - tail.length).fill('0') : [];
  let value = 0n;
  for (const group of [...head, ...zeros, ...tail])
    value = (value << 16n) | BigInt(Number.parseInt(group, 16));
  return value;
}

function groups(half: string): string[] {
  return half === '' ? [] : half.split(':');
}

/** Rewrites a dotted tail (`::ffff:127.0.0.1`) as two groups. */
function withHexTail(text: string): string {
  const start = text.lastIndexOf(':') + 1;
  const inner = parseIpv4(text.slice(start));
  if (inner === undefined) return text;
  return `${text.slice(0, start)}${(inner >>> 16).toString(16)}:${(inner & 0xffff).toString(16)}`;
}

type Range4 = readonly [first: number, last: number];
type Range6 = readonly [prefix: bigint, bits: bigint];

/** Whether an address, written plainly, is one of those meant. */
export type AddressTest = (ip: string) => boolean;

/** Reads `10.0.0.0/8`, `fd00::/8`, or one address alone; undefined for anything else. */
export function parseRange(text: string): AddressTest | undefined {
  const parts = /^([0-9a-f:.]+)(?:\/([0-9]{1,3}))?$/i.exec(text);
  const base = parts?.[1] ?? '';
  const bits = parts?.[2] === undefined ? undefined : Number(parts[2]);
  if (parseIpv4(base) !== undefined) {
    const size = 2 ** (32 - (bits ?? 32));
    if (size < 1) return undefined;
    const first = Math.floor(parseIpv4(base)! / size) * size;
    const ranges: Range4[] = [[first, first + size - 1]];
    return (ip) => {
      const value = parseIpv4(ip);
      return value !== undefined && within4(value, ranges);
    };
  }
  const prefix = parseIpv6(base);
  if (prefix === undefined || (bits ?? 128) > 128) return undefined;
  const range: Range6 = [prefix, BigInt(bits ?? 128)];
  return (ip) => {
    const value = parseIpv6(ip);
    return value !== undefined && within6(value, range);
  };
}

/** The IPv4 address that an IPv6 address stands for, written plainly; any other address as it is. */
export const withoutEmbedding = remembering((ip: string): string => {
  const value = parseIpv6(ip);
  const inner = value === undefined ? undefined : embeddedIpv4(value);
  // `::` and `::1` are no IPv4 addresses in disguise.
  if (inner === undefined || value! < 2n) return ip;
  return [24, 16, 8, 0].map((shift) => (inner >>> shift) & 0xff).join('.');
});

function range4(cidr: string): Range4 {
  const [base = '', bits = '32'] = cidr.split('/');
  const first = parseIpv4(base)!;
  return [first, first + 2 ** (32 - Number(bits)) - 1];
}

function range6(cidr: string): Range6 {
  const [base = '', bits = '128'] = cidr.split('/');
  return [parseIpv6(base)!, BigInt(bits)];
}

const metadata4 = [
  '169.254.169.0/24',
  '169.254.170.2',
  '169.254.170.23',
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
].map(range4);
const metadata6 = ['fd00:ec2::/96', 'fd20:ce::/96'].map(range6);

const private4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3', // Multicast, reserved and broadcast: everything from here up.
].map(range4);

/** Only global unicast is public; listing what is allowed keeps ranges assigned later closed. */
const globalUnicast6 = range6('2000::/3');
const private6 = [
  '2001::/23', // Protocol assignments, Teredo (2001::/32) among them.
  '2001:db8::/32', // Documentation.
  '3fff::/20', // Documentation.
].map(range6);

/** Prefixes behind which an IPv4 address stands, and how far its lowest bit is from the right. */
const embedding6: readonly (readonly [Range6, shift: bigint])[] = [
  [range6('::ffff:0:0/96'), 0n], // IPv4-mapped.
  [range6('::/96'), 0n], // IPv4-compatible, deprecated.
  [range6('64:ff9b::/96'), 0n], // NAT64.
  [range6('2002::/16'), 80n], // 6to4.
];

const within4 = (value: number, ranges: readonly Range4[]): boolean =>
  ranges.some(([first, last]) => value >= first && value <= last);
const within6 = (value: bigint, [prefix, bits]: Range6): boolean =>
  value >> (128n - bits) === prefix >> (128n - bits);

function embeddedIpv4(value: bigint): number | undefined {
  for (const [range, shift] of embedding6) {
    if (within6(value, range)) return Number((value >> shift) & 0xffff_ffffn);
  }
  return undefined;
}

/**
 * `metadata` is never reachable; `private` only for a trusted host; `public` always.
 * What is not an IP address at all is treated like `metadata`.
 */
export type AddressClass = 'public' | 'private' | 'metadata';

export const classifyAddress = remembering((ip: string): AddressClass => {
  const value4 = parseIpv4(ip);
  if (value4 !== undefined) return classify4(value4);
  const value6 = parseIpv6(ip);
  return value6 === undefined ? 'metadata' : classify6(value6);
});

function classify4(value: number): AddressClass {
  if (within4(value, metadata4)) return 'metadata';
  return within4(value, private4) ? 'private' : 'public';
}

function classify6(value: bigint): AddressClass {
  if (metadata6.some((range) => within6(value, range))) return 'metadata';
  const inner = embeddedIpv4(value);
  // `::` and `::1` fall under 0.0.0.0/8 here, which is private: the right answer.
  if (inner !== undefined) return classify4(inner);
  if (!within6(value, globalUnicast6)) return 'private';
  return private6.some((range) => within6(value, range)) ? 'private' : 'public';
}
