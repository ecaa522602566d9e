import { hash, randomUUID } from 'node:crypto';
import { sharedKeys } from '../redis/shared-keys.ts';
import { sharedScript } from '../redis/shared-script.ts';
import type { SharedCommands, SharedPart, SharedStore } from '../redis/shared-store.ts';

const deadlineMs = 500;
/** A gateway that has said nothing for so long is not there any more. */
const leaseMs = 4000;
/** Of all gateways together; a further call is heard by its own gateway alone. */
const callsMax = 10_000;
/** Taken over in one look: sidebands are connections. */
export const takenMax = 20;
/** Longer than calls last. */
const ttlMs = 2 * 24 * 60 * 60_000;
/** Two gateways may hear one event while a call goes from one to the other. */
const eventTtlMs = 10 * 60_000;

const now = `local t = redis.call('TIME') local now = t[1] * 1000 + math.floor(t[2] / 1000)`;

const noteCall = sharedScript<number>(`
${now}
if not redis.call('ZSCORE', KEYS[1], ARGV[1]) and redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[5]) then return 0 end
redis.call('ZADD', KEYS[1], now + ARGV[4], ARGV[1])
redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
redis.call('HSET', KEYS[3], ARGV[1], ARGV[3])
for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, ARGV[6]) end
return 1
`);

/** Says of each call that is named what it is, and takes those that nobody hears. */
const lookAtCalls = sharedScript<[number[], string[]]>(`
${now}
local states = {}
for at = 4, #ARGV do
  local owner = redis.call('HGET', KEYS[2], ARGV[at])
  if owner == ARGV[1] then
    redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[at])
    states[#states + 1] = 1
  elseif owner then states[#states + 1] = 2
  else states[#states + 1] = 0 end
end
local taken = {}
if tonumber(ARGV[3]) > 0 then
  for _, name in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, ARGV[3])) do
    local note = redis.call('HGET', KEYS[3], name)
    if note then
      redis.call('ZADD', KEYS[1], now + ARGV[2], name)
      redis.call('HSET', KEYS[2], name, ARGV[1])
      taken[#taken + 1] = name
      taken[#taken + 1] = note
    else
      redis.call('ZREM', KEYS[1], name)
      redis.call('HDEL', KEYS[2], name)
    end
  end
end
return { states, taken }
`);

const dropCall = sharedScript<number>(`
if redis.call('HGET', KEYS[2], ARGV[1]) ~= ARGV[2] then return 0 end
redis.call('ZREM', KEYS[1], ARGV[1])
redis.call('HDEL', KEYS[2], ARGV[1])
redis.call('HDEL', KEYS[3], ARGV[1])
return 1
`);

const claimEvent = sharedScript<number>(`
if redis.call('SET', KEYS[1], '', 'NX', 'PX', ARGV[1]) then return 1 end
return 0
`);

const keys = [sharedKeys.callLeases, sharedKeys.callOwners, sharedKeys.callNotes];

/** What became of a call that this gateway hears: it is not known there any more, is this one's, or another's. */
export type CallState = 'unknown' | 'own' | 'taken';
const states: readonly CallState[] = ['unknown', 'own', 'taken'];

export interface TakenCall {
  readonly name: string;
  readonly sealed: string;
}

/** Which gateway hears which call, in Redis. Without Redis each hears its own, and nobody takes them over. */
export class CallRegister {
  readonly #shared: SharedPart | undefined;
  /** Of this process: one that starts again hears nothing of what it heard before. */
  readonly #owner = randomUUID();

  constructor(shared: SharedStore | undefined) {
    this.#shared = shared?.share({
      name: 'calls',
      deadlineMs,
      keyOfSlot: sharedKeys.callLeases,
    });
  }

  get isShared(): boolean {
    return this.#shared !== undefined;
  }

  /** False = there are too many. @throws while Redis is away */
  async note({ name, sealed }: TakenCall): Promise<boolean> {
    const args = [name, this.#owner, sealed, leaseMs, callsMax, ttlMs];
    return (await this.#call((redis) => noteCall.run(redis, keys, args))) === 1;
  }

  /**
   * Says of calls that this gateway hears them, and takes some that nobody does.
   * @param isLeaving others may have its calls at once, and it takes none
   * @throws while Redis is away
   */
  async look(
    names: readonly string[],
    isLeaving: boolean,
  ): Promise<{ states: readonly CallState[]; taken: readonly TakenCall[] }> {
    const args = [this.#owner, isLeaving ? 0 : leaseMs, isLeaving ? 0 : takenMax, ...names];
    const [told, found] = await this.#call((redis) => lookAtCalls.run(redis, keys, args));
    const taken: TakenCall[] = [];
    for (let at = 0; at + 1 < found.length; at += 2)
      taken.push({ name: found[at] as string, sealed: found[at + 1] as string });
    return { states: told.map((state) => states[state] ?? 'unknown'), taken };
  }

  /** It is over. Never rejects: what is not dropped is taken, and found to be over. */
  async drop(name: string): Promise<void> {
    await this.#call((redis) => dropCall.run(redis, keys, [name, this.#owner])).catch(() => 0);
  }

  /** False = another gateway accounts for this event. Never rejects. */
  async isFirst(name: string, event: string): Promise<boolean> {
    const shared = this.#shared;
    if (shared === undefined) return true;
    const key = sharedKeys.callEvent(hash('sha256', `${name}\n${event}`, 'base64url'));
    return shared
      .call(key, (redis) => claimEvent.run(redis, [key], [eventTtlMs]))
      .then(
        (first) => first === 1,
        () => true,
      );
  }

  #call<T>(send: (redis: SharedCommands) => Promise<T>): Promise<T> {
    const shared = this.#shared;
    if (shared === undefined) return Promise.reject(new Error('there is no redis'));
    return shared.call(sharedKeys.callLeases, send);
  }
}
