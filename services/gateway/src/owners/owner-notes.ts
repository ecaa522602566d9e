import { hash } from 'node:crypto';
import { jsonBounds, readJsonText } from '@sluice/json';
import { RecentMap } from '../chain/recent-map.ts';
import type { OwnerNote } from '../exchange/named-objects.ts';
import { sharedKeys } from '../redis/shared-keys.ts';
import { sharedScript } from '../redis/shared-script.ts';
import type { SharedPart, SharedStore } from '../redis/shared-store.ts';

/** Since it was made or named last, an object is known for so long. OpenAI keeps responses for as long. */
const ttlMs = 30 * 24 * 60 * 60_000;
const deadlineMs = 500;
/** Of about 400 bytes each. */
const notesMax = 100_000;
/** Origins that say they have something of one id: more than one is chance, or somebody's making. */
const originsMax = 8;

/** Ids that a caller names may be guessed; those that a provider lists, and the many that rows of a file have, are not. */
export type WhoNames = 'named' | 'listed';

/** Where it is known for good. */
export interface OwnerLedger {
  note(organisationId: string, objectKey: string, note: OwnerNote): void;
  /** Rejects where that cannot be known now. */
  find(
    object: { organisationId: string; objectKey: string },
    who: WhoNames,
  ): Promise<readonly OwnerNote[]>;
}

/** What is known of an id. */
export interface Known {
  readonly notes: readonly OwnerNote[];
  /** False = somebody else may know of it, who could not be asked. */
  readonly isAll: boolean;
}

interface Held {
  readonly notes: readonly OwnerNote[];
  readonly untilMs: number;
}

/** Notes the owner at an origin, unless it is another workspace; says who it is. */
const claim = sharedScript<string>(`
local was = redis.call('HGET', KEYS[1], ARGV[1])
if was and string.sub(was, 1, #ARGV[2]) ~= ARGV[2] then return was end
if not was and redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[5]) then return '' end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2] .. ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return ''
`);

const find = sharedScript<string[]>(`
local notes = redis.call('HVALS', KEYS[1])
if #notes > 0 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return notes
`);

/**
 * Whose the objects are that stay at providers: in memory, and in Redis where
 * gateways share one. An id belongs to what answers at one origin, so one that
 * another server gives out says nothing of it.
 */
export class OwnerNotes {
  readonly #shared: SharedPart | undefined;
  readonly #ledger: OwnerLedger | undefined;
  readonly #held: RecentMap<Held>;
  readonly #now: () => number;

  constructor(
    shared: SharedStore | undefined,
    ledger?: OwnerLedger,
    max = notesMax,
    now: () => number = Date.now,
  ) {
    this.#ledger = ledger;
    this.#shared = shared?.share({
      name: 'owners',
      deadlineMs,
    });
    this.#held = new RecentMap(max);
    this.#now = now;
  }

  /** Waits only for what this gateway did not see itself. Never rejects. */
  of(organisationId: string, id: string, who: WhoNames = 'named'): Known | Promise<Known> {
    const key = keyOf(organisationId, id);
    const held = this.#heldAt(key);
    if (held !== undefined) return { notes: held.notes, isAll: true };
    const shared = this.#shared;
    if (shared === undefined) return this.#ofLedger(organisationId, id, nothing, who);
    return shared
      .call(key, (redis) => find.run(redis, [key], [ttlMs]))
      .then(
        (values) => {
          const notes = values.flatMap((value) => readNote(value) ?? []);
          if (notes.length === 0) return this.#ofLedger(organisationId, id, nothing, who);
          this.#keep(key, notes);
          return { notes, isAll: true };
        },
        () => this.#ofLedger(organisationId, id, unsure, who),
      );
  }

  /** What no gateway remembers. A note that is younger than the ledger's copy is with whoever saw it made. */
  #ofLedger(
    organisationId: string,
    id: string,
    otherwise: Known,
    who: WhoNames,
  ): Known | Promise<Known> {
    if (this.#ledger === undefined) return otherwise;
    return this.#ledger.find({ organisationId, objectKey: digest(id) }, who).then(
      (notes) => {
        if (notes.length === 0) return otherwise;
        const key = keyOf(organisationId, id);
        this.#keep(key, notes.slice(0, originsMax));
        for (const note of notes) void this.#share(key, note);
        return { notes, isAll: true };
      },
      () => unsure,
    );
  }

  /**
   * Notes that an object was made, or has another model now. Undefined = nobody
   * else has to hear of it. Never rejects.
   */
  note(organisationId: string, id: string, note: OwnerNote): Promise<void> | undefined {
    const key = keyOf(organisationId, id);
    const before = this.#heldAt(key)?.notes ?? [];
    const at = before.find(({ origin }) => origin === note.origin);
    if (at !== undefined && at.workspaceId !== note.workspaceId) return undefined;
    this.#keep(key, [...before.filter((other) => other !== at), note].slice(-originsMax));
    // A stream tells of one object many times.
    if (at === undefined || at.model !== note.model || at.account !== note.account)
      this.#ledger?.note(organisationId, digest(id), note);
    return this.#share(key, note);
  }

  /** Never rejects. */
  #share(key: string, note: OwnerNote): Promise<void> | undefined {
    const shared = this.#shared;
    if (shared === undefined) return undefined;
    const { workspaceId, origin, ...rest } = note;
    const args = [digest(origin), `${workspaceId}\n`, JSON.stringify({ origin, ...rest })];
    return shared
      .call(key, (redis) => claim.run(redis, [key], [...args, ttlMs, originsMax]))
      .then(
        (other) => {
          const theirs = other === '' ? undefined : readNote(other);
          if (theirs !== undefined) this.#keep(key, [theirs]);
        },
        () => {
          // The part says so; until it is back this gateway knows it alone.
        },
      );
  }

  #heldAt(key: string): Held | undefined {
    const held = this.#held.use(key);
    if (held === undefined || held.untilMs > this.#now()) return held;
    this.#held.delete(key);
    return undefined;
  }

  #keep(key: string, notes: readonly OwnerNote[]): void {
    this.#held.set(key, { notes, untilMs: this.#now() + ttlMs });
  }
}

const nothing: Known = { notes: [], isAll: true };
const unsure: Known = { notes: [], isAll: false };

function readNote(value: string): OwnerNote | undefined {
  const end = value.indexOf('\n');
  try {
    const rest = readJsonText(value.slice(end + 1), jsonBounds.small) as Omit<
      OwnerNote,
      'workspaceId'
    >;
    return { ...rest, workspaceId: value.slice(0, end) };
  } catch {
    // Another release's.
    return undefined;
  }
}

/** Ids are of any length, and of anybody's making. */
function keyOf(organisationId: string, id: string): string {
  return sharedKeys.object(organisationId, digest(id));
}

function digest(text: string): string {
  return hash('sha256', text, 'base64url');
}
