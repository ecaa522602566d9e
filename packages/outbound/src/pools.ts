import { GatewayError } from '@sluice/errors';
import { Pool } from 'undici';
import type { ConnectGuard, TlsIdentity } from './guarded-connect.ts';

/**
 * Keep-alive connections to upstreams, one undici pool for each origin and TLS
 * identity. Deadlines belong to the attempt, so pools have none but for connecting.
 */
export interface UpstreamPools {
  /** The pool of an origin (`https://api.openai.com`). Dispatch on it at once: an idle pool may be closed by the next call. */
  pool(origin: string, tls?: TlsIdentity): Pool;
  /** How many pools are open. */
  readonly size: number;
  /** Takes no new request, lets those in flight end, and cuts what is left after `graceMs`. */
  close(graceMs: number): Promise<void>;
}

export interface UpstreamPoolsOptions {
  guard: ConnectGuard;
  poolsMax?: number;
  /** For each origin; requests beyond it wait for a free connection. */
  connectionsMax?: number;
  /** How long an unused connection is kept when the upstream does not say. */
  keepAliveMs?: number;
  /** Bytes of response headers. */
  headerBytesMax?: number;
}

export function createUpstreamPools(options: UpstreamPoolsOptions): UpstreamPools {
  const poolsMax = options.poolsMax ?? 1_000;
  /** Least recently used first. */
  const pools = new Map<string, Pool>();
  const closing = new Set<Pool>();
  let isClosed = false;

  const settings: Omit<Pool.Options, 'connect'> = {
    connections: options.connectionsMax ?? 1_024,
    pipelining: 1,
    allowH2: false,
    keepAliveTimeout: options.keepAliveMs ?? 30_000,
    keepAliveMaxTimeout: 600_000,
    maxHeaderSize: options.headerBytesMax ?? 32_768,
    headersTimeout: 0,
    bodyTimeout: 0,
  };

  function retire(pool: Pool): void {
    closing.add(pool);
    // Nothing waits for a retired pool, and it had nothing in flight; a failure to close it has no one to matter to.
    pool
      .close()
      .catch(() => undefined)
      .finally(() => closing.delete(pool));
  }

  function makeRoom(): void {
    if (pools.size < poolsMax) return;
    for (const [key, pool] of pools) {
      if (!isIdle(pool)) continue;
      pools.delete(key);
      retire(pool);
      return;
    }
    throw new GatewayError('upstream.unreachable', {
      detail: { reason: 'every pool is in use', poolsMax },
    });
  }

  return {
    pool(origin, tls) {
      if (isClosed) throw new GatewayError('gateway.draining');
      const key = tls === undefined ? origin : `${origin} ${tls.id}`;
      let pool = pools.get(key);
      if (pool === undefined) {
        makeRoom();
        pool = new Pool(origin, { ...settings, connect: options.guard.connector(tls) });
      } else {
        pools.delete(key);
      }
      pools.set(key, pool);
      return pool;
    },
    get size() {
      return pools.size;
    },
    async close(graceMs) {
      isClosed = true;
      const all = [...pools.values(), ...closing];
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

function isIdle(pool: Pool): boolean {
  const { running, pending, queued } = pool.stats;
  return running + pending + queued === 0;
}
