import { type Counter, epochOf } from '@sluice/engine';
import type { CounterState } from '../exchange/reservation.ts';
import { sharedKeys } from '../redis/shared-keys.ts';
import type { SharedPart, SharedStore } from '../redis/shared-store.ts';
import { type CounterPlace, CounterPlaces } from './counter-places.ts';
import { KnownCounters } from './known-counters.ts';
import { Leases, leaseMs } from './leases.ts';
import { type LimitMarks, SharedMarks, type SumCounters } from './limit-marks.ts';
import { takeScript } from './limit-scripts.ts';
import {
  type ChangedCounter,
  type EndedHold,
  type Hold,
  type LimitStore,
  leftOf,
  neededFor,
  type Taken,
  type Want,
  type Wants,
} from './limit-store.ts';
import { type Replicas, shareOf } from './live-replicas.ts';
import { type Allowance, limitGroupsMaxDefault, MemoryLimits } from './memory-limits.ts';
import { addLine, endLine, lineOf, memberOf } from './settle-lines.ts';
import { type Line, SettleQueue } from './settle-queue.ts';
import {
  readSettlingNote,
  type SettlingEnd,
  type SettlingNotes,
  settlingNote,
} from './settling-notes.ts';
import { SharedHold, SharedHolds } from './shared-holds.ts';

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
  readonly #replicas: () => Replicas;
  readonly #groupsMax: number;
  readonly #expiryMs: number;
  readonly #now: (() => number) | undefined;
  /** Add to our time to have that of Redis. */
  #shiftMs = 0;
  readonly #notes: SettlingNotes | undefined;
  /** Lines of which is to be found out whether Redis still knows their counters. */
  #linesInDoubt = 0;
  #alone: MemoryLimits;
  readonly #places = new CounterPlaces();
  /** Of what was taken alone; of those taken there is a member that ends once. */
  readonly #endedAlone = new WeakSet<Hold>();
  readonly #held = new SharedHolds();
  readonly #timers: NodeJS.Timeout[] = [];

  constructor(options: RedisLimitsOptions) {
    this.#groupsMax = options.groupsMax ?? limitGroupsMaxDefault;
    this.#expiryMs = options.expiryMs ?? 30_000;
    this.#now = options.now;
    this.#notes = options.notes;
    this.#replicas = options.replicas ?? (() => ({ index: 0, count: 1 }));
    this.#alone = this.#newAlone();
    this.#part = options.store.share({
      name: 'limits',
      deadlineMs: options.timeoutMs ?? 100,
      says: {
        alone: 'limits are counted without redis, each by its rule, until it answers',
        again: 'limits are shared again',
      },
    });
    this.#marks = new SharedMarks({
      part: this.#part,
      sumCounters: options.sumCounters,
      path: options.marksPath,
    });
    this.#leases = new Leases({
      take: (scope, wants) => this.#ask(scope, wants, 'lease'),
      end: (scope, ends, noteKey) => this.end(scope, ends, noteKey),
      note: (scope, hold) => {
        const end = this.noteOf({ hold, actual: 0 });
        if (end !== undefined) this.#notes?.keep(settlingNote(hold.id, scope, [end]));
      },
      asked: () => this.#known.leasable(this.#nowMs() - leasableMs),
      replicas: () => this.#replicas().count,
      nowMs: () => this.#nowMs(),
    });
    this.#queue = new SettleQueue({
      part: this.#part,
      now: () => this.#now?.() ?? '',
      markOf: (scope) => this.#marks.of(scope),
      onOtherMark: (scope, lines) => {
        this.#linesInDoubt += lines.length;
        void this.#afterLoss(scope, lines).finally(() => {
          this.#linesInDoubt -= lines.length;
        });
      },
      onSettled: (scope, state) => this.#known.note(scope, state, this.#nowMs()),
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
  get settling(): { readonly lines: number; readonly lagMs: number } {
    return { lines: this.#queue.size + this.#linesInDoubt, lagMs: this.#queue.lagMs };
  }

  take(scope: string, wants: Wants): Taken | Promise<Taken> {
    if (!this.#part.isUsable) return this.#alone.take(scope, wants);
    this.#postAlone();
    return this.#takeShared(scope, wants);
  }

  end(scope: string, ends: readonly EndedHold[], noteKey?: string): void {
    for (const ended of ends) {
      const { hold, actual } = ended;
      if (hold.alone !== undefined) {
        this.#endAlone(scope, ended);
        continue;
      }
      this.#held.delete(hold);
      this.#queue.push(scope, endLine(hold, actual));
    }
    if (noteKey !== undefined) this.#queue.whenArrived(scope, () => this.#notes?.forget(noteKey));
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
      if (amount !== 0) this.#queue.push(scope, addLine(state, amount));
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
    return this.#known.findSpent(scope, counters, this.#nowMs());
  }

  changedCounters(max: number): ChangedCounter[] {
    return this.#known.takeChanged(max);
  }

  /** Says of everything held for a while that its owner is here. */
  renew(): void {
    for (const hold of this.#held.due(this.#expiryMs / 4, this.#nowMs()))
      this.#queue.push(hold.scope, lineOf(hold, 'renew', this.#expiryMs, memberOf(hold)));
  }

  /** Looks at counters of which something is held, and posts what was counted alone, also when nobody asks any more. */
  async refresh(): Promise<void> {
    if (this.#part.isUsable) this.#postAlone();
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
    for (const [name, id, amount, told] of ends) {
      const onArrived: Line['onArrived'] = (counts) => {
        if (counts === undefined || told === undefined) return;
        const [limitId, kind, workspaceId, group, isOverflow, epoch] = told;
        const counter = { group, limit: { id: limitId, holder: { kind, workspaceId } } };
        const state = { name, ...counts, isOverflow, epoch: { name: epoch }, counter };
        this.#known.noteTold(scope, state, this.#nowMs());
      };
      this.#queue.push(scope, { name, state: undefined, what: 'end', id, amount, onArrived });
    }
    this.#queue.whenArrived(scope, () => this.#notes?.forget(key));
  }

  async #takeShared(scope: string, wants: Wants): Promise<Taken> {
    return (await this.#ask(scope, wants, 'take')) ?? this.#alone.take(scope, wants);
  }

  /** Undefined = Redis cannot be asked, or does not know these counters yet. Never rejects. */
  async #ask(scope: string, wants: Wants, mode: AskMode): Promise<Taken | undefined> {
    const restored = new Set<string>();
    for (let tries = 0; tries < triesMax; tries++) {
      const nowMs = this.#nowMs();
      const asked = wants.counters.map((want) => this.#asked(scope, want, nowMs));
      const reply = await this.#run(scope, wants, asked, { mode, restored });
      if (reply === undefined) return undefined;
      const [what, redisMs] = reply;
      if (this.#now === undefined) this.#shiftMs = Number(redisMs) - Date.now();
      if (what === 'ok') return this.#taken(scope, wants, asked, reply, mode);
      if (what === 'mark') {
        const mark = reply[2];
        const isKnown = await this.#marks.adopt(
          scope,
          typeof mark === 'string' ? mark : undefined,
          Number(redisMs),
          asked.map(({ name }) => name),
        );
        if (!isKnown) return undefined;
        this.#held.forget(scope);
        for (const { place } of asked) place.hasCounter = false;
      } else if (what === 'lost') {
        const lost = reply.slice(2).flatMap((at) => asked[Number(at) - 1] ?? []);
        if (!(await this.#restore(scope, lost))) return undefined;
        for (const { name } of lost) restored.add(name);
      } else if (what === 'new') {
        for (const at of reply.slice(2)) {
          const one = asked[Number(at) - 1];
          if (one !== undefined) one.place.hasCounter = false;
        }
      }
    }
    return undefined;
  }

  #asked(scope: string, want: Want, nowMs: number): Asked {
    const { epoch, name } = epochOf(want.counter, nowMs);
    return { want, epoch, name, place: this.#places.of(scope, want.counter, epoch, name) };
  }

  async #run(
    scope: string,
    wants: Wants,
    asked: readonly Asked[],
    { mode, restored }: AskOptions,
  ): Promise<(string | number | null)[] | undefined> {
    const mark = sharedKeys.limitMark(scope);
    const keys = [mark];
    let lines = '';
    for (const each of asked) lines += pushKeys(each, { mode, restored }, keys);
    const args: (string | number)[] = [
      this.#now?.() ?? '',
      this.#marks.of(scope),
      mode === 'peek' ? 'peek' : 'take',
      wants.id,
      mode === 'lease' ? leaseMs : this.#expiryMs,
      this.#groupsMax,
      wants.ofRequest,
      lines,
    ];
    let isLate = false;
    try {
      return await this.#part.call(mark, (redis) => {
        const sent = takeScript.run(redis, keys, args);
        // What is taken after nobody waits for it any more goes back.
        if (mode !== 'peek')
          sent.then(
            (reply) => {
              if (isLate) this.#giveBack(scope, wants, asked, reply);
            },
            () => {},
          );
        return sent;
      });
    } catch {
      // The store has said so, and the part rests.
      isLate = true;
      return undefined;
    }
  }

  #giveBack(
    scope: string,
    wants: Wants,
    asked: readonly Asked[],
    reply: readonly (string | number | null)[],
  ): void {
    if (reply[0] !== 'ok') return;
    const { refusedAt, states } = this.#taken(scope, wants, asked, reply, 'take');
    const taken = takenOf(states, refusedAt, wants.ofRequest);
    this.end(
      scope,
      taken.map((hold) => ({ hold, actual: 0 })),
    );
  }

  #taken(
    scope: string,
    wants: Wants,
    asked: readonly Asked[],
    reply: readonly (string | number | null)[],
    mode: AskMode,
  ): Taken {
    const nowMs = this.#nowMs();
    const refusedAt = Number(reply[2]) - 1;
    const told = String(reply[3]).split(' ');
    const states: SharedHold[] = [];
    for (const { want, epoch, name, place } of asked) {
      const at = 5 * states.length;
      const posted = Number(told[at]);
      const pending = Number(told[at + 1]);
      const overshoot = Number(told[at + 2]);
      const held = Number(told[at + 3]);
      const bits = Number(told[at + 4]);
      const { counter } = want;
      const isOverflow = (bits & 1) !== 0;
      place.hasCounter = posted + pending + held > 0 && !isOverflow;
      states.push(
        new SharedHold(
          wants.id,
          scope,
          counter,
          epoch,
          isOverflow ? place.sharedName : name,
          { posted, pending, overshoot },
          held,
          mode === 'lease' ? 0 : want.amount - held,
          bits,
          nowMs,
        ),
      );
    }
    if (mode === 'peek') return { refusedAt: -1, states };
    if (mode === 'lease') {
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
  async #restore(scope: string, lost: readonly Asked[]): Promise<boolean> {
    const sums = await this.#marks.sum(
      scope,
      lost.map(({ name }) => name),
    );
    if (sums === undefined) return false;
    for (const { want, epoch, name } of lost) {
      const known = this.#known.get(scope, name);
      const state = known ?? untouched(want.counter, epoch, name);
      const amount = Math.max(sums.get(name) ?? 0, known?.posted ?? 0);
      if (amount > 0) this.#queue.push(scope, lineOf(state, 'least', amount));
    }
    // Before whatever is asked next.
    await this.#queue.flush();
    return true;
  }

  /** Lines for counters that are gone: of those only what was counted alone is not known to others. */
  async #afterLoss(scope: string, lines: readonly Line[]): Promise<void> {
    const names = lines.map(({ name }) => name);
    const isKnown = this.#marks.of(scope) !== '';
    if (isKnown) this.#held.forget(scope);
    if (!(await this.#marks.adopt(scope, undefined, this.#nowMs(), names)) || !isKnown) {
      // Whoever knew no mark knows nothing of a loss: of former lives there are lines all the same.
      for (const line of lines) this.#queue.push(scope, line);
      return;
    }
    for (const line of lines) {
      const { state, what, amount, onArrived } = line;
      onArrived?.(undefined);
      if (what !== 'add' || amount <= 0 || state === undefined) continue;
      const before = this.#known.get(scope, state.name)?.posted ?? 0;
      if (this.#marks.hasLedger) {
        // It is in the ledger, or will be: added, it would count twice.
        const known = { ...state, alone: undefined, posted: before + amount, pending: 0 };
        this.#known.note(scope, known, this.#nowMs());
        continue;
      }
      this.#queue.push(scope, lineOf(state, 'least', before));
      this.#queue.push(scope, line);
    }
  }

  #newAlone(): MemoryLimits {
    return new MemoryLimits({
      now: () => this.#nowMs(),
      groupsMax: this.#groupsMax,
      isDrained: true,
      allows: (scope, counter, name) => this.#allowedAlone(scope, counter, name),
    });
  }

  #allowedAlone(scope: string, counter: Counter, name: string): Allowance {
    const { value, rules } = counter.limit;
    const known = this.#known.get(scope, name);
    const left = Math.max(0, known === undefined ? value : leftOf(value, known));
    switch (rules.withoutShared) {
      case 'share':
        return { value: shareOf(left, this.#replicas(), name), rule: 'share' };
      case 'lease':
        return { value: this.#leases.leased(scope, name), rule: 'lease' };
      case 'allow':
        return { value: Number.MAX_SAFE_INTEGER, rule: 'allow' };
      case 'refuse':
        return { value: 0, rule: 'refuse' };
    }
  }

  #endAlone(scope: string, ended: EndedHold): void {
    const { hold, actual } = ended;
    if (this.#endedAlone.has(hold)) return;
    this.#endedAlone.add(hold);
    // Counted alone, and posted since: what is new goes the same way.
    if (!this.#alone.holds(hold)) {
      const more = hold.counter.limit.type === 'requests' ? actual - hold.held : actual;
      if (more !== 0) this.#queue.push(scope, addLine(hold, more));
    } else this.#alone.end(scope, [ended]);
  }

  /** What was counted while Redis was away is counted there. */
  #postAlone(): void {
    if (this.#alone.size === 0) return;
    const alone = this.#alone;
    this.#alone = this.#newAlone();
    for (const { scope, state, posted } of alone.drain())
      this.#queue.push(scope, addLine(state, posted));
    void this.#queue.flush();
  }

  #nowMs(): number {
    return this.#now?.() ?? Date.now() + this.#shiftMs;
  }
}

/** A lease is taken like anything else, held for longer, and no request's. */
type AskMode = 'take' | 'peek' | 'lease';

interface AskOptions {
  readonly mode: AskMode;
  /** Counters of which is known what was lost. */
  readonly restored: ReadonlySet<string>;
}

interface Asked {
  readonly want: Want;
  readonly epoch: CounterState['epoch'];
  readonly name: string;
  readonly place: CounterPlace;
}

/** Adds the keys of a counter; returns its line for the script. */
function pushKeys(
  { want, name, place }: Asked,
  { mode, restored }: AskOptions,
  keys: string[],
): string {
  const { hasCounter, ofGroup } = place;
  keys.push(...place.keys);
  let flags = place.flags;
  if (ofGroup !== undefined) {
    if (hasCounter) flags += 'o';
    else {
      flags += 'g';
      keys.push(...ofGroup);
    }
  }
  if (want.isSoft) flags += 'n';
  if (mode === 'lease') flags += 'l';
  if (restored.has(name)) flags += 'k';
  const needed = want.isSoft ? 0 : neededFor(want);
  return `${flags} ${want.counter.limit.value} ${want.amount} ${needed} ${place.times} `;
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

function untouched(counter: Counter, epoch: CounterState['epoch'], name: string): CounterState {
  return {
    counter,
    epoch,
    name,
    posted: 0,
    pending: 0,
    overshoot: 0,
    remaining: counter.limit.value,
    resetAtMs: epoch.endMs,
    held: 0,
    wouldRefuse: false,
    isOverflow: false,
    alone: undefined,
  };
}
