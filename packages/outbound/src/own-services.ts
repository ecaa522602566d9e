import { type AddressTest, withoutEmbedding } from './address-ranges.ts';
import { containerHostNames } from './blocked-hosts.ts';
import { HostEntryFault, readHostEntry } from './host-entries.ts';
import { isMachineHost } from './machine-addresses.ts';
import type { DroppedEntry } from './trusted-hosts.ts';

interface OwnAddresses {
  readonly covers: AddressTest;
  readonly port: number | undefined;
}

/** Ports that schemes stand for; addresses of our parts are written as any of these. */
const portsOfSchemes: Readonly<Record<string, number>> = {
  http: 80,
  https: 443,
  redis: 6379,
  rediss: 6379,
  nats: 4222,
  tls: 4222,
  postgres: 5432,
  postgresql: 5432,
};

/** Where a part listens, as an entry of the list; undefined while the port is the system's to choose. */
export function hostAndPort(host: string, port: number): string | undefined {
  if (port === 0) return undefined;
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/**
 * The parts of this installation. No list of trusted hosts opens them, and
 * nobody’s address leads to them: what stands behind a gateway believes what
 * comes from this machine.
 */
export class OwnServices {
  readonly dropped: readonly DroppedEntry[];
  /** On this machine, under each of its names and addresses. Undefined among them = every port. */
  readonly #machinePorts = new Set<number | undefined>();
  readonly #names = new Map<string, Set<number | undefined>>();
  /** Names of parts, by port: what they resolve to is theirs, too. */
  readonly #partNames = new Map<number, string[]>();
  readonly #addresses: OwnAddresses[] = [];
  readonly #ports = new Set<number>();

  /**
   * @param list an operator's: hosts, addresses, ranges and URLs, each with or without a port; see `host-entries.ts`.
   * A public name may share its address with strangers, so these count as they are written.
   * @param parts addresses of parts, as their settings have them
   */
  constructor(list: readonly string[], parts: readonly string[] = []) {
    const dropped: DroppedEntry[] = [];
    for (const entry of list)
      try {
        this.#add(entry);
      } catch (error) {
        if (!(error instanceof HostEntryFault)) throw error;
        dropped.push({ entry, reason: error.message });
      }
    this.dropped = dropped;
    for (const part of parts) this.#addPart(part);
  }

  /** Settings that are no address (a socket's path) lead nowhere a connection could. */
  #addPart(part: string): void {
    try {
      const { name, port } = this.#add(part);
      if (name === undefined || port === undefined || isMachineHost(name)) return;
      this.#partNames.set(port, [...(this.#partNames.get(port) ?? []), name]);
    } catch (error) {
      if (!(error instanceof HostEntryFault)) throw error;
    }
  }

  #add(text: string): { name: string | undefined; port: number | undefined } {
    const entry = readHostEntry(text);
    const port = entry.port ?? portsOfSchemes[/^([a-z]+):\/\//i.exec(text.trim())?.[1] ?? ''];
    if (port !== undefined) this.#ports.add(port);
    if (isMachineHost(entry.name ?? entry.address ?? '')) this.#machinePorts.add(port);
    else if (entry.covers !== undefined) this.#addresses.push({ covers: entry.covers, port });
    else this.#names.set(entry.name!, (this.#names.get(entry.name!) ?? new Set()).add(port));
    return { name: entry.name, port };
  }

  /** Whether a host as it is written, without brackets, is one of ours. */
  hasHost(host: string, port: number): boolean {
    if (isMachineHost(host)) return this.#isMachinePort(port) || this.#hasListed(host, port);
    if (containerHostNames.has(host) && this.#ports.has(port)) return true;
    return this.#hasListed(host, port);
  }

  /** Whether a connection to this address and port would reach one of ours, however it was named. */
  hasAddress(ip: string, port: number): boolean {
    return this.hasHost(withoutEmbedding(ip), port);
  }

  /** Names of parts that listen at this port: the private addresses they resolve to are ours as well. */
  namesAt(port: number): readonly string[] {
    return this.#partNames.get(port) ?? [];
  }

  #isMachinePort(port: number): boolean {
    return this.#machinePorts.has(port) || this.#machinePorts.has(undefined);
  }

  #hasListed(host: string, port: number): boolean {
    const isListed = ({ covers, port: own }: OwnAddresses) =>
      (own === undefined || own === port) && covers(host);
    return this.#addresses.some(isListed) || this.#hasName(host, port);
  }

  #hasName(host: string, port: number): boolean {
    const ports = this.#names.get(host);
    return ports !== undefined && (ports.has(port) || ports.has(undefined));
  }
}
