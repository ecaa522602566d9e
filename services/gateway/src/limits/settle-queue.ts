import { setImmediate as turn } from 'node:timers/promises';
import type { CounterState } from '../exchange/reservation.ts';
import { sharedKeys } from '../redis/shared-keys.ts';
import type { SharedPart } from '../redis/shared-store.ts';
import { wireWord } from '../redis/wire-command.ts';
import { settleScript } from './limit-scripts.ts';
import type { Counted } from './limit-store.ts';
import { IntegerWords } from './read-words.ts';

/** What becomes of one counter. */
export interface Line {
  readonly name: string;
  /** Undefined = of the counter nothing is known but its name. */
  readonly state: CounterState | undefined;
  readonly what: 'end' | 'add' | 'renew' | 'heard' | 'sum';
  /** Of what is held, or of what is added. */
  readonly id: string;
  readonly amount: number;
  /** Its hash and its set as they are sent; undefined = they are put together. */
  readonly wire?: string | undefined;
  /** Of the counters that it is about; another by now = Redis has lost those. Absent = that of when it is pushed. */
  mark?: string | undefined;
  /** Told when it is done, and how far the counter is then; undefined = there is no such counter. */
  onArrived?: ((counts: Counted | undefined) => void) | undefined;
}

export interface SettleQueueParts {
  part: SharedPart;
  /** For the script: `-` = by the clock of Redis. */
  now: () => number | '-';
  markOf: (scope: string) => string;
  /** The organisation's counters are others than those that the lines are about. */
  onOtherMark: (scope: string, lines: readonly Line[]) => void;
  /** How far a counter is after its line. */
  onSettled: (scope: string, state: CounterState, counted: Counted) => void;
  /** More lines than that wait for nothing: they are dropped, and `onDropped` told. */
  linesMax: number;
  onDropped: () => void;
}

interface Waiting {
  lines: Line[];
  sinceMs: number;
  isSending: boolean;
}

/** Together in so much time they are one call. */
const gatherMs = 2;
const againMs = 500;
const linesInOneCall = 200;

/** Lines for counters that nobody waits for, sent together, and again until they have arrived. */
export class SettleQueue {
  readonly #parts: SettleQueueParts;
  readonly #waiting = new Map<string, Waiting>();
  readonly #timers = new Set<NodeJS.Timeout>();
  #count = 0;

  constructor(parts: SettleQueueParts) {
    this.#parts = parts;
  }

  /** Lines not yet arrived. */
  get size(): number {
    return this.#count;
  }

  /** How long the oldest line has waited. */
  get lagMs(): number {
    let oldest = Number.POSITIVE_INFINITY;
    for (const { sinceMs } of this.#waiting.values()) oldest = Math.min(oldest, sinceMs);
    return Number.isFinite(oldest) ? Math.max(0, performance.now() - oldest) : 0;
  }

  /** False = it will never arrive. */
  push(scope: string, line: Line): boolean {
    if (this.#count >= this.#parts.linesMax) {
      this.#parts.onDropped();
      return false;
    }
    this.#count++;
    line.mark ??= this.#parts.markOf(scope);
    const waiting = this.#waiting.get(scope);
    if (waiting !== undefined) {
      waiting.lines.push(line);
      return true;
    }
    this.#waiting.set(scope, { lines: [line], sinceMs: performance.now(), isSending: false });
    this.#sendIn(scope, gatherMs);
    return true;
  }

  /** Sends lines before all that wait, once. False = they did not arrive. Never rejects. */
  async sendAhead(scope: string, lines: readonly Line[]): Promise<boolean> {
    const reply = await this.#run(scope, lines);
    if (reply === undefined || reply.length === 0) return false;
    this.#tell(scope, lines, reply);
    return true;
  }

  /** Calls back when all lines of now have arrived. */
  whenArrived(scope: string, tell: () => void): void {
    const last = this.#waiting.get(scope)?.lines.at(-1);
    if (last === undefined) {
      tell();
      return;
    }
    const { onArrived } = last;
    last.onArrived = (counts) => {
      onArrived?.(counts);
      tell();
    };
  }

  /** Sends what waits, now. Never rejects. */
  async flush(): Promise<void> {
    await Promise.all(Array.from(this.#waiting.keys(), (scope) => this.#send(scope)));
  }

  close(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }

  #sendIn(scope: string, ms: number): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      void this.#send(scope);
    }, ms);
    timer.unref();
    this.#timers.add(timer);
  }

  /** Never rejects. */
  async #send(scope: string): Promise<void> {
    const waiting = this.#waiting.get(scope);
    if (waiting === undefined || waiting.isSending) return;
    waiting.isSending = true;
    const lines = waiting.lines.slice(0, linesInOneCall);
    // What is settled is on disk before: records are written at the end of their turn.
    await turn();
    const reply = await this.#run(scope, lines);
    waiting.isSending = false;
    if (reply === undefined) {
      this.#sendIn(scope, againMs);
      return;
    }
    waiting.lines.splice(0, lines.length);
    this.#count -= lines.length;
    if (reply.length === 0) this.#parts.onOtherMark(scope, lines);
    else this.#tell(scope, lines, reply);
    if (waiting.lines.length === 0) this.#waiting.delete(scope);
    else {
      waiting.sinceMs = performance.now();
      await this.#send(scope);
    }
  }

  /** Undefined = it is to be sent again. */
  async #run(scope: string, lines: readonly Line[]): Promise<string | undefined> {
    const { part, now, markOf } = this.#parts;
    const mark = sharedKeys.limitMark(scope);
    const knownMark = markOf(scope);
    let wire = wireWord(mark);
    let text = '';
    for (const line of lines) {
      const { name, state, id, amount, wire: known } = line;
      wire +=
        known ??
        wireWord(sharedKeys.limit(scope, name)) + wireWord(sharedKeys.limitHeld(scope, name));
      const keep = state === undefined ? 0 : keepUntilMs(state);
      text += `${wordOf(line, knownMark)} ${id === '' ? '-' : id} ${amount} ${keep} `;
    }
    const keys = { slotKey: mark, count: 1 + 2 * lines.length, wire };
    const args = [`${now()} ${knownMark || '-'}`, text];
    try {
      return await part.call(mark, (redis, isWhole) =>
        settleScript.send(redis, keys, args, isWhole),
      );
    } catch {
      // The store has said so; lines are done once however often they are sent.
      return undefined;
    }
  }

  #tell(scope: string, lines: readonly Line[], reply: string): void {
    const words = new IntegerWords(reply);
    const countedAtUs = words.next();
    for (const { state, what, onArrived } of lines) {
      const posted = words.next();
      const counted = { posted, pending: words.next(), overshoot: words.next(), countedAtUs };
      onArrived?.(posted < 0 ? undefined : counted);
      if (!(posted >= 0) || what === 'renew' || state === undefined) continue;
      this.#parts.onSettled(scope, state, counted);
    }
  }
}

/** What was held or added of counters that Redis has lost is told as that; of former lives it is not known. */
function wordOf({ what, mark, state }: Line, knownMark: string): string {
  const isLate = mark !== knownMark && mark !== '' && state !== undefined;
  return isLate && (what === 'end' || what === 'add') ? 'late' : what;
}

const dayMs = 86_400_000;

/** When a counter may be forgotten: what is settled after its epoch has some time to. */
export function keepUntilMs({ epoch, counter }: Pick<CounterState, 'epoch' | 'counter'>): number {
  if (epoch.endMs === 0) return Date.now() + 400 * dayMs;
  return epoch.endMs + (counter.limit.span.kind === 'rate' ? 120_000 : 2 * dayMs);
}
