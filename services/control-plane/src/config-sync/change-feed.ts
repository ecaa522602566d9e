import { randomInt } from 'node:crypto';
import { type Logger, Outage } from '@sluice/telemetry';
import { Client, type Notification } from 'pg';
import { barriersChannel, type ChangeNotice, changesChannel } from '../kernel/database/change.ts';

/** What a subscriber hears. `live`: from here on nothing is missed; what came before must be read again. */
export type FeedEvent =
  | { type: 'live' }
  | { type: 'change'; notice: ChangeNotice }
  /** All notices of one change have been told. */
  | { type: 'barrier'; id: string }
  /** A replica says that its gateways have what came before a barrier, or that some have not in time. */
  | { type: 'passed'; report: PassedReport }
  /** A replica says which gateways follow it. */
  | { type: 'gateways'; report: GatewaysReport };

export interface PassedReport {
  barrier: string;
  replica: number;
  byAll: boolean;
}

export interface GatewaysReport {
  replica: number;
  gateways: string[];
}

export interface ChangeFeed {
  /** Whether the connection to Postgres stands. */
  readonly isLive: boolean;
  /** Hears `live` at once if the feed is live, and again after each interruption. */
  subscribe(listener: (event: FeedEvent) => void): () => void;
  /** The number of this replica: others see it for as long as the feed lives. */
  readonly replica: number;
  /** Begins to hear; tries for ever. */
  start(): void;
  stop(): Promise<void>;
}

const probeEveryMs = 5_000;
const probeTimeoutMs = 5_000;
/** Answers to barriers: JSON of a `PassedReport`. */
export const passedChannel = 'sluice_passed';
/** Which gateways follow a replica: JSON of a `GatewaysReport`, with its names in one text. */
export const gatewaysChannel = 'sluice_gateways';
/** Of the advisory locks that say which replicas hear of changes. */
export const replicaLocks = 727_164_032;

const reconnectMs = [100, 250, 500, 1000, 2000];

/**
 * Hears what every replica commits, on a connection of its own: LISTEN is bound
 * to a session, so it cannot come from the pool. A silent connection may be a
 * dead one, so it is probed; after a reconnection subscribers hear `live`,
 * because what was told meanwhile is lost.
 */
export function createChangeFeed(options: { databaseUrl: string; logger: Logger }): ChangeFeed {
  const { logger } = options;
  const replica = randomInt(2 ** 31);
  const listeners = new Set<(event: FeedEvent) => void>();
  let client: Client | undefined;
  let live = false;
  let stopped = false;
  let failures = 0;
  let timer: NodeJS.Timeout | undefined;
  const outage = new Outage({
    logger,
    away: 'the connection that hears of changes was lost',
    back: 'changes are heard again',
  });

  const tell = (event: FeedEvent) => {
    for (const listener of listeners) listener(event);
  };

  const lose = (lost: Client, error: unknown) => {
    if (client !== lost) return;
    client = undefined;
    live = false;
    clearTimeout(timer);
    // The socket may hang; nobody waits for its farewell.
    lost.end().catch(() => {});
    if (stopped) return;
    outage.explains(error);
    timer = setTimeout(connect, reconnectMs[Math.min(failures, reconnectMs.length - 1)]);
    failures += 1;
  };

  const probe = (probed: Client) => {
    timer = setTimeout(async () => {
      const deadline = setTimeout(
        () => lose(probed, new Error('no answer to a probe')),
        probeTimeoutMs,
      );
      try {
        await probed.query('SELECT 1');
        if (client === probed) probe(probed);
      } catch (error) {
        lose(probed, error);
      } finally {
        clearTimeout(deadline);
      }
    }, probeEveryMs);
  };

  const connect = async () => {
    const fresh = new Client({
      connectionString: options.databaseUrl,
      connectionTimeoutMillis: 5_000,
      keepAlive: true,
      application_name: 'sluice-change-feed',
    });
    client = fresh;
    fresh.on('error', (error) => lose(fresh, error));
    fresh.on('end', () => lose(fresh, new Error('the connection ended')));
    fresh.on('notification', (message) => {
      const event = readEvent(message);
      if (event === undefined)
        logger.warn({ payload: message.payload }, 'a notice of a change could not be read');
      else tell(event);
    });
    try {
      await fresh.connect();
      // Before the first notice is heard: whoever commits a change then waits for this replica.
      await fresh.query(`SELECT pg_advisory_lock_shared(${replicaLocks}, ${replica})`);
      await fresh.query(
        `LISTEN ${changesChannel}; LISTEN ${barriersChannel}; LISTEN ${passedChannel}; LISTEN ${gatewaysChannel}`,
      );
      if (client !== fresh) return;
      live = true;
      failures = 0;
      outage.ends();
      tell({ type: 'live' });
      probe(fresh);
    } catch (error) {
      lose(fresh, error);
    }
  };

  return {
    get isLive() {
      return live;
    },
    subscribe(listener) {
      listeners.add(listener);
      if (live) listener({ type: 'live' });
      return () => listeners.delete(listener);
    },
    replica,
    start: () => void connect(),
    async stop() {
      stopped = true;
      clearTimeout(timer);
      const last = client;
      client = undefined;
      live = false;
      listeners.clear();
      await last?.end().catch(() => {});
    },
  };
}

function readEvent({ channel, payload = '' }: Notification): FeedEvent | undefined {
  if (channel === barriersChannel) return { type: 'barrier', id: payload };
  try {
    const value = JSON.parse(payload) as Record<string, unknown>;
    if (channel === passedChannel) return passedEvent(value);
    if (channel === gatewaysChannel) return gatewaysEvent(value);
    const notice = asNotice(value);
    return notice === undefined ? undefined : { type: 'change', notice };
  } catch {
    // Reported by the caller, like any other payload that is not ours.
    return undefined;
  }
}

function asNotice(value: Record<string, unknown>): ChangeNotice | undefined {
  if (typeof value.key === 'string') return keyNotice(value.key, value);
  if (typeof value.organisation === 'string') return { organisation: value.organisation };
  if (typeof value.workspace === 'string' && typeof value.revision === 'string')
    return { workspace: value.workspace, revision: value.revision };
  return undefined;
}

function keyNotice(key: string, { of, mark }: Record<string, unknown>): ChangeNotice {
  return typeof of === 'string' && typeof mark === 'string' ? { key, of, mark } : { key };
}

function passedEvent({ barrier, replica, byAll }: Record<string, unknown>): FeedEvent | undefined {
  if (typeof barrier !== 'string' || typeof replica !== 'number') return undefined;
  return { type: 'passed', report: { barrier, replica, byAll: byAll === true } };
}

function gatewaysEvent({ replica, gateways }: Record<string, unknown>): FeedEvent | undefined {
  if (typeof replica !== 'number' || typeof gateways !== 'string') return undefined;
  const names = gateways === '' ? [] : gateways.split(',');
  return { type: 'gateways', report: { replica, gateways: names } };
}
