import { RecentMap } from '../../chain/recent-map.ts';
import { sharedKeys } from '../../redis/shared-keys.ts';
import { sharedScript } from '../../redis/shared-script.ts';
import type { SharedCommands, SharedPart, SharedStore } from '../../redis/shared-store.ts';

/** After this, memory asks Redis again what it holds, so that gateways that disagreed agree. */
const freshMs = 30_000;
/** How long "Redis has none" is believed. */
const absentMs = 1000;
const callsInFlightMax = 256;

/**
 * Assigns unless another gateway did: an assignment is replaced only by a
 * caller that knew it. The time to live counts from the first assignment.
 *
 * KEYS  the key
 * ARGV  child, ttl in ms, the child it replaces or ""
 * reply { child, remaining ms } as Redis holds it now
 */
const assignChild = sharedScript<[child: string, remainingMs: number]>(`
local held = redis.call('GET', KEYS[1])
if held and held ~= ARGV[3] then
  return { held, redis.call('PTTL', KEYS[1]) }
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return { ARGV[1], tonumber(ARGV[2]) }`);

interface Assignment {
  /** Undefined = Redis has none. */
  readonly child: string | undefined;
  readonly expiresAtMs: number;
  /** Until then Redis is not asked. */
  readonly freshUntilMs: number;
}

/**
 * Which child a sticky key was given to: in memory, and in Redis for the other
 * gateways. When Redis is away or slow, each gateway remembers its own.
 */
export class StickyChildren {
  readonly #assignments: RecentMap<Assignment>;
  readonly #part: SharedPart | undefined;
  readonly #now: () => number;

  constructor(
    options: {
      store?: SharedStore;
      entriesMax?: number;
      now?: () => number;
      /** How long Redis may take to answer; 100 ms unless told. */
      timeoutMs?: number;
    } = {},
  ) {
    this.#part = options.store?.share({
      name: 'sticky',
      deadlineMs: options.timeoutMs ?? 100,
      callsMax: callsInFlightMax,
    });
    this.#assignments = new RecentMap(options.entriesMax ?? 100_000);
    this.#now = options.now ?? (() => performance.now());
  }

  /** Entries held in memory, negative ones included. */
  get size(): number {
    return this.#assignments.size;
  }

  /** There is a Redis, and each gateway remembers alone all the same. */
  get degraded(): boolean {
    return this.#part?.degraded ?? false;
  }

  /**
   * Loads what memory does not hold, in one round trip of at most 100 ms;
   * undefined when nothing has to be waited for. Never rejects.
   */
  load(organisationId: string, keys: readonly string[]): Promise<void> | undefined {
    if (this.#part?.isUsable !== true) return undefined;
    const nowMs = this.#now();
    const wanted = keys.filter((key) => !this.#isFresh(key, nowMs));
    return wanted.length === 0 ? undefined : this.#loadAll(this.#part, organisationId, wanted);
  }

  /** From memory: call `load` first. */
  get(key: string): string | undefined {
    return this.#held(key)?.child;
  }

  /** The time to live counts from the first time; the same child again does not prolong it. */
  put(organisationId: string, key: string, child: string, ttlMs: number): void {
    const before = this.#held(key)?.child;
    if (before === child || ttlMs <= 0) return;
    this.#remember(key, child, ttlMs);
    this.#assign(organisationId, key, child, ttlMs, before);
  }

  #held(key: string): Assignment | undefined {
    const assignment = this.#assignments.use(key);
    if (assignment === undefined || assignment.expiresAtMs > this.#now()) return assignment;
    this.#assignments.delete(key);
    return undefined;
  }

  #isFresh(key: string, nowMs: number): boolean {
    const assignment = this.#assignments.peek(key);
    return (
      assignment !== undefined && assignment.freshUntilMs > nowMs && assignment.expiresAtMs > nowMs
    );
  }

  #remember(key: string, child: string | undefined, remainingMs: number): void {
    const nowMs = this.#now();
    this.#assignments.set(key, {
      child,
      expiresAtMs: nowMs + remainingMs,
      freshUntilMs: nowMs + Math.min(freshMs, remainingMs),
    });
  }

  /** An answer that comes too late for this request is still of use to the next one. */
  async #loadAll(part: SharedPart, organisationId: string, keys: readonly string[]): Promise<void> {
    try {
      await part.call(sharedKeys.stickyChild(organisationId, keys[0] ?? ''), (redis) =>
        Promise.all(keys.map((key) => this.#loadOne(redis, organisationId, key))),
      );
    } catch {
      // Memory goes on alone, and says so by `degraded`.
    }
  }

  /** Two plain commands a key, sent together. */
  async #loadOne(redis: SharedCommands, organisationId: string, key: string): Promise<void> {
    const before = this.#assignments.peek(key);
    const name = sharedKeys.stickyChild(organisationId, key);
    const [child, remainingMs] = await Promise.all([redis.get(name), redis.pttl(name)]);
    // A choice made meanwhile is on its way to Redis, and Redis settles it there.
    if (this.#assignments.peek(key) !== before) return;
    if (child !== null && remainingMs > 0) {
      this.#remember(key, child, remainingMs);
      return;
    }
    const ours = this.#held(key);
    if (ours?.child === undefined) {
      this.#remember(key, undefined, absentMs);
      return;
    }
    // Redis was away when it was made, or forgot it.
    const ownRemainingMs = ours.expiresAtMs - this.#now();
    this.#remember(key, ours.child, ownRemainingMs);
    this.#assign(organisationId, key, ours.child, ownRemainingMs, undefined);
  }

  #assign(
    organisationId: string,
    key: string,
    child: string,
    ttlMs: number,
    replaces: string | undefined,
  ): void {
    if (this.#part?.isUsable !== true) return;
    const mine = this.#assignments.peek(key);
    const name = sharedKeys.stickyChild(organisationId, key);
    this.#part
      .call(name, async (redis) => {
        const args = [child, Math.ceil(ttlMs), replaces ?? ''];
        const [held, remainingMs] = await assignChild.run(redis, [name], args);
        // Where another gateway was first, its choice and its time to live count.
        if (this.#assignments.peek(key) === mine) this.#remember(key, held, remainingMs);
      })
      .catch(() => {
        // Memory goes on alone, and says so by `degraded`.
      });
  }
}
