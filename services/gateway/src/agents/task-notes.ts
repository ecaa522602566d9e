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
const deadlineMs = 500;
/** Of about 300 bytes each. */
const notesMax = 200_000;

interface Note {
  readonly owner: string;
  untilMs: number;
  usage: AgentUsage | undefined;
}

/** Claims what is nobody's, and says whose it is. */
const claim = sharedScript<string>(`
redis.call('HSETNX', KEYS[1], 'owner', ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return redis.call('HGET', KEYS[1], 'owner')
`);

const find = sharedScript<string | null>(`
local owner = redis.call('HGET', KEYS[1], 'owner')
if owner then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return owner
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

  constructor(shared: SharedStore | undefined, max = notesMax, now: () => number = Date.now) {
    this.#shared = shared?.share({
      name: 'agents',
      deadlineMs,
      says: {
        alone: 'redis does not answer: each gateway knows the agent tasks that it saw itself',
        again: 'agent tasks are shared through redis again',
      },
    });
    this.#notes = new RecentMap(max);
    this.#now = now;
  }

  /** @throws GatewayError `agent.tasks_unavailable` when others may know, and cannot be asked */
  whose(place: TaskPlace, named: Named, id: string, principal: string): Whose | Promise<Whose> {
    const key = keyOf(place, named, id);
    const note = this.#held(key);
    if (note !== undefined) {
      note.untilMs = this.#now() + ttlMs;
      return note.owner === principal ? 'own' : 'others';
    }
    const shared = this.#shared;
    if (shared === undefined) return 'nobodys';
    return shared
      .call(key, (redis) => find.run(redis, [key], [ttlMs]))
      .then(
        (owner) => {
          if (owner === null) return 'nobodys';
          this.#keep(key, owner);
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

  /** Notes that the principal began it, unless somebody did. Undefined = it is noted already. Never rejects. */
  claim(place: TaskPlace, named: Named, id: string, principal: string): Promise<void> | undefined {
    const key = keyOf(place, named, id);
    if (this.#held(key) !== undefined) return undefined;
    this.#keep(key, principal);
    const shared = this.#shared;
    if (shared === undefined) return undefined;
    return shared
      .call(key, (redis) => claim.run(redis, [key], [principal, ttlMs]))
      .then(
        (owner) => {
          if (owner !== principal) this.#keep(key, owner);
        },
        () => {
          // The part says so; until it is back this gateway knows it alone.
        },
      );
  }

  /** By how much the usage of a task is more than what was told before. Never rejects. */
  increase(place: TaskPlace, id: string, usage: AgentUsage): AgentUsage | Promise<AgentUsage> {
    const key = keyOf(place, 'task', id);
    const note = this.#held(key);
    const own = increaseOf(usage, note?.usage);
    if (note !== undefined) note.usage = highestUsage(note.usage, usage);
    const shared = this.#shared;
    return shared === undefined ? own : this.#raise(shared, key, usage, own);
  }

  /** The same where gateways share what they were told. */
  async #raise(
    shared: SharedPart,
    key: string,
    usage: AgentUsage,
    own: AgentUsage,
  ): Promise<AgentUsage> {
    try {
      const told = counts.flatMap((count) => [count, usage[count]]);
      const before = await shared.call(key, (redis) => raise.run(redis, [key], [ttlMs, ...told]));
      const was = Object.fromEntries(counts.map((count, at) => [count, Number(before[at])]));
      return increaseOf(usage, { ...usage, ...was });
    } catch {
      // The part says so: what this gateway saw itself is not counted twice.
      return own;
    }
  }

  #held(key: string): Note | undefined {
    const note = this.#notes.use(key);
    if (note === undefined || note.untilMs > this.#now()) return note;
    this.#notes.delete(key);
    return undefined;
  }

  #keep(key: string, owner: string): void {
    const usage = this.#notes.peek(key)?.usage;
    this.#notes.set(key, { owner, untilMs: this.#now() + ttlMs, usage });
  }
}

/** Ids are of any length, and of anybody's making. */
function keyOf({ organisationId, serverId }: TaskPlace, named: Named, id: string): string {
  const digest = hash('sha256', `${named} ${id}`, 'base64url');
  return sharedKeys.agentTask(organisationId, `${serverId}:${digest}`);
}
