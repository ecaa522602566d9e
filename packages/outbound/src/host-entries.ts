import { isIP } from 'node:net';
import { type AddressTest, parseRange } from './address-ranges.ts';

/** A line of an operator's list of hosts. */
export interface HostEntry {
  /** A name, which stands for those below it too; undefined when addresses are meant. */
  readonly name: string | undefined;
  /** The address as written, when it is one and no range. */
  readonly address: string | undefined;
  /** The addresses meant; undefined for a name. */
  readonly covers: AddressTest | undefined;
  readonly isRange: boolean;
  /** Undefined = every port. */
  readonly port: number | undefined;
}

/** An entry that cannot be used, in words for the operator who wrote it. */
export class HostEntryFault extends Error {
  override readonly name = 'HostEntryFault';
}

const labelsMax = 10;
const labelLengthMax = 63;

/**
 * Reads a host, `*.host`, an address, a range (`10.0.0.0/8`), or a URL, which
 * stands for its host. Each may have a port; an IPv6 address with one stands in
 * brackets. @throws HostEntryFault
 */
export function readHostEntry(entry: string): HostEntry {
  const text = entry.trim().toLowerCase();
  const url = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/.exec(text);
  const authority = url?.[1]?.replace(/^.*@/, '') ?? text;
  if (authority === '') throw new HostEntryFault('it is empty');
  const { host, port } = splitPort(authority);
  const covers = url !== null && host.includes('/') ? undefined : parseRange(host);
  if (covers !== undefined)
    return {
      name: undefined,
      address: isIP(host) === 0 ? undefined : host,
      covers,
      isRange: isIP(host) === 0,
      port,
    };
  if (host.includes('/')) throw new HostEntryFault('it is neither a host nor a range of addresses');
  const name = host.startsWith('*.') ? host.slice(2) : host;
  if (isIP(name) !== 0)
    throw new HostEntryFault('there is nothing below an address; write a range as 10.0.0.0/8');
  if (name.includes('*'))
    throw new HostEntryFault('a star can only stand first, before a dot and a name');
  if (!/^[a-z0-9._-]+$/.test(name) || !isPlainName(name))
    throw new HostEntryFault('it is not a plain name, address or range');
  return { name, address: undefined, covers: undefined, isRange: false, port };
}

function splitPort(authority: string): { host: string; port: number | undefined } {
  const bracketed = /^\[([^\]]*)\](\/[0-9]+)?(?::([0-9]+))?$/.exec(authority);
  const plain = /^([^:]*):([0-9]+)$/.exec(authority);
  const host = bracketed ? `${bracketed[1]}${bracketed[2] ?? ''}` : (plain?.[1] ?? authority);
  const digits = bracketed?.[3] ?? plain?.[2];
  if (digits === undefined) return { host, port: undefined };
  const port = Number(digits);
  if (port < 1 || port > 65_535) throw new HostEntryFault('a port is a number from 1 to 65535');
  return { host, port };
}

/** A name that no parser reads as an address: its last label is not a number, and no label is punycode. */
export function isPlainName(host: string): boolean {
  const labels = host.split('.');
  if (labels.length > labelsMax) return false;
  const areLabels = labels.every(
    (label) => label !== '' && label.length <= labelLengthMax && !label.startsWith('xn--'),
  );
  return areLabels && !/^(?:[0-9]+|0x[0-9a-f]*)$/.test(labels.at(-1)!);
}

/** `a.b.c` → `a.b.c`, `b.c`, `c`. */
export function withParents(host: string): string[] {
  const labels = host.split('.');
  return labels.map((_, index) => labels.slice(index).join('.'));
}
