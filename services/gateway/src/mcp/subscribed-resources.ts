import { RecentMap } from '../chain/recent-map.ts';
import { sharedKeys } from '../redis/shared-keys.ts';
import type { SharedPart } from '../redis/shared-store.ts';
import type { Session } from './session.ts';

const sessionsMax = 20_000;
const resourcesMax = 100;
/** Looked at for all sessions of a server at once, and only while one of them has a stream here. */
const lookMs = 500;
const changesMax = 1000;
const changesTtlMs = 120_000;

/** XRANGE: an id, and its fields. */
type Change = readonly [string, readonly string[]];

interface Watched {
  readonly organisationId: string;
  readonly serverId: string;
  /** By the name of the session. */
  readonly sessions: Map<string, Set<() => void>>;
  /** Of the last change that was read; Redis's own clock makes them. */
  last: string;
}

/**
 * Single resources that sessions are subscribed to whose servers know nothing of sessions: in Redis, where gateways share
 * one, so that the gateway that has a session's stream hears of what another was asked; else in memory.
 */
export class SubscribedResources {
  readonly #shared: SharedPart | undefined;
  readonly #own = new RecentMap<ReadonlySet<string>>(sessionsMax);
  readonly #watched = new Map<string, Watched>();

  constructor(shared: SharedPart | undefined) {
    this.#shared = shared;
  }

  /** Never rejects. */
  async of(session: Session): Promise<readonly string[]> {
    const key = keyOf(session);
    const own = this.#own.use(session.name) ?? none;
    if (this.#shared?.isUsable !== true) return [...own];
    return this.#shared
      .call(key, (redis) => redis.call('SMEMBERS', key))
      .then(
        (shared) => [...new Set(shared as string[])],
        () => [...own],
      );
  }

  /** False = there are too many. Never rejects. */
  async add(session: Session, uri: string): Promise<boolean> {
    const known = await this.of(session);
    if (known.includes(uri)) return true;
    if (known.length >= resourcesMax) return false;
    await this.#change(session, new Set([...known, uri]), 'sadd', uri);
    return true;
  }

  /** Never rejects. */
  async remove(session: Session, uri: string): Promise<void> {
    const known = new Set(await this.of(session));
    if (known.delete(uri)) await this.#change(session, known, 'srem', uri);
  }

  /** @param changed called after each change, wherever it is made. @returns what ends it */
  watch({ organisationId, serverId, name }: Session, changed: () => void): () => void {
    const place = `${organisationId} ${serverId}`;
    let watched = this.#watched.get(place);
    if (watched === undefined) {
      watched = { organisationId, serverId, sessions: new Map(), last: '0' };
      this.#watched.set(place, watched);
      this.#look(place, watched);
    }
    const { sessions } = watched;
    const hearing = sessions.get(name) ?? new Set();
    sessions.set(name, hearing.add(changed));
    return () => {
      hearing.delete(changed);
      if (hearing.size === 0 && sessions.get(name) === hearing) sessions.delete(name);
      if (sessions.size === 0 && this.#watched.get(place)?.sessions === sessions)
        this.#watched.delete(place);
    };
  }

  async #change(
    session: Session,
    now: ReadonlySet<string>,
    command: 'sadd' | 'srem',
    uri: string,
  ): Promise<void> {
    const { organisationId, serverId, name, expiresAt } = session;
    this.#own.set(name, now);
    if (this.#shared?.isUsable === true) {
      const key = keyOf(session);
      const changes = sharedKeys.mcpSubscribed(organisationId, serverId);
      const ttlMs = Math.max(1000, expiresAt * 1000 - Date.now());
      await this.#shared
        .call(key, (redis) =>
          redis
            .multi([
              [command, key, uri],
              ['pexpire', key, ttlMs],
              ['xadd', changes, 'MAXLEN', '~', changesMax, '*', 'session', name],
              ['pexpire', changes, changesTtlMs],
            ])
            .exec(),
        )
        // The part rests now, and this gateway knows all the same.
        .catch(() => undefined);
    }
    tell(this.#watched.get(`${organisationId} ${serverId}`), name);
  }

  /** What was changed at other gateways, as long as somebody here wants to hear of it. */
  #look(place: string, watched: Watched): void {
    const shared = this.#shared;
    if (shared === undefined) return;
    const look = async () => {
      if (this.#watched.get(place) !== watched) return;
      const key = sharedKeys.mcpSubscribed(watched.organisationId, watched.serverId);
      try {
        const changes = (await shared.call(key, (redis) =>
          redis.call('XRANGE', key, `(${watched.last}`, '+', 'COUNT', changesMax),
        )) as readonly Change[];
        watched.last = changes.at(-1)?.[0] ?? watched.last;
        for (const name of new Set(changes.map(([, fields]) => fields[1] ?? '')))
          tell(watched, name);
      } catch {
        // The part rests now, and is asked again.
      }
      setTimeout(look, lookMs).unref();
    };
    void look();
  }
}

function tell(watched: Watched | undefined, name: string): void {
  for (const changed of watched?.sessions.get(name) ?? []) changed();
}

const none: ReadonlySet<string> = new Set();

function keyOf({ organisationId, name }: Session): string {
  return sharedKeys.mcpSession(organisationId, `${name}:resources`);
}
