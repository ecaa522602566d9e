import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { BreakerRule } from '@sluice/engine';
import type { Logger } from '@sluice/telemetry';
import type { Redis } from 'ioredis';
import { sharedCircuitsScript } from './shared-circuits-script.ts';

const sendEveryMs = 100;
/** Looked at every 100 ms, which makes it each third time. */
const readEveryMs = 250;
const deadlineMs = 1000;
const restMs = 500;
/** Circuits in one round trip, either way. */
const batchMax = 1000;
/** Round trips made in a row when there is more than one batch. */
const roundsMax = 100;
const pendingMax = 10_000;

const keyPrefix = 'sluice:cb:{cb}:';
const commonKeys = ['changes', 'states', 'ends', 'meta'].map((name) => keyPrefix + name);

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

type Reply = [epoch: string, last: number, hasMore: number, ...changes: (string | number)[]];

interface ExchangeCommand {
  sluiceCircuits(keyCount: number, ...args: (string | number)[]): Promise<Reply>;
}

/**
 * Circuits shared by several gateways through Redis. Counts of all gateways add
 * up; a circuit opened or closed by one is heard of by the others within about
 * 0.4 s. Nothing here is waited for by a request, and at most one round trip
 * is on its way. While Redis is away or hangs, each gateway decides alone and
 * nothing is collected; when it answers again, it is told what is open.
 */
export class SharedCircuits {
  private readonly redis: Redis & ExchangeCommand;
  private readonly logger: Logger;
  private readonly ownId = randomBytes(8).toString('hex');
  private readonly pending = new Map<string, Pending>();
  private keeper: CircuitKeeper | undefined;
  private timer: NodeJS.Timeout | undefined;
  /** The round trip on its way, also when it is late. Never rejects. */
  private exchanging: Promise<void> | undefined;
  private epoch = '';
  private lastSeen = 0;
  private readAtMs = Number.NEGATIVE_INFINITY;
  private askAgainAtMs = 0;
  private failing = false;
  /** Redis may not know what is open here: it is told once all it knows is read. */
  private mustTellAll = true;

  /** The connection is not closed by `close`: it belongs to whoever made it. */
  constructor(options: { redis: Redis; logger: Logger }) {
    options.redis.defineCommand('sluiceCircuits', { lua: sharedCircuitsScript });
    this.redis = options.redis as Redis & ExchangeCommand;
    this.logger = options.logger;
  }

  /** True while each gateway decides alone. */
  get degraded(): boolean {
    return this.failing;
  }

  /** Circuits about which Redis is to be told. */
  get pendingCount(): number {
    return this.pending.size;
  }

  start(keeper: CircuitKeeper): void {
    this.keeper = keeper;
    this.timer = setInterval(() => this.tick(), sendEveryMs);
    this.timer.unref();
    if (this.redis.status === 'ready') this.tick();
  }

  /** Tells what is not told yet, if Redis answers in time. */
  async close(): Promise<void> {
    clearInterval(this.timer);
    const tellRest = async () => {
      await this.exchanging;
      if (this.pending.size > 0 && this.canExchange()) await this.exchange();
    };
    await Promise.race([tellRest(), delay(deadlineMs, undefined, { ref: false })]);
  }

  count(configId: string, path: string, rule: BreakerRule, failed: boolean): void {
    const pending = this.pendingOf(configId, path, rule);
    if (pending === undefined) return;
    if (failed) pending.failures++;
    else pending.successes++;
  }

  opened(circuit: OpenCircuit): void {
    if (!this.note('open', circuit)) this.mustTellAll = true;
  }

  closed(configId: string, path: string, rule: BreakerRule): void {
    this.note('close', { configId, path, rule, closesInMs: 0 });
  }

  /** What happened before in the same tenth of a second no longer matters. */
  private note(event: Pending['event'], circuit: OpenCircuit): boolean {
    const pending = this.pendingOf(circuit.configId, circuit.path, circuit.rule);
    if (pending === undefined) return false;
    pending.event = event;
    pending.closesInMs = circuit.closesInMs;
    pending.failures = 0;
    pending.successes = 0;
    return true;
  }

  /** Undefined = there is no room. What is lost is calls of a tenth of a second. */
  private pendingOf(configId: string, path: string, rule: BreakerRule): Pending | undefined {
    const name = nameOf(configId, path);
    const held = this.pending.get(name);
    if (held !== undefined) {
      held.rule = rule;
      return held;
    }
    if (this.pending.size >= pendingMax) return undefined;
    const fresh: Pending = { event: '', closesInMs: 0, rule, failures: 0, successes: 0 };
    this.pending.set(name, fresh);
    return fresh;
  }

  private tick(): void {
    if (this.redis.status !== 'ready')
      this.becomeDegraded(new Error(`redis is ${this.redis.status}`));
    if (this.failing) this.pending.clear();
    if (this.exchanging !== undefined || !this.canExchange()) return;
    if (this.pending.size === 0 && performance.now() - this.readAtMs < readEveryMs) return;
    this.exchanging = this.exchange().finally(() => {
      this.exchanging = undefined;
    });
  }

  private canExchange(): boolean {
    return this.redis.status === 'ready' && performance.now() >= this.askAgainAtMs;
  }

  /** Ends when nothing is left to tell or read. Never rejects. */
  private async exchange(): Promise<void> {
    let trip: Promise<Reply> | undefined;
    try {
      for (let round = 0; round < roundsMax; round++) {
        trip = this.send(this.takeBatch());
        const hasMore = this.learn(await withDeadline(trip));
        if (!hasMore && this.pending.size === 0) return;
      }
    } catch (error) {
      this.becomeDegraded(error);
      // A late answer is waited for, not used: one round trip at a time, also when Redis hangs.
      await trip?.catch(() => {});
    }
  }

  private takeBatch(): [name: string, pending: Pending][] {
    const batch: [string, Pending][] = [];
    for (const entry of this.pending) {
      if (batch.length === batchMax) break;
      batch.push(entry);
    }
    for (const [name] of batch) this.pending.delete(name);
    return batch;
  }

  private send(batch: readonly [name: string, pending: Pending][]): Promise<Reply> {
    const keys = [...commonKeys, ...batch.map(([name]) => `${keyPrefix}count:${name}`)];
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
    return this.redis.sluiceCircuits(
      keys.length,
      ...keys,
      this.ownId,
      this.epoch,
      this.lastSeen,
      batchMax,
      ...args,
    );
  }

  /** Returns whether there is more to read or all to tell. */
  private learn([epoch, last, hasMore, ...changes]: Reply): boolean {
    for (let index = 0; index + 2 < changes.length; index += 3)
      this.hear(String(changes[index]), changes[index + 1], Number(changes[index + 2]));
    if (epoch !== this.epoch) this.mustTellAll = true;
    this.epoch = epoch;
    this.lastSeen = last;
    this.readAtMs = performance.now();
    this.becomeHealthy();
    if (hasMore === 1) return true;
    if (this.mustTellAll) this.tellAll();
    return false;
  }

  private hear(name: string, closesIn: unknown, cooldownMs: number): void {
    // What happened here since is told next, and then counts for all.
    if ((this.pending.get(name)?.event ?? '') !== '') return;
    const [configId = '', path = ''] = name.split('\n');
    if (typeof closesIn === 'number')
      this.keeper?.openedElsewhere(configId, path, closesIn, cooldownMs);
    else this.keeper?.closedElsewhere(configId, path);
  }

  private tellAll(): void {
    this.mustTellAll = false;
    for (const circuit of this.keeper?.openCircuits() ?? []) {
      if (this.pending.size >= pendingMax) return;
      const held = this.pending.get(nameOf(circuit.configId, circuit.path));
      if (held === undefined || held.event === '') this.note('keep', circuit);
    }
  }

  private becomeDegraded(error: unknown): void {
    this.pending.clear();
    this.mustTellAll = true;
    this.askAgainAtMs = performance.now() + restMs;
    if (!this.failing)
      this.logger.warn(
        { err: error },
        'circuits are counted by each gateway alone until redis answers',
      );
    this.failing = true;
  }

  private becomeHealthy(): void {
    if (this.failing) this.logger.info('circuits are shared again');
    this.failing = false;
  }
}

async function withDeadline<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('redis did not answer in time')), deadlineMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function nameOf(configId: string, path: string): string {
  return `${configId}\n${path}`;
}
