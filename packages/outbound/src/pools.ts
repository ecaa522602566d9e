import { GatewayError } from '@sluice/errors';
import type { ConnectGuard, TlsIdentity } from './guarded-connect.ts';
import type { AddressAuthor } from './host-rules.ts';
import { OriginPool, type OriginPoolOptions } from './origin-pool.ts';
import { unreachable } from './upstream-failure.ts';

/**
 * Keep-alive connections to upstreams, one pool for each origin, TLS
 * identity and kind of author: a connection that an admin's address was trusted
 * with is never a caller's. Deadlines belong to the attempt, so pools have none but for connecting.
 */
export interface UpstreamPools {
  /**
   * The pool of an origin (`https://api.openai.com`). Dispatch on it at once: an
   * idle pool may be closed by the next call, and a connection that is opened
   * now is on this owner's account. @throws GatewayError `upstream.unreachable`
   * when all pools, or all that one owner may have, are in use
   */
  pool(origin: string, use?: PoolUse): OriginPool;
  /** What a call of this pool may have to wait for; undefined where connections are not bounded. */
  placeOf(pool: OriginPool): PlaceInPool | undefined;
  /** How many pools are open. */
  readonly size: number;
  /** Of all pools: connections that are open, and requests that wait for one. */
  readonly load: { readonly connections: number; readonly waiting: number };
  /** Takes no new request, lets those in flight end, and cuts what is left after `graceMs`. */
  close(graceMs: number): Promise<void>;
}

/** A connection of a pool that has only so many. */
export interface PlaceInPool {
  readonly waitMs: number;
  /** Requests wait in line, since every connection is in use. */
  isTaken(): boolean;
  /** The line is as long as it may be. */
  isFull(): boolean;
}

export interface PoolUse {
  tls?: TlsIdentity | undefined;
  /** Who wrote the address; who does not say is trusted least. */
  by?: AddressAuthor;
  /** On whose account look-ups, connections and pools are; default: the origin's own. */
  owner?: string;
}

export interface UpstreamPoolsOptions {
  guard: ConnectGuard;
  poolsMax?: number;
  /** How many origins may be in use on one owner's account. */
  ownerPoolsMax?: number;
  /** For each origin; requests beyond it wait for a free connection. Not given = as many as there are requests. */
  connectionsMax?: number | undefined;
  /** How long whoever calls should wait for one, ms; see `placeOf`. */
  connectionsWaitMs?: number | undefined;
  /** How long an unused connection is kept when the upstream does not say. */
  keepAliveMs?: number;
  /** Bytes of response headers. */
  headerBytesMax?: number;
}

interface OpenPool {
  readonly pool: OriginPool;
  readonly openedFor: string;
  /** Who took it last: what it opens next is on this account. */
  owner: string;
  /** The higher, the later it was taken. */
  takenAs: number;
}

/** Who has left stays in the line until its turn comes, with what was to be sent. */
const lineMax = 5_000;

export function createUpstreamPools(options: UpstreamPoolsOptions): UpstreamPools {
  const poolsMax = options.poolsMax ?? 1_000;
  const ownerPoolsMax = options.ownerPoolsMax ?? 100;
  const pools = new Map<string, OpenPool>();
  let takings = 0;
  const counts = new Map<string, number>();
  const closing = new Set<OriginPool>();
  let isClosed = false;

  const settings: Omit<OriginPoolOptions, 'connect'> = {
    connectionsMax: options.connectionsMax,
    allowH2: false,
    keepAliveTimeout: options.keepAliveMs ?? 30_000,
    keepAliveMaxTimeout: 600_000,
    maxHeaderSize: options.headerBytesMax ?? 32_768,
    headersTimeout: 0,
    bodyTimeout: 0,
  };

  function retire(pool: OriginPool): void {
    closing.add(pool);
    // Nothing waits for a retired pool, and it had nothing in flight; a failure to close it has no one to matter to.
    pool
      .close()
      .catch(() => undefined)
      .finally(() => closing.delete(pool));
  }

  function drop(key: string, { pool, openedFor }: OpenPool): void {
    pools.delete(key);
    const left = (counts.get(openedFor) ?? 1) - 1;
    if (left === 0) counts.delete(openedFor);
    else counts.set(openedFor, left);
    retire(pool);
  }

  /** An owner with many pools gives up one of its own; else the one that nobody used for longest goes. */
  function makeRoom(owner: string): void {
    const isOwnersLimit = (counts.get(owner) ?? 0) >= ownerPoolsMax;
    if (!isOwnersLimit && pools.size < poolsMax) return;
    const idle = leastRecentlyTaken(isOwnersLimit ? owner : undefined);
    if (idle !== undefined) {
      drop(...idle);
      return;
    }
    throw unreachable('busy', {
      detail: isOwnersLimit
        ? { reason: 'every pool of this owner is in use', owner, ownerPoolsMax }
        : { reason: 'every pool is in use', poolsMax },
    });
  }

  /** Looked for where there is no room, so that a pool that is taken is no more than found. */
  function leastRecentlyTaken(owner: string | undefined): [string, OpenPool] | undefined {
    let least: [string, OpenPool] | undefined;
    for (const entry of pools) {
      const [, open] = entry;
      if ((owner !== undefined && open.openedFor !== owner) || !open.pool.isIdle) continue;
      if (least === undefined || open.takenAs < least[1].takenAs) least = entry;
    }
    return least;
  }

  function openPool(origin: string, { tls, by }: PoolUse, owner: string): OpenPool {
    makeRoom(owner);
    const connect = options.guard.connector({
      tls,
      ...(by === undefined ? {} : { by }),
      owner: () => open.owner,
    });
    const open: OpenPool = {
      pool: new OriginPool(origin, { ...settings, connect }),
      openedFor: owner,
      owner,
      takenAs: 0,
    };
    counts.set(owner, (counts.get(owner) ?? 0) + 1);
    return open;
  }

  return {
    pool(origin, use = {}) {
      if (isClosed) throw new GatewayError('gateway.draining');
      const { tls, owner = origin } = use;
      const { by = 'caller' } = use;
      const named = by === 'admin' ? origin : `${by} ${origin}`;
      const key = tls === undefined ? named : `${named} ${tls.id}`;
      let open = pools.get(key);
      if (open === undefined) {
        open = openPool(origin, use, owner);
        pools.set(key, open);
      }
      open.owner = owner;
      open.takenAs = ++takings;
      return open.pool;
    },
    placeOf(pool) {
      const { connectionsMax, connectionsWaitMs: waitMs } = options;
      if (connectionsMax === undefined || waitMs === undefined) return undefined;
      return {
        waitMs,
        isTaken: () => pool.queued > 0,
        isFull: () => pool.queued >= lineMax,
      };
    },
    get size() {
      return pools.size;
    },
    get load() {
      let connections = 0;
      let waiting = 0;
      for (const { pool } of pools.values()) {
        const { load } = pool;
        connections += load.connections;
        waiting += load.waiting;
      }
      return { connections, waiting };
    },
    async close(graceMs) {
      isClosed = true;
      const all = [...Array.from(pools.values(), ({ pool }) => pool), ...closing];
      pools.clear();
      let timer: NodeJS.Timeout | undefined;
      const graceOver = new Promise<'cut'>((done) => {
        timer = setTimeout(done, graceMs, 'cut');
      });
      const drained = Promise.all(all.map((pool) => (pool.closed ? undefined : pool.close())));
      const outcome = await Promise.race([drained, graceOver]);
      clearTimeout(timer);
      if (outcome === 'cut') await Promise.all(all.map((pool) => pool.destroy()));
    },
  };
}
