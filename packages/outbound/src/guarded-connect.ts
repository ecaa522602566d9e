import { isIP, type LookupFunction, connect as openTcp, type Socket } from 'node:net';
import { GatewayError } from '@sluice/errors';
import { buildConnector, errors } from 'undici';
import type { Address } from './address.ts';
import { createDnsLookup, type Lookup, lookUpBySystem } from './dns-lookup.ts';
import { FairPlaces, type Leave } from './fair-places.ts';
import {
  type AddressAuthor,
  checkHostAndPort,
  type HostRules,
  isAddressAllowed,
} from './host-rules.ts';
import { createNameResolver } from './name-resolver.ts';
import { createOwnAddresses } from './own-addresses.ts';
import type { Proxies } from './proxies.ts';
import { openTunnel } from './proxy-tunnel.ts';
import { secureContextOf, type TlsIdentity } from './tls-identity.ts';
import { unreachable } from './upstream-failure.ts';

export type { TlsIdentity };

/** Opens a TCP socket to the first of the addresses that answers. */
export type OpenSocket = (addresses: readonly Address[], port: number) => Socket;

export interface ConnectGuardOptions {
  rules: HostRules;
  /** For the whole way: waiting, resolving, TCP and TLS. */
  connectTimeoutMs?: number;
  /** For the name alone, waiting for a place included. */
  lookupTimeoutMs?: number;
  /** How many names are resolved at the same time for one owner. */
  validationsMax?: number;
  /** How many connections may be on their way at the same time for one owner. */
  connectingMax?: number;
  /** How many of one owner may wait for either. */
  waitingMax?: number;
  /** Who opens connections in our place; undefined = nobody. */
  proxies?: Proxies | undefined;
  /** `system` = getaddrinfo, with all that the system is set up for, on the few threads there are. */
  resolver?: 'dns' | 'system';
  /** DNS servers, `address` or `address:port`, in place of the system's. */
  dnsServers?: readonly string[] | undefined;
  /** All addresses of a name; for tests. */
  lookup?: Lookup;
  /** For tests. */
  openSocket?: OpenSocket;
}

/** What the connections of one pool are for. */
export interface ConnectPurpose {
  tls?: TlsIdentity | undefined;
  /** Who wrote the address; who does not say is trusted least. */
  by?: AddressAuthor;
  /** On whose account the next connection is opened; asked for each. */
  owner?: () => string;
}

export interface ConnectGuard {
  /** An undici `connect` function; its connections share this guard's limits. */
  connector(purpose?: ConnectPurpose): buildConnector.connector;
  /** The addresses that a connection to this URL would use. @throws GatewayError as it would */
  lookUp(url: Readonly<URL>, by: AddressAuthor, owner: string): Promise<readonly Address[]>;
}

/** So many answers of one name are tried; more would only delay the failure. */
const addressesMax = 8;
/** How long an address may be silent before the next is tried; the last one has all the time that is left. */
const nextAddressAfterMs = 500;
/** Of all owners together: sockets that wait for a DNS server, and sockets that are not yet connected. */
const lookupsMax = 256;
const connectingAllMax = 2_048;
/**
 * Of these one owner's. An upstream that takes connections slowly is not asked for few at a time: of 5,000 streams
 * begun at once the last would wait for forty rounds. Two owners who are never answered still leave room for others.
 */
const connectingOwnerMax = 768;
/** Of one owner; the requests are held anyway. */
const connectingWaitingMax = 20_000;

export function createConnectGuard(options: ConnectGuardOptions): ConnectGuard {
  const { rules } = options;
  const connectTimeoutMs = options.connectTimeoutMs ?? 10_000;
  const openSocket = options.openSocket ?? openPinnedSocket;
  const waitingMax = options.waitingMax ?? 1_000;
  const resolve = createNameResolver({
    lookup: options.lookup ?? systemLookup(options),
    places: new FairPlaces({ what: 'the look-up of a name', waitingMax, ...lookupPlaces(options) }),
    deadlineMs: options.lookupTimeoutMs ?? 5_000,
  });
  const connecting = new FairPlaces({
    what: 'a connection',
    ownerMax: options.connectingMax ?? connectingOwnerMax,
    allMax: connectingAllMax,
    // Who waits holds no socket: a burst of streams of one owner is opened a few at a time, and not refused.
    waitingMax: options.waitingMax ?? connectingWaitingMax,
  });
  const ownAddresses = createOwnAddresses(rules.own, resolve);

  /** Every address that a connection to this host may use, or throws. */
  async function checkedAddresses(
    { hostname, port }: Destination,
    by: AddressAuthor,
    owner: string,
  ): Promise<readonly Address[]> {
    const { trusted } = checkHostAndPort(hostname, port, rules, 'host', by);
    const family = isIP(hostname);
    const addresses: readonly Address[] =
      family !== 0
        ? [{ address: hostname, family: family as 4 | 6 }]
        : await resolve(hostname, owner);
    if (addresses.length === 0) throw unreachable('dns', { detail: { hostname } });
    const ours = await ownAddresses(port);
    for (const { address } of addresses) {
      const isAllowed =
        isAddressAllowed(address, {
          trusted: trusted || rules.trusted[by].hasResolved(address, port),
        }) &&
        !rules.own.hasAddress(address, port) &&
        !ours.has(address);
      if (!isAllowed) {
        // The address stays with the operator: it would tell callers what the inside of the network looks like.
        const message = 'The host resolves to an address that is not allowed.';
        throw new GatewayError('host.invalid', {
          field: 'host',
          message,
          detail: { hostname, address },
        });
      }
    }
    return addresses.slice(0, addressesMax);
  }

  /** A socket to the host, not yet secured: through its proxy, or to a checked address. */
  async function open(
    destination: Destination,
    by: AddressAuthor,
    owner: string,
    attempt: Attempt,
  ): Promise<void> {
    const { protocol, hostname, port } = destination;
    const proxy = options.proxies?.find(protocol, hostname, port);
    if (proxy !== undefined) {
      // The name is checked as always; what it resolves to is the proxy's to know.
      checkHostAndPort(hostname, port, rules, 'host', by);
      attempt.opened(await openTunnel(proxy, hostname, port, (socket) => attempt.owns(socket)));
      return;
    }
    const addresses = await checkedAddresses(destination, by, owner);
    if (attempt.isOver) return;
    const socket = openSocket(addresses, port);
    attempt.owns(socket);
    socket.once('error', (error) => attempt.fail(error));
    socket.once('connect', () => attempt.opened(socket));
  }

  function connector(purpose: ConnectPurpose = {}): buildConnector.connector {
    const { tls, by = 'caller' } = purpose;
    const identity = tls === undefined ? {} : { secureContext: secureContextOf(tls) };
    const secure = buildConnector({ ...identity, allowH2: false, timeout: connectTimeoutMs });
    return (target, callback) => {
      const destination = destinationOf(target);
      const { protocol, hostname } = destination;
      const owner = purpose.owner?.() ?? hostname;
      const attempt = new Attempt(connectTimeoutMs, callback, (socket) => {
        if (protocol !== 'https:') return attempt.succeed(socket);
        // undici takes the name for SNI and for the certificate from `host`.
        secure({ ...target, hostname, httpSocket: socket }, (error, secured) => {
          if (error === null) attempt.succeed(secured);
          else attempt.fail(error);
        });
      });
      attempt.enter(connecting, owner, () => {
        open(destination, by, owner, attempt).catch((error: Error) => attempt.fail(error));
      });
    };
  }

  return {
    connector,
    lookUp: (url, by, owner) => checkedAddresses(destinationOf(url), by, owner),
  };
}

interface Destination {
  protocol: string;
  hostname: string;
  port: number;
}

function destinationOf(url: { protocol: string; hostname: string; port: string }): Destination {
  return {
    protocol: url.protocol,
    hostname: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: Number(url.port) || (url.protocol === 'https:' ? 443 : 80),
  };
}

function systemLookup({ resolver, dnsServers }: ConnectGuardOptions): Lookup {
  return resolver === 'system' ? lookUpBySystem : createDnsLookup({ servers: dnsServers });
}

/** A thread cannot be called back, and there are few: with those, nobody gets more than half of the places. */
function lookupPlaces({ resolver, validationsMax = 5 }: ConnectGuardOptions) {
  return resolver === 'system'
    ? { ownerMax: Math.max(1, Math.floor(validationsMax / 2)), allMax: validationsMax }
    : { ownerMax: validationsMax, allMax: Math.max(lookupsMax, validationsMax) };
}

/** One connection being opened: ends exactly once, by success, failure or the deadline. */
class Attempt {
  isOver = false;
  readonly #callback: buildConnector.Callback;
  readonly #onOpen: (socket: Socket) => void;
  readonly #timer: NodeJS.Timeout;
  #socket: Socket | undefined;
  #leave: Leave | undefined;

  constructor(
    timeoutMs: number,
    callback: buildConnector.Callback,
    onOpen: (socket: Socket) => void,
  ) {
    this.#callback = callback;
    this.#onOpen = onOpen;
    this.#timer = setTimeout(
      () => this.fail(new errors.ConnectTimeoutError(`not connected within ${timeoutMs} ms`)),
      timeoutMs,
    );
  }

  /** Begins when there is a place, which is given back at the end, however that comes. */
  enter(places: FairPlaces, owner: string, begin: () => void): void {
    try {
      this.#leave = places.enter(owner, begin);
    } catch (error) {
      this.fail(error as Error);
    }
  }

  /** A failure of the attempt ends this socket. */
  owns(socket: Socket): void {
    this.#socket = socket;
    if (this.isOver) socket.destroy();
  }

  opened(socket: Socket): void {
    if (this.isOver) socket.destroy();
    else this.#onOpen(socket);
  }

  succeed(socket: Socket): void {
    if (this.#end()) this.#callback(null, socket);
  }

  fail(error: Error): void {
    if (!this.#end()) return;
    this.#socket?.destroy();
    this.#callback(error, null);
  }

  #end(): boolean {
    if (this.isOver) return false;
    this.isOver = true;
    clearTimeout(this.#timer);
    this.#leave?.();
    return true;
  }
}

/**
 * All sockets read into one buffer, and what came is copied to its own size.
 * By default each read takes 64 KiB from the system's heap and gives most of it
 * back, which costs time and leaves the heap in pieces.
 */
const readBuffer = Buffer.allocUnsafeSlow(64 * 1024);

function pushCopy(this: Socket, bytesRead: number, buffer: Uint8Array): boolean {
  return this.push(Buffer.from(buffer.subarray(0, bytesRead)));
}

/** Node's own address racing, fed with the checked addresses instead of a second look-up. */
function openPinnedSocket(addresses: readonly Address[], port: number): Socket {
  const lookup: LookupFunction = (_hostname, options, callback) => {
    if (options.all) callback(null, [...addresses]);
    else callback(null, addresses[0]!.address, addresses[0]!.family);
  };
  const single = addresses.length === 1 ? addresses[0]!.address : 'checked.invalid';
  const socket = openTcp({
    host: single,
    port,
    lookup,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: nextAddressAfterMs,
    onread: { buffer: readBuffer, callback: pushCopy },
  });
  socket.setNoDelay(true);
  socket.setKeepAlive(true, 60_000);
  return socket;
}
