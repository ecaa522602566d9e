import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { BreakerRule } from '@sluice/engine';
import { sharedKeys } from '../../redis/shared-keys.ts';
import type { SharedPart, SharedStore } from '../../redis/shared-store.ts';
import { type CircuitsReply, exchangeCircuits } from './shared-circuits-script.ts';

const sendEveryMs = 100;
/** Looked at every 100 ms, which makes it each third time. */
const readEveryMs = 250;
const deadlineMs = 1000;
/** Circuits in one round trip, either way. */
const batchMax = 1000;
/** Round trips made in a row when there is more than one batch. */
const roundsMax = 100;
const pendingMax = 10_000;

const commonKeys = ['changes', 'states', 'ends', 'meta'].map(sharedKeys.circuits);

/** Who keeps the circuits of this gateway, and hears what became of them elsewhere. */
export interface CircuitKeeper {
  /** `closesInMs` 0 or less = half-open. */
  openedElsewhere(configId: string, path: string, closesInMs: number, cooldownMs: number): void;
  closedElsewhere(configId: string, path: string): void;
  /** All that are open now, to be told to a Redis that does not know of them. */
  openCircuits(): Iterable<OpenCircuit>;
}

export interface OpenCircuit {
  readonly configId: string;
  readonly path: string;
  readonly rule: BreakerRule;
  readonly closesInMs: number;
}

/** What happened to a circuit since the last round trip: first the event, then the calls. */
interface Pending {
  event: 'open' | 'close' | 'keep' | '';
  closesInMs: number;
  rule: BreakerRule;
  failures: number;
  successes: number;
}

/**
 * Circuits shared by several gateways through Redis. Counts of all gateways add
 * up; a circuit opened or closed by one is heard of by the others within about
 * 0.4 s. Nothing here is waited for by a request, and at most one round trip
 * is on its way. While Redis is away or hangs, each gateway decides alone and
 * nothing is collected; when it answers again, it is told what is open.
 */
export class SharedCircuits {
  readonly #part: SharedPart;
  readonly #ownId = randomBytes(8).toString('hex');
  readonly #pending = new Map<string, Pending>();
  #keeper: CircuitKeeper | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** The round trip that is waited for. Never rejects. */
  #exchanging: Promise<void> | undefined;
  #epoch = '';
  #lastSeen = 0;
  #readAtMs = Number.NEGATIVE_INFINITY;
  /** Redis may not know what is open here: it is told once all it knows is read. */
  #mustTellAll = true;

  constructor(options: { store: SharedStore }) {
    this.#part = options.store.share({
      name: 'circuits',
      deadlineMs,
      keyOfSlot: commonKeys[0],
    });
  }

  /** True while each gateway decides alone. */
  get degraded(): boolean {
    return this.#part.degraded;
  }

  /** Circuits about which Redis is to be told. */
  get pendingCount(): number {
    return this.#pending.size;
  }

  start(keeper: CircuitKeeper): void {
    this.#keeper = keeper;
    this.#timer = setInterval(() => this.#tick(), sendEveryMs);
    this.#timer.unref();
    this.#tick();
  }

  /** Tells what is not told yet, if Redis answers in time. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    const tellRest = async () => {
      await this.#exchanging;
      if (this.#pending.size > 0 && this.#part.isUsable) await this.#exchange();
    };
    await Promise.race([tellRest(), delay(deadlineMs, undefined, { ref: false })]);
  }

  count(configId: string, path: string, rule: BreakerRule, failed: boolean): void {
    const pending = this.#pendingOf(configId, path, rule);
    if (pending === undefined) return;
    if (failed) pending.failures++;
    else pending.successes++;
  }

  opened(circuit: OpenCircuit): void {
    if (!this.#note('open', circuit)) this.#mustTellAll = true;
  }

  closed(configId: string, path: string, rule: BreakerRule): void {
    this.#note('close', { configId, path, rule, closesInMs: 0 });
  }

  /** What happened before in the same tenth of a second no longer matters. */
  #note(event: Pending['event'], circuit: OpenCircuit): boolean {
    const pending = this.#pendingOf(circuit.configId, circuit.path, circuit.rule);
    if (pending === undefined) return false;
    pending.event = event;
    pending.closesInMs = circuit.closesInMs;
    pending.failures = 0;
    pending.successes = 0;
    return true;
  }

  /** Undefined = there is no room. What is lost is calls of a tenth of a second. */
  #pendingOf(configId: string, path: string, rule: BreakerRule): Pending | undefined {
    const name = nameOf(configId, path);
    const held = this.#pending.get(name);
    if (held !== undefined) {
      held.rule = rule;
      return held;
    }
    if (this.#pending.size >= pendingMax) return undefined;
    const fresh: Pending = { event: '', closesInMs: 0, rule, failures: 0, successes: 0 };
    this.#pending.set(name, fresh);
    return fresh;
  }

  #tick(): void {
    if (this.#part.degraded) this.#goAlone();
    if (this.#exchanging !== undefined || !this.#part.isUsable) return;
    if (this.#pending.size === 0 && performance.now() - this.#readAtMs < readEveryMs) return;
    this.#exchanging = this.#exchange().finally(() => {
      this.#exchanging = undefined;
    });
  }

  /** Ends when nothing is left to tell or read. Never rejects. */
  async #exchange(): Promise<void> {
    try {
      for (let round = 0; round < roundsMax; round++) {
        const hasMore = this.#learn(await this.#send(this.#takeBatch()));
        if (!hasMore && this.#pending.size === 0) return;
      }
    } catch {
      // The store has said so, and asks nothing more until that call has ended, however late.
      this.#goAlone();
    }
  }

  /** Nothing is collected meanwhile; what is open is told when Redis answers again. */
  #goAlone(): void {
    this.#pending.clear();
    this.#mustTellAll = true;
  }

  #takeBatch(): [name: string, pending: Pending][] {
    const batch: [string, Pending][] = [];
    for (const entry of this.#pending) {
      if (batch.length === batchMax) break;
      batch.push(entry);
    }
    for (const [name] of batch) this.#pending.delete(name);
    return batch;
  }

  #send(batch: readonly [name: string, pending: Pending][]): Promise<CircuitsReply> {
    const keys = [...commonKeys, ...batch.map(([name]) => sharedKeys.circuits(`count:${name}`))];
    const args = batch.flatMap(([name, { event, closesInMs, rule, failures, successes }]) => [
      name,
      event,
      Math.ceil(closesInMs),
      Math.ceil(rule.cooldownMs),
      failures,
      successes,
      rule.failureThreshold ?? '',
      rule.failurePercentage ?? '',
      rule.minimumRequests,
    ]);
    const known = [this.#ownId, this.#epoch, this.#lastSeen, batchMax];
    return this.#part.call(commonKeys[0] ?? '', (redis) =>
      exchangeCircuits.run(redis, keys, [...known, ...args]),
    );
  }

  /** Returns whether there is more to read or all to tell. */
  #learn([epoch, last, hasMore, ...changes]: CircuitsReply): boolean {
    for (let index = 0; index + 2 < changes.length; index += 3)
      this.#hear(String(changes[index]), changes[index + 1], Number(changes[index + 2]));
    if (epoch !== this.#epoch) this.#mustTellAll = true;
    this.#epoch = epoch;
    this.#lastSeen = last;
    this.#readAtMs = performance.now();
    if (hasMore === 1) return true;
    if (this.#mustTellAll) this.#tellAll();
    return false;
  }

  #hear(name: string, closesIn: unknown, cooldownMs: number): void {
    // What happened here since is told next, and then counts for all.
    if ((this.#pending.get(name)?.event ?? '') !== '') return;
    const [configId = '', path = ''] = name.split('\n');
    if (typeof closesIn === 'number')
      this.#keeper?.openedElsewhere(configId, path, closesIn, cooldownMs);
    else this.#keeper?.closedElsewhere(configId, path);
  }

  #tellAll(): void {
    this.#mustTellAll = false;
    for (const circuit of this.#keeper?.openCircuits() ?? []) {
      if (this.#pending.size >= pendingMax) return;
      const held = this.#pending.get(nameOf(circuit.configId, circuit.path));
      if (held === undefined || held.event === '') this.#note('keep', circuit);
    }
  }
}

function nameOf(configId: string, path: string): string {
  return `${configId}\n${path}`;
}
