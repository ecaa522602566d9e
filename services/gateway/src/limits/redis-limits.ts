import { type Counter, windowEndMs, windowMs, windowOffsetMs } from '@sluice/engine';
import type { CounterState } from '../exchange/reservation.ts';
import { sharedKeys } from '../redis/shared-keys.ts';
import { sharedScript } from '../redis/shared-script.ts';
import type { SharedPart, SharedStore } from '../redis/shared-store.ts';
import { HeldReservation, type ReservationKeeper } from './held-reservation.ts';
import { type LimitStore, oneRequest, type ReserveOutcome } from './limit-store.ts';
import { limitGroupsMaxDefault, MemoryLimits } from './memory-limits.ts';

/**
 * One round trip for all counters of a request: check every counter, then take
 * one from each request counter, or take nothing. The window comes from the
 * server's clock, so that gateways with skewed clocks count in the same one.
 *
 * The groups of a policy are the fields of one hash, so that callers who name
 * groups make no keys, and their number is known: a new group for which there is
 * no room counts in the field "*", with all others like it.
 *
 * KEYS  one a counter or policy, all with the organisation's hash tag
 * ARGV  mode ("reserve", "peek" or "count"), groups of a policy at most, then for
 *       each counter: limit, window length and offset in ms, what to take or to
 *       add, group or ""
 * reply { refused index or 0, now ms, used… }
 */
const countLimits = sharedScript<number[]>(`
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local reserve = ARGV[1] == 'reserve'
local peek = ARGV[1] == 'peek'
local groupsMax = tonumber(ARGV[2])
local reply = { 0, now }
local names, groups = {}, {}
for i = 1, #KEYS do
  local base = 2 + (i - 1) * 5
  local limit, length, offset = tonumber(ARGV[base + 1]), tonumber(ARGV[base + 2]), tonumber(ARGV[base + 3])
  local window = math.floor((now + offset) / length)
  names[i] = KEYS[i] .. ':' .. string.format('%d', window)
  local group, used = ARGV[base + 5], false
  if group == '' then
    if reserve or peek then used = redis.call('GET', names[i]) end
  else
    used = redis.call('HGET', names[i], group)
    if not used and redis.call('HLEN', names[i]) >= groupsMax then
      group = '*'
      used = redis.call('HGET', names[i], group)
    end
  end
  groups[i] = group
  if reserve or peek then
    used = tonumber(used or '0')
    reply[i + 2] = used
    if reserve and used + math.max(1, tonumber(ARGV[base + 4])) > limit then
      reply[1] = i
      return reply
    end
  end
end
for i = 1, #KEYS do
  local base = 2 + (i - 1) * 5
  local length, offset, add = tonumber(ARGV[base + 2]), tonumber(ARGV[base + 3]), tonumber(ARGV[base + 4])
  if add > 0 then
    if groups[i] == '' then
      reply[i + 2] = redis.call('INCRBY', names[i], add)
    else
      reply[i + 2] = redis.call('HINCRBY', names[i], groups[i], add)
    end
    redis.call('PEXPIREAT', names[i], (math.floor((now + offset) / length) + 1) * length - offset + 1000)
  end
end
return reply`);

/**
 * KEYS  windows by their whole names
 * ARGV  for each: group or "", what to take back of what is there
 */
const giveBackLimits = sharedScript<null>(`
for i = 1, #KEYS do
  local group, back = ARGV[2 * i - 1], tonumber(ARGV[2 * i])
  if group == '' then
    back = math.min(back, tonumber(redis.call('GET', KEYS[i]) or '0'))
    if back > 0 then redis.call('DECRBY', KEYS[i], back) end
  else
    if redis.call('HEXISTS', KEYS[i], group) == 0 then group = '*' end
    back = math.min(back, tonumber(redis.call('HGET', KEYS[i], group) or '0'))
    if back > 0 then redis.call('HINCRBY', KEYS[i], group, -back) end
  end
end`);

/**
 * Limits shared by several gateways. When Redis does not answer in time the
 * gateway counts alone, in memory, each replica with the full limit: traffic
 * flows, limits are then per replica, `degraded` says so.
 */
export class RedisLimits implements LimitStore, ReservationKeeper {
  readonly #part: SharedPart;
  readonly #alone: MemoryLimits;
  readonly #groupsMax: number;
  /** Of what was reserved alone: given back there, and counted wherever counting is possible by then. */
  readonly #keeperAlone: ReservationKeeper;

  constructor(options: { store: SharedStore; timeoutMs?: number; groupsMax?: number }) {
    this.#groupsMax = options.groupsMax ?? limitGroupsMaxDefault;
    this.#alone = new MemoryLimits({ groupsMax: this.#groupsMax });
    this.#keeperAlone = {
      count: (scope, counters, tokens) => this.count(scope, counters, tokens),
      giveBack: (scope, states, amounts) => this.#alone.giveBack(scope, states, amounts),
    };
    this.#part = options.store.share({
      name: 'limits',
      deadlineMs: options.timeoutMs ?? 1000,
      says: {
        alone: 'limits are counted by each gateway alone until redis answers',
        again: 'limits are shared again',
      },
    });
  }

  get degraded(): boolean {
    return this.#part.degraded;
  }

  async reserve(
    scope: string,
    counters: readonly Counter[],
    estimate = oneRequest,
  ): Promise<ReserveOutcome> {
    const amounts = counters.map(({ type }) => estimate[type]);
    const reply = await this.#run('reserve', scope, counters, amounts);
    if (reply === undefined)
      return this.#alone.reserve(scope, counters, estimate, this.#keeperAlone);
    const [refused = 0] = reply;
    const refusing = counters[refused - 1];
    if (refused > 0 && refusing !== undefined)
      return { admitted: false, refusedBy: stateIn(reply, refusing, refused - 1) };
    const states = counters.map((counter, index) => stateIn(reply, counter, index));
    return new HeldReservation(this, scope, counters, states, estimate);
  }

  async peek(scope: string, counters: readonly Counter[]): Promise<CounterState[]> {
    const none = counters.map(() => 0);
    const reply = await this.#run('peek', scope, counters, none);
    if (reply === undefined) return this.#alone.peek(scope, counters);
    return counters.map((counter, index) => stateIn(reply, counter, index));
  }

  count(scope: string, counters: readonly Counter[], tokens: number): void {
    if (!counters.some(({ type }) => type === 'tokens')) return;
    const amounts = counters.map(({ type }) => (type === 'tokens' ? tokens : 0));
    void this.#run('count', scope, counters, amounts).then((reply) => {
      if (reply === undefined) this.#alone.count(scope, counters, tokens);
    });
  }

  /** What Redis cannot be told now ends with its window. */
  giveBack(scope: string, states: readonly CounterState[], amounts: readonly number[]): void {
    if (!this.#part.isUsable) return;
    const keys = states.map(
      ({ counter, resetAtMs }) => `${keyOf(scope, counter)}:${windowBefore(counter, resetAtMs)}`,
    );
    const args = states.flatMap(({ counter }, index) => [groupOf(counter), amounts[index] ?? 0]);
    this.#part
      .call(keys[0] ?? '', (redis) => giveBackLimits.run(redis, keys, args))
      .catch(() => {
        // As above.
      });
  }

  /** The connection is others' too; who made it closes it. */
  async close(): Promise<void> {}

  /** Undefined = Redis cannot be asked, and this gateway counts alone. Never rejects. */
  async #run(
    mode: 'reserve' | 'peek' | 'count',
    scope: string,
    counters: readonly Counter[],
    amounts: readonly number[],
  ): Promise<number[] | undefined> {
    if (!this.#part.isUsable) return undefined;
    const keys = counters.map((counter) => keyOf(scope, counter));
    const args = counters.flatMap((counter, index) => [
      counter.limit,
      windowMs[counter.unit],
      windowOffsetMs(counter.unit),
      amounts[index] ?? 0,
      groupOf(counter),
    ]);
    try {
      return await this.#part.call(keys[0] ?? '', (redis) =>
        countLimits.run(redis, keys, [mode, this.#groupsMax, ...args]),
      );
    } catch {
      // The store has said so, and the part rests.
      return undefined;
    }
  }
}

function keyOf(scope: string, { key, pool }: Counter): string {
  return pool === undefined ? sharedKeys.limit(scope, key) : sharedKeys.limitGroups(scope, pool);
}

function groupOf({ key, pool }: Counter): string {
  return pool === undefined ? '' : key.slice(pool.length + 1);
}

/** The number of the window that ends then, as the script counts them. */
function windowBefore({ unit }: Counter, endMs: number): number {
  return Math.floor((endMs - 1 + windowOffsetMs(unit)) / windowMs[unit]);
}

/** The script's reply for one counter: see there. */
function stateIn(reply: readonly number[], counter: Counter, index: number): CounterState {
  return {
    counter,
    remaining: Math.max(0, counter.limit - (reply[index + 2] ?? 0)),
    resetAtMs: windowEndMs(counter.unit, reply[1] ?? 0),
  };
}
