import type { Counter } from '@sluice/engine';
import type { CounterState } from '../exchange/reservation.ts';
import type { SharedPart, SharedStore } from '../redis/shared-store.ts';
import { AloneLimits } from './alone-limits.ts';
import { type CounterPlace, CounterPlaces } from './counter-places.ts';
import { KnownCounters } from './known-counters.ts';
import { Leases, leaseMs } from './leases.ts';
import { type LimitMarks, SharedMarks, type SumCounters } from './limit-marks.ts';
import { takeScript } from './limit-scripts.ts';
import type { ChangedCounter, EndedHold, Hold, LimitStore, Taken, Wants } from './limit-store.ts';
import type { Replicas } from './live-replicas.ts';
import { limitGroupsMaxDefault } from './memory-limits.ts';
import type { IntegerWords } from './read-words.ts';
import { addLine, endLine, lineOf, memberOf, sumLine } from './settle-lines.ts';
import { type Line, SettleQueue } from './settle-queue.ts';
import {
  readSettlingNote,
  type SettlingEnd,
  type SettlingNotes,
  settlingNote,
} from './settling-notes.ts';
import { SharedHold, SharedHolds } from './shared-holds.ts';
import {
  type AskMode,
  askedCounters,
  placesOf,
  readTakeReply,
  type TakeReply,
} from './take-call.ts';
import { Unposted } from './unposted.ts';

export interface RedisLimitsOptions {
  store: SharedStore;
  /** What is to be known of counters that Redis has lost; absent = they begin anew. */
  sumCounters?: SumCounters | undefined;
  /** Absent = it is alone. */
  replicas?: () => Replicas;
  timeoutMs?: number;
  groupsMax?: number | undefined;
  /** What a gateway that is gone held is free after so long. */
  expiryMs?: number;
  /** Unix ms; absent = the clock of Redis. */
  now?: () => number;
  /** Where the marks of Redis are remembered; absent = nowhere. */
  marksPath?: string;
  /** What another life of this gateway is to settle; absent = nothing is. */
  notes?: SettlingNotes;
}

/** One epoch may end between two tries, hardly two. */
const triesMax = 4;
const refreshMs = 5000;
const refreshedInOneGo = 500;
/** Budgets that nobody asked for in so long are not leased. */
const leasableMs = 60_000;

/** Lines that wait where Redis has been away for long, beside those of as many groups as it may have counted alone, twice. */
const linesMaxBesideGroups = 100_000;

/** Whoever waits for counts waits for so many of these: a process that is held up itself has waited for one. */
const settledTurns = 5;
const settledTurnMs = 100;

/**
 * Limits that gateways share. One call for all counters of a request, by the
 * clock of Redis; settling is not waited for. Where Redis does not answer, each
 * limit has a rule of its own, and what was counted alone is posted on return.
 */
export class RedisLimits implements LimitStore {
  readonly #part: SharedPart;
  readonly #marks: LimitMarks;
  readonly #queue: SettleQueue;
  readonly #known = new KnownCounters();
  readonly #leases: Leases;
  readonly #groupsMax: number;
  readonly #expiryMs: number;
  readonly #now: (() => number) | undefined;
  /** Add to our time to have that of Redis. */
  #shiftMs = 0;
  readonly #notes: SettlingNotes | undefined;
  #droppedLines = 0;
  /** Lines of which is to be found out whether Redis still knows their counters. */
  #linesInDoubt = 0;
  readonly #alone: AloneLimits;
  readonly #unposted = new Unposted();
  readonly #places = new CounterPlaces();
  readonly #held = new SharedHolds();
  readonly #timers: NodeJS.Timeout[] = [];

  constructor(options: RedisLimitsOptions) {
    this.#groupsMax = options.groupsMax ?? limitGroupsMaxDefault;
    this.#expiryMs = options.expiryMs ?? 30_000;
    this.#now = options.now;
    this.#notes = options.notes;
    const replicas = options.replicas ?? (() => ({ index: 0, count: 1 }));
    this.#part = options.store.share({
      name: 'limits',
      deadlineMs: options.timeoutMs ?? 100,
    });
    this.#marks = new SharedMarks({
      part: this.#part,
      sumCounters: options.sumCounters,
      path: options.marksPath,
      onLost: (scope) => this.#tellHeard(scope),
    });
    this.#leases = new Leases({
      take: (scope, wants) => this.#ask(scope, wants, 'lease'),
      end: (scope, ends, noteKey) => this.end(scope, ends, noteKey),
      note: (scope, hold) => {
        const end = this.noteOf({ hold, actual: 0 });
        if (end !== undefined) this.#notes?.keep(settlingNote(hold.id, scope, [end]));
      },
      asked: () => this.#known.leasable(this.#nowMs() - leasableMs),
      replicas: () => replicas().count,
      nowMs: () => this.#nowMs(),
    });
    this.#alone = new AloneLimits({
      known: this.#known,
      leases: this.#leases,
      replicas,
      nowMs: () => this.#nowMs(),
      groupsMax: this.#groupsMax,
      add: (scope, state, amount) => this.#push(scope, state, amount),
      unposted: (scope, name) => this.#unposted.of(scope, name),
    });
    this.#queue = new SettleQueue({
      part: this.#part,
      now: () => this.#now?.() ?? '-',
      markOf: (scope) => this.#marks.of(scope),
      onOtherMark: (scope, lines) => {
        this.#linesInDoubt += lines.length;
        void this.#afterLoss(scope, lines).finally(() => {
          this.#linesInDoubt -= lines.length;
        });
      },
      onSettled: (scope, state, counted) => this.#known.note(scope, state, this.#nowMs(), counted),
      linesMax: linesMaxBesideGroups + 2 * this.#groupsMax,
      onDropped: () => this.#droppedLines++,
    });
  }

  /** Ends what former lives held, and begins to say what is still held, and to look at what others hold. */
  start(): void {
    for (const [key, text] of this.#notes?.recalled() ?? []) this.#endFormer(key, text);
    this.#timers.push(
      setInterval(() => this.renew(), this.#expiryMs / 3).unref(),
      setInterval(() => void this.refresh(), refreshMs).unref(),
      setInterval(() => void this.lease(), refreshMs).unref(),
    );
  }

  get degraded(): boolean {
    return this.#part.degraded;
  }

  get isShared(): boolean {
    return !this.degraded;
  }

  /** For metrics. */
  get settling(): { readonly lines: number; readonly lagMs: number; readonly dropped: number } {
    return {
      lines: this.#queue.size + this.#linesInDoubt,
      lagMs: this.#queue.lagMs,
      dropped: this.#droppedLines,
    };
  }

  take(scope: string, wants: Wants): Taken | Promise<Taken> {
    if (!this.#part.isUsable) return this.#alone.take(scope, wants);
    this.#postAlone();
    return this.#takeShared(scope, wants);
  }

  end(scope: string, ends: readonly EndedHold[], noteKey?: string): void {
    let isComing = true;
    for (const ended of ends) {
      const { hold, actual } = ended;
      if (hold.alone !== undefined) {
        this.#alone.end(scope, ended);
        continue;
      }
      this.#held.delete(hold);
      if (!this.#queue.push(scope, endLine(hold, actual))) isComing = false;
    }
    // What was not taken is settled by the next life.
    if (noteKey !== undefined && isComing)
      this.#queue.whenArrived(scope, () => this.#notes?.forget(noteKey));
  }

  noteOf({ hold, actual }: EndedHold): SettlingEnd | undefined {
    const { counter, alone, name, isOverflow, epoch } = hold;
    const { type, span, holder, id } = counter.limit;
    if (alone !== undefined || type === 'requests' || this.#notes === undefined) return undefined;
    const member = memberOf(hold);
    if (span.kind === 'rate') return [name, member, actual];
    const { kind, workspaceId } = holder;
    const told = [id, kind, workspaceId, counter.group, isOverflow, epoch.name] as const;
    return [name, member, actual, told];
  }

  add(scope: string, states: readonly CounterState[], amounts: readonly number[]): void {
    for (const [index, state] of states.entries()) {
      const amount = amounts[index] ?? 0;
      if (amount !== 0) this.#push(scope, state, amount);
    }
  }

  async peek(scope: string, counters: readonly Counter[]): Promise<CounterState[]> {
    if (counters.length === 0) return [];
    const wants = counters.map((counter) => ({ counter, amount: 0, isSoft: true }));
    const taken = this.#part.isUsable
      ? await this.#ask(scope, { id: '', counters: wants, ofRequest: counters.length }, 'peek')
      : undefined;
    return [...(taken?.states ?? this.#alone.peek(scope, counters))];
  }

  findSpent(scope: string, counters: readonly Counter[]): CounterState | undefined {
    if (!this.#known.knowsSpent) return undefined;
    return this.#known.findSpent(scope, counters, this.#nowMs());
  }

  changedCounters(max: number): ChangedCounter[] {
    return this.#known.takeChanged(max);
  }

  #push(scope: string, state: CounterState, amount: number): void {
    const arrived = () => this.#unposted.add(scope, state.name, -amount);
    this.#unposted.add(scope, state.name, amount);
    if (!this.#queue.push(scope, addLine(state, amount, arrived))) arrived();
  }

  /** Says of everything held for a while that its owner is here. */
  renew(): void {
    // Nobody hears it now; it is said as soon as Redis answers.
    if (!this.#part.isUsable) return;
    for (const hold of this.#held.due(this.#expiryMs / 4, this.#nowMs()))
      this.#queue.push(hold.scope, lineOf(hold, 'renew', this.#expiryMs, memberOf(hold)));
  }

  /**
   * Looks at counters of which something is held, and posts what was counted alone, also when nobody asks any more. What is held
   * and was not said of while Redis was away is said now.
   */
  async refresh(): Promise<void> {
    if (this.#part.isUsable) this.#postAlone();
    this.renew();
    const byScope = Map.groupBy(this.#known.pending(), ({ scope }) => scope);
    for (const [scope, known] of byScope) {
      const counters = known.slice(0, refreshedInOneGo).map(({ state }) => state.counter);
      for (const state of await this.peek(scope, counters))
        if (state.alone === undefined) this.#known.note(scope, state, this.#nowMs());
    }
  }

  /** Holds slices of large budgets for the time when they cannot be asked. */
  async lease(): Promise<void> {
    if (this.#part.isUsable) await this.#leases.sync();
  }

  settled(scope: string): Promise<void> {
    return new Promise((resolve) => {
      let turns = 0;
      const late = setInterval(() => {
        if (++turns === settledTurns) done();
      }, settledTurnMs);
      late.unref();
      const done = () => {
        clearInterval(late);
        resolve();
      };
      this.#queue.whenArrived(scope, done);
    });
  }

  /** Sends what waits. The connection is others' too; who made it closes it. */
  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    if (this.#part.isUsable) {
      this.#postAlone();
      this.#leases.giveBackAll();
      await this.#queue.flush();
    }
    this.#queue.close();
  }

  /** Whether or not the former life did it: a hold ends once. */
  #endFormer(key: string, text: string): void {
    const [scope, ends] = readSettlingNote(text);
    let isComing = true;
    for (const [name, id, amount, told] of ends) {
      const onArrived: Line['onArrived'] = (counts) => {
        if (counts === undefined || told === undefined) return;
        const [limitId, kind, workspaceId, group, isOverflow, epoch] = told;
        const counter = { group, limit: { id: limitId, holder: { kind, workspaceId } } };
        const state = { name, ...counts, isOverflow, epoch: { name: epoch }, counter };
        this.#known.noteTold(scope, state, this.#nowMs());
      };
      const line: Line = { name, state: undefined, what: 'end', id, amount, onArrived };
      if (!this.#queue.push(scope, line)) isComing = false;
    }
    if (isComing) this.#queue.whenArrived(scope, () => this.#notes?.forget(key));
  }

  async #takeShared(scope: string, wants: Wants): Promise<Taken> {
    return (await this.#ask(scope, wants, 'take')) ?? this.#alone.take(scope, wants);
  }

  /** Undefined = Redis cannot be asked, or does not know these counters yet. Never rejects. */
  async #ask(scope: string, wants: Wants, mode: AskMode): Promise<Taken | undefined> {
    let restored: Set<string> | undefined;
    for (let tries = 0; tries < triesMax; tries++) {
      const places = placesOf(this.#places, scope, wants.counters, this.#nowMs());
      let reply: TakeReply;
      try {
        reply = readTakeReply(await this.#send(scope, wants, places, mode, restored));
      } catch {
        // The store has said so, and the part rests.
        return undefined;
      }
      const { what, redisMs } = reply;
      if (this.#now === undefined) this.#shiftMs = redisMs - Date.now();
      if (what === 'ok') return this.#taken(scope, wants, places, reply.words, mode);
      if (what === 'mark') {
        const names = places.map(({ name }) => name);
        if (!(await this.#marks.adopt(scope, reply.mark, redisMs, names))) return undefined;
        for (const place of places) place.hasCounter = false;
      } else if (what === 'lost') {
        const lost = reply.at;
        if (!(await this.#restore(scope, wants, places, lost))) return undefined;
        restored ??= new Set();
        for (const at of lost) restored.add(places[at]?.name ?? '');
      } else if (what === 'new') {
        for (const at of reply.at) {
          const place = places[at];
          if (place !== undefined) place.hasCounter = false;
        }
      }
    }
    return undefined;
  }

  #send(
    scope: string,
    wants: Wants,
    places: readonly CounterPlace[],
    mode: AskMode,
    restored: ReadonlySet<string> | undefined,
  ): Promise<string> {
    const { keys, lines } = askedCounters(scope, wants.counters, places, mode, restored);
    const now = this.#now?.() ?? '-';
    const mark = this.#marks.of(scope) || '-';
    const expiryMs = mode === 'lease' ? leaseMs : this.#expiryMs;
    // By then nobody waits for it, nor may anybody be there to give it back.
    const until =
      mode === 'peek' || this.#now !== undefined
        ? '-'
        : Math.ceil(Date.now() + this.#shiftMs + this.#part.waitMaxMs);
    const head = `${now} ${mark} ${mode === 'peek' ? 'peek' : 'take'} ${wants.id || '-'} ${expiryMs} ${this.#groupsMax} ${wants.ofRequest} ${until}`;
    return this.#part.call(
      keys.slotKey,
      (redis, isWhole) => takeScript.send(redis, keys, [head, lines], isWhole),
      mode === 'peek' ? undefined : (reply) => this.#giveBack(scope, wants, places, reply),
    );
  }

  /** What is taken after nobody waits for it any more. */
  #giveBack(scope: string, wants: Wants, places: readonly CounterPlace[], reply: string): void {
    const read = readTakeReply(reply);
    if (read.what !== 'ok') return;
    const { refusedAt, states } = this.#taken(scope, wants, places, read.words, 'take');
    const taken = takenOf(states, refusedAt, wants.ofRequest);
    this.end(
      scope,
      taken.map((hold) => ({ hold, actual: 0 })),
    );
  }

  #taken(
    scope: string,
    wants: Wants,
    places: readonly CounterPlace[],
    words: IntegerWords,
    mode: AskMode,
  ): Taken {
    const nowMs = this.#nowMs();
    const countedAtUs = words.next();
    const refusedAt = words.next() - 1;
    const mark = this.#marks.of(scope);
    const isLease = mode === 'lease';
    const taking = { id: wants.id, scope, mark, countedAtUs, nowMs, isLease };
    const states: SharedHold[] = [];
    for (const [at, place] of places.entries()) {
      const want = wants.counters[at];
      if (want === undefined) break;
      const state = new SharedHold(taking, want, place, words);
      const { posted, pending, held, isOverflow } = state;
      place.hasCounter = posted + pending + held > 0 && !isOverflow;
      states.push(state);
    }
    if (mode === 'peek') return { refusedAt: -1, states };
    if (isLease) {
      for (const state of states) this.#known.note(scope, { ...state, held: 0 }, nowMs);
      return { refusedAt, states };
    }
    for (const state of states) this.#known.note(scope, state, nowMs);
    const refused = states[refusedAt];
    if (refused !== undefined && refused.posted >= refused.counter.limit.value)
      this.#known.noteSpent(scope, refused, nowMs);
    for (const hold of takenOf(states, refusedAt, wants.ofRequest))
      if (hold.counter.limit.type !== 'requests') this.#held.add(hold);
    return { refusedAt, states };
  }

  /** True once Redis knows of these counters what is to be known. */
  async #restore(
    scope: string,
    { counters }: Wants,
    places: readonly CounterPlace[],
    unknown: readonly number[],
  ): Promise<boolean> {
    const nowMs = this.#nowMs();
    const lost = unknown.filter((at) => {
      const limit = places[at]?.limit;
      return limit === undefined || this.#marks.mayHaveLost(scope, limit, nowMs);
    });
    if (lost.length === 0) return true;
    // What gateways heard of it arrives as well.
    const [sums] = await Promise.all([
      this.#marks.sum(
        scope,
        lost.map((at) => places[at]?.name ?? ''),
      ),
      this.settled(scope),
    ]);
    if (sums === undefined) return false;
    const lines: Line[] = [];
    for (const at of lost) {
      const place = places[at];
      const counter = counters[at]?.counter;
      const sum = sums.get(place?.name ?? '') ?? 0;
      if (place === undefined || counter === undefined || sum === 0) continue;
      lines.push(sumLine(counter, place, sum));
    }
    // Arrived before it is asked again.
    return lines.length === 0 || this.#queue.sendAhead(scope, lines);
  }

  /** Redis was emptied: what was held there is gone, and of what was posted each gateway tells how far it heard. */
  #tellHeard(scope: string): void {
    this.#held.forget(scope);
    const nowMs = this.#nowMs();
    for (const state of this.#known.statesOf(scope))
      if (state.posted > 0 && (state.resetAtMs === 0 || state.resetAtMs > nowMs))
        this.#queue.push(scope, lineOf(state, 'heard', state.posted));
  }

  /** Lines for counters that are gone: they go to those in their place. */
  async #afterLoss(scope: string, lines: readonly Line[]): Promise<void> {
    const names = lines.map(({ name }) => name);
    await this.#marks.adopt(scope, undefined, this.#nowMs(), names);
    for (const line of lines) this.#queue.push(scope, line);
  }

  /** What was counted while Redis was away is counted there. */
  #postAlone(): void {
    if (this.#alone.post()) void this.#queue.flush();
  }

  #nowMs(): number {
    return this.#now?.() ?? Date.now() + this.#shiftMs;
  }
}

/** Those of the states of which something was taken. */
function takenOf<State extends Hold>(
  states: readonly State[],
  refusedAt: number,
  ofRequest: number,
): readonly State[] {
  if (refusedAt < 0) return states;
  return refusedAt < ofRequest ? [] : states.slice(0, ofRequest);
}
