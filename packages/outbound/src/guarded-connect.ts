import { promises as dns } from 'node:dns';
import { isIP, type LookupFunction, connect as openTcp, type Socket } from 'node:net';
import { GatewayError } from '@sluice/errors';
import { buildConnector, errors } from 'undici';
import { checkHostAndPort, type HostRules, isAddressAllowed } from './host-rules.ts';
import { createResolver } from './limited-resolver.ts';
import type { Proxies } from './proxies.ts';
import { openTunnel } from './proxy-tunnel.ts';
import { secureContextOf, type TlsIdentity } from './tls-identity.ts';

export type { TlsIdentity };

/**
 * Opens connections to upstreams, and only to addresses that were checked: the
 * name is resolved here once, every answer must be allowed, and the socket is
 * pinned to those answers, so that a name cannot change its mind in between.
 */
export interface Address {
  readonly address: string;
  readonly family: 4 | 6;
}

/** Opens a TCP socket to the first of the addresses that answers. */
export type OpenSocket = (addresses: readonly Address[], port: number) => Socket;

export interface ConnectGuardOptions {
  rules: HostRules;
  /** For the whole way: waiting, resolving, TCP and TLS. */
  connectTimeoutMs?: number;
  /** How many names are resolved at the same time. Look-ups share Node's few threads with file access. */
  validationsMax?: number;
  /** How many may wait for that. */
  waitingMax?: number;
  /** Who opens connections in our place; undefined = nobody. */
  proxies?: Proxies;
  /** All addresses of a name; for tests. */
  lookup?: (hostname: string) => Promise<readonly Address[]>;
  /** For tests. */
  openSocket?: OpenSocket;
}

export interface ConnectGuard {
  /** An undici `connect` function; its connections share this guard's limits. */
  connector(tls?: TlsIdentity): buildConnector.connector;
}

/** So many answers of one name are tried; more would only delay the failure. */
const addressesMax = 8;
/** How long an address may be silent before the next is tried; the last one has all the time that is left. */
const nextAddressAfterMs = 500;

export function createConnectGuard(options: ConnectGuardOptions): ConnectGuard {
  const connectTimeoutMs = options.connectTimeoutMs ?? 10_000;
  const openSocket = options.openSocket ?? openPinnedSocket;
  const resolve = createResolver({
    lookup:
      options.lookup ??
      ((hostname) => dns.lookup(hostname, { all: true, order: 'verbatim' }) as Promise<Address[]>),
    runningMax: options.validationsMax ?? 5,
    waitingMax: options.waitingMax ?? 1_000,
  });

  /** Every address that a connection to this host may use, or throws. */
  async function checkedAddresses(hostname: string, port: number): Promise<readonly Address[]> {
    const { trusted } = checkHostAndPort(hostname, port, options.rules, 'host');
    const family = isIP(hostname);
    if (family !== 0) return [{ address: hostname, family: family as 4 | 6 }];
    const addresses = await resolve(hostname);
    if (addresses.length === 0)
      throw new GatewayError('upstream.unreachable', { detail: { hostname } });
    for (const { address } of addresses) {
      if (!isAddressAllowed(address, { trusted })) {
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
    { protocol, hostname, port }: { protocol: string; hostname: string; port: number },
    attempt: Attempt,
  ): Promise<void> {
    const proxy = options.proxies?.find(protocol, hostname, port);
    if (proxy !== undefined) {
      // The name is checked as always; what it resolves to is the proxy's to know.
      checkHostAndPort(hostname, port, options.rules, 'host');
      attempt.opened(await openTunnel(proxy, hostname, port, (socket) => attempt.owns(socket)));
      return;
    }
    const addresses = await checkedAddresses(hostname, port);
    if (attempt.isOver) return;
    const socket = openSocket(addresses, port);
    attempt.owns(socket);
    socket.once('error', (error) => attempt.fail(error));
    socket.once('connect', () => attempt.opened(socket));
  }

  function connector(tls?: TlsIdentity): buildConnector.connector {
    const identity = tls === undefined ? {} : { secureContext: secureContextOf(tls) };
    const secure = buildConnector({ ...identity, allowH2: false, timeout: connectTimeoutMs });
    return (target, callback) => {
      const { protocol } = target;
      const hostname = target.hostname.replace(/^\[(.*)\]$/, '$1');
      const port = Number(target.port) || (protocol === 'https:' ? 443 : 80);
      const attempt = new Attempt(connectTimeoutMs, callback, (socket) => {
        if (protocol !== 'https:') return attempt.succeed(socket);
        // undici takes the name for SNI and for the certificate from `host`.
        secure({ ...target, hostname, httpSocket: socket }, (error, secured) => {
          if (error === null) attempt.succeed(secured);
          else attempt.fail(error);
        });
      });
      open({ protocol, hostname, port }, attempt).catch((error: Error) => attempt.fail(error));
    };
  }

  return { connector };
}

/** One connection being opened: ends exactly once, by success, failure or the deadline. */
class Attempt {
  isOver = false;
  readonly #callback: buildConnector.Callback;
  readonly #onOpen: (socket: Socket) => void;
  readonly #timer: NodeJS.Timeout;
  #socket: Socket | undefined;

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
