import { isIP } from 'node:net';
import { type AddressTest, classifyAddress } from './address-ranges.ts';
import { blockedPorts } from './blocked-hosts.ts';
import { type HostEntry, HostEntryFault, readHostEntry, withParents } from './host-entries.ts';
import { isNeverReachableName } from './never-reachable.ts';

/** An entry of a list that is not used, and why. */
export interface DroppedEntry {
  readonly entry: string;
  readonly reason: string;
}

interface TrustedAddresses {
  readonly covers: AddressTest;
  readonly isRange: boolean;
  readonly port: number | undefined;
}

/** Hosts that may be called although they are private, for those whose list this is. */
export class TrustedHosts {
  readonly dropped: readonly DroppedEntry[];
  /** Ports by name; undefined among them = every port. */
  readonly #names = new Map<string, Set<number | undefined>>();
  readonly #addresses: TrustedAddresses[] = [];

  constructor(list: readonly string[]) {
    const dropped: DroppedEntry[] = [];
    for (const entry of list)
      try {
        this.#add(readHostEntry(entry));
      } catch (error) {
        if (!(error instanceof HostEntryFault)) throw error;
        dropped.push({ entry, reason: error.message });
      }
    this.dropped = dropped;
  }

  #add({ name, address, covers, isRange, port }: HostEntry): void {
    if (port !== undefined && blockedPorts.has(port))
      throw new HostEntryFault(`port ${port} is that of a service that is never called`);
    if (covers !== undefined) {
      if (address !== undefined && classifyAddress(address) === 'metadata')
        throw new HostEntryFault('metadata services are never called');
      this.#addresses.push({ covers, isRange, port });
      return;
    }
    if (isNeverReachableName(name!))
      throw new HostEntryFault(
        'names of metadata services, of Kubernetes’ API server, of service discovery, and names that resolve to what they spell are never called',
      );
    this.#names.set(name!, (this.#names.get(name!) ?? new Set()).add(port));
  }

  /** A host as it was written, without brackets. */
  hasHost(host: string, port: number): boolean {
    if (isIP(host) !== 0)
      return this.#addresses.some(
        (trusted) => isForPort(trusted.port, port) && trusted.covers(host),
      );
    return withParents(host).some((name) => {
      const ports = this.#names.get(name);
      return ports !== undefined && (ports.has(undefined) || ports.has(port));
    });
  }

  /** An address that a name resolves to: ranges are about where a connection goes, however it was named. */
  hasResolved(ip: string, port: number): boolean {
    return this.#addresses.some(
      (trusted) => trusted.isRange && isForPort(trusted.port, port) && trusted.covers(ip),
    );
  }
}

function isForPort(entryPort: number | undefined, port: number): boolean {
  return entryPort === undefined || entryPort === port;
}
