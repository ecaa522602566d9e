import { hash } from 'node:crypto';
import { type AgentUsage, highestUsage, increaseOf } from '@sluice/a2a';
import { GatewayError } from '@sluice/errors';
import { RecentMap } from '../chain/recent-map.ts';
import { sharedKeys } from '../redis/shared-keys.ts';
import { sharedScript } from '../redis/shared-script.ts';
import type { SharedPart, SharedStore } from '../redis/shared-store.ts';

/** Which agent server, whose. */
export interface TaskPlace {
  readonly organisationId: string;
  readonly serverId: string;
}

/** Contexts are conversations: who knows the name of another's could go on with it. */
export type Named = 'task' | 'context';

export type Whose = 'own' | 'others' | 'nobodys';

/** Since it was used last, a task is known for so long. */
const ttlMs = 7 * 24 * 60 * 60_000;
/** Redis is told once in so long that a task is used that this gateway knows. */
const tellMs = 60 * 60_000;
const deadlineMs = 500;
/** Of about 300 bytes each. */
const notesMax = 200_000;

interface Note {
  readonly owner: string;
  /** Where the agent's own calls for it are summed; empty = nowhere. */
  readonly sum: string;
  untilMs: number;
  /** When Redis was told of it, or said it; 0 = it could not be. */
  toldAtMs: number;
  usage: AgentUsage | undefined;
}

/** Claims what is nobody's, and says whose it is. */
const claim = sharedScript<[string, string]>(`
if redis.call('HSETNX', KEYS[1], 'owner', ARGV[1]) == 1 and ARGV[3] ~= '' then redis.call('HSET', KEYS[1], 'sum', ARGV[3]) end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return {redis.call('HGET', KEYS[1], 'owner'), redis.call('HGET', KEYS[1], 'sum') or ''}
`);

const find = sharedScript<[string, string] | null>(`
local owner = redis.call('HGET', KEYS[1], 'owner')
if not owner then return owner end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return {owner, redis.call('HGET', KEYS[1], 'sum') or ''}
`);

/** Raises each count to what is given, and says what it was. */
const raise = sharedScript<string[]>(`
local before = {}
for at = 2, #ARGV, 2 do
  local was = redis.call('HGET', KEYS[1], ARGV[at]) or '0'
  if tonumber(ARGV[at + 1]) > tonumber(was) then redis.call('HSET', KEYS[1], ARGV[at], ARGV[at + 1]) end
  before[#before + 1] = was
end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return before
`);

const counts = ['inputTokens', 'outputTokens', 'cachedTokens', 'reasoningTokens'] as const;

/**
 * Who began which task, and the most that was told of its usage: in Redis, where
 * gateways share one, and in memory. What is not known is nobody's, and not found.
 */
export class TaskNotes {
  readonly #shared: SharedPart | undefined;
  readonly #notes: RecentMap<Note>;
  readonly #now: () => number;

  /** @param shared as `shareAgents` makes it */
  constructor(shared: SharedPart | undefined, max = notesMax, now: () => number = Date.now) {
    this.#shared = shared;
    this.#notes = new RecentMap(max);
    this.#now = now;
  }

  /** @throws GatewayError `agent.tasks_unavailable` when others may know, and cannot be asked */
  whose(place: TaskPlace, named: Named, id: string, principal: string): Whose | Promise<Whose> {
    const key = keyOf(place, named, id);
    const note = this.#held(key);
    if (note !== undefined) {
      this.#use(key, note);
      return note.owner === principal ? 'own' : 'others';
    }
    const shared = this.#shared;
    if (shared === undefined) return 'nobodys';
    return shared
      .call(key, (redis) => find.run(redis, [key], [ttlMs]))
      .then(
        (found) => {
          if (found === null) return 'nobodys';
          const [owner, sum] = found;
          this.#keep(key, owner, sum);
          return owner === principal ? 'own' : 'others';
        },
        (error: unknown) => {
          throw new GatewayError('agent.tasks_unavailable', {
            cause: error,
            headers: { 'retry-after': '1' },
          });
        },
      );
  }

  /**
   * Notes that the principal began it, unless somebody did. Undefined = it is noted already. Never rejects.
   * @param sum where the agent's own calls for it are summed; empty = nowhere
   */
  claim(
    place: TaskPlace,
    named: Named,
    id: string,
    principal: string,
    sum = '',
  ): Promise<void> | undefined {
    const key = keyOf(place, named, id);
    const note = this.#held(key);
    if (note !== undefined) {
      this.#use(key, note);
      return undefined;
    }
    this.#keep(key, principal, sum);
    return this.#share(key, principal, sum);
  }

  /** Where the agent's own calls for a task are summed that this gateway knows; undefined = nowhere. */
  sumOf(place: TaskPlace, id: string): string | undefined {
    const sum = this.#held(keyOf(place, 'task', id))?.sum;
    return sum === '' ? undefined : sum;
  }

  /** By how much the usage of a task is more than what was told before. Never rejects. */
  increase(place: TaskPlace, id: string, usage: AgentUsage): AgentUsage | Promise<AgentUsage> {
    const key = keyOf(place, 'task', id);
    const note = this.#held(key);
    const before = note?.usage;
    if (note !== undefined) note.usage = highestUsage(before, usage);
    const shared = this.#shared;
    return shared === undefined
      ? increaseOf(usage, before)
      : this.#raise(shared, key, usage, before);
  }

  /** The same where gateways share what they were told. */
  async #raise(
    shared: SharedPart,
    key: string,
    usage: AgentUsage,
    seen: AgentUsage | undefined,
  ): Promise<AgentUsage> {
    try {
      const told = counts.flatMap((count) => [count, usage[count]]);
      const before = await shared.call(key, (redis) => raise.run(redis, [key], [ttlMs, ...told]));
      const was = Object.fromEntries(counts.map((count, at) => [count, Number(before[at])]));
      // What this gateway was told while Redis was away is billed, and not known there.
      return increaseOf(usage, highestUsage(seen, { ...usage, ...was, isImplausible: false }));
    } catch {
      // The part says so: what this gateway saw itself is not counted twice.
      return increaseOf(usage, seen);
    }
  }

  /** Redis must not let go of what is used here: another gateway would take it for nobody's. */
  #use(key: string, note: Note): void {
    const now = this.#now();
    note.untilMs = now + ttlMs;
    if (now - note.toldAtMs < tellMs) return;
    note.toldAtMs = now;
    void this.#share(key, note.owner, note.sum);
  }

  /** Never rejects. */
  #share(key: string, principal: string, sum: string): Promise<void> | undefined {
    return this.#shared
      ?.call(key, (redis) => claim.run(redis, [key], [principal, ttlMs, sum]))
      .then(
        ([owner, known]) => {
          if (owner !== principal || known !== sum) this.#keep(key, owner, known);
        },
        () => {
          // The part says so; this gateway knows it alone until it is used again.
          const note = this.#notes.peek(key);
          if (note !== undefined) note.toldAtMs = 0;
        },
      );
  }

  #held(key: string): Note | undefined {
    const note = this.#notes.use(key);
    if (note === undefined || note.untilMs > this.#now()) return note;
    this.#notes.delete(key);
    return undefined;
  }

  #keep(key: string, owner: string, sum: string): void {
    const usage = this.#notes.peek(key)?.usage;
    const now = this.#now();
    this.#notes.set(key, { owner, sum, untilMs: now + ttlMs, toldAtMs: now, usage });
  }
}

/** What gateways know together of agents. To be called once. */
export function shareAgents(shared: SharedStore | undefined): SharedPart | undefined {
  return shared?.share({
    name: 'agents',
    deadlineMs,
  });
}

/** Ids are of any length, and of anybody's making. */
function keyOf({ organisationId, serverId }: TaskPlace, named: Named, id: string): string {
  const digest = hash('sha256', `${named} ${plainly(id)}`, 'base64url');
  return sharedKeys.agentTask(organisationId, `${serverId}:${digest}`);
}

/** With braces, blanks and prefix. */
const uuidLengthMax = 64;

/** UUIDs are one however they are written: agents that keep them as such find them by each. */
function plainly(id: string): string {
  if (id.length > uuidLengthMax) return id;
  const digits = id
    .replace(/^\s*(?:urn:)?(?:uuid:)?/i, '')
    .replaceAll(/[{}\s-]/g, '')
    .toLowerCase();
  return /^[0-9a-f]{32}$/.test(digits)
    ? digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
    : id;
}
