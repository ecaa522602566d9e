import type { Redis } from 'ioredis';
import { RecentMap } from './recent-map.ts';

const loadDeadlineMs = 100;
/** After this, memory asks Redis again what it holds, so that gateways that disagreed agree. */
const freshMs = 30_000;
/** How long "Redis has none" is believed. */
const absentMs = 1000;
/** While Redis fails, it is asked once in a while; the other requests do not wait. */
const restMs = 1000;
const callsInFlightMax = 256;

/**
 * Assigns unless another gateway did: an assignment is replaced only by a
 * caller that knew it. The time to live counts from the first assignment.
 *
 * KEYS  the key
 * ARGV  child, ttl in ms, the child it replaces or ""
 * reply { child, remaining ms } as Redis holds it now
 */
const assignScript = `
local held = redis.call('GET', KEYS[1])
if held and held ~= ARGV[3] then
  return { held, redis.call('PTTL', KEYS[1]) }
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return { ARGV[1], tonumber(ARGV[2]) }`;

interface AssignCommand {
  sluiceStickyAssign(
    key: string,
    child: string,
    ttlMs: number,
    replaces: string,
  ): Promise<[child: string, remainingMs: number]>;
}

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
  private readonly assignments: RecentMap<Assignment>;
  private readonly redis: (Redis & AssignCommand) | undefined;
  private readonly now: () => number;
  private callsInFlight = 0;
  private failing = false;
  private askAgainAtMs = 0;

  constructor(options: { redis?: Redis; entriesMax?: number; now?: () => number } = {}) {
    options.redis?.defineCommand('sluiceStickyAssign', { numberOfKeys: 1, lua: assignScript });
    this.redis = options.redis as (Redis & AssignCommand) | undefined;
    this.assignments = new RecentMap(options.entriesMax ?? 100_000);
    this.now = options.now ?? (() => performance.now());
  }

  /** Entries held in memory, negative ones included. */
  get size(): number {
    return this.assignments.size;
  }

  /** There is a Redis, and each gateway remembers alone all the same. */
  get degraded(): boolean {
    return this.redis !== undefined && (this.failing || this.redis.status !== 'ready');
  }

  /**
   * Loads what memory does not hold, in one round trip of at most 100 ms;
   * undefined when nothing has to be waited for. Never rejects.
   */
  load(keys: readonly string[]): Promise<void> | undefined {
    const redis = this.reachable();
    if (redis === undefined) return undefined;
    const nowMs = this.now();
    const wanted = keys.filter((key) => !this.isFresh(key, nowMs));
    return wanted.length === 0 ? undefined : this.loadWithDeadline(redis, wanted);
  }

  /** From memory: call `load` first. */
  get(key: string): string | undefined {
    return this.held(key)?.child;
  }

  /** The time to live counts from the first time; the same child again does not prolong it. */
  put(key: string, child: string, ttlMs: number): void {
    const before = this.held(key)?.child;
    if (before === child || ttlMs <= 0) return;
    this.remember(key, child, ttlMs);
    const redis = this.reachable();
    if (redis !== undefined) this.assign(redis, key, child, ttlMs, before);
  }

  private held(key: string): Assignment | undefined {
    const assignment = this.assignments.use(key);
    if (assignment === undefined || assignment.expiresAtMs > this.now()) return assignment;
    this.assignments.delete(key);
    return undefined;
  }

  private isFresh(key: string, nowMs: number): boolean {
    const assignment = this.assignments.peek(key);
    return (
      assignment !== undefined && assignment.freshUntilMs > nowMs && assignment.expiresAtMs > nowMs
    );
  }

  private remember(key: string, child: string | undefined, remainingMs: number): void {
    const nowMs = this.now();
    this.assignments.set(key, {
      child,
      expiresAtMs: nowMs + remainingMs,
      freshUntilMs: nowMs + Math.min(freshMs, remainingMs),
    });
  }

  private async loadWithDeadline(
    redis: Redis & AssignCommand,
    keys: readonly string[],
  ): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(() => {
        this.rest();
        resolve();
      }, loadDeadlineMs);
    });
    // An answer that comes too late for this request is still of use to the next one.
    await Promise.race([this.call(Promise.all(keys.map((key) => this.loadOne(redis, key)))), late]);
    clearTimeout(timer);
  }

  /** Two plain commands a key, sent together: in a cluster the keys may live on different nodes. */
  private async loadOne(redis: Redis & AssignCommand, key: string): Promise<void> {
    const before = this.assignments.peek(key);
    const name = redisKey(key);
    const [child, remainingMs] = await Promise.all([redis.get(name), redis.pttl(name)]);
    // A choice made meanwhile is on its way to Redis, and Redis settles it there.
    if (this.assignments.peek(key) !== before) return;
    if (child !== null && remainingMs > 0) {
      this.remember(key, child, remainingMs);
      return;
    }
    const ours = this.held(key);
    if (ours?.child === undefined) {
      this.remember(key, undefined, absentMs);
      return;
    }
    // Redis was away when it was made, or forgot it.
    const ownRemainingMs = ours.expiresAtMs - this.now();
    this.remember(key, ours.child, ownRemainingMs);
    this.assign(redis, key, ours.child, ownRemainingMs, undefined);
  }

  private assign(
    redis: Redis & AssignCommand,
    key: string,
    child: string,
    ttlMs: number,
    replaces: string | undefined,
  ): void {
    const mine = this.assignments.peek(key);
    const assigned = redis
      .sluiceStickyAssign(redisKey(key), child, Math.ceil(ttlMs), replaces ?? '')
      .then(([held, remainingMs]) => {
        // Where another gateway was first, its choice and its time to live count.
        if (this.assignments.peek(key) === mine) this.remember(key, held, remainingMs);
      });
    void this.call(assigned);
  }

  /** Counts a call that is on its way. Never rejects. */
  private async call(work: Promise<unknown>): Promise<void> {
    this.callsInFlight++;
    try {
      await work;
      this.failing = false;
    } catch {
      // Memory goes on alone, and says so by `degraded`.
      this.rest();
    } finally {
      this.callsInFlight--;
    }
  }

  private rest(): void {
    this.failing = true;
    this.askAgainAtMs = this.now() + restMs;
  }

  /** The client, when it can be asked now. One that hangs gets one call at a time. */
  private reachable(): (Redis & AssignCommand) | undefined {
    if (this.redis?.status !== 'ready' || this.callsInFlight >= callsInFlightMax) return undefined;
    if (this.failing && (this.callsInFlight > 0 || this.now() < this.askAgainAtMs))
      return undefined;
    return this.redis;
  }
}

function redisKey(key: string): string {
  return `sluice:sticky:${key}`;
}
