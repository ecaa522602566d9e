import { type Logger, reasonOf } from '@sluice/telemetry';
import type { Cluster, Command, Redis } from 'ioredis';
import { Chain, type Linked } from '../chain/chain.ts';
import { sharedKeys } from './shared-keys.ts';
import { SharingChanges } from './sharing-changes.ts';
import { isUnknownScript } from './unknown-script.ts';

/** All that we ask of Redis, whichever way it is run. */
export interface SharedCommands {
  get(key: string): Promise<string | null>;
  getBuffer(key: string): Promise<Buffer | null>;
  pttl(key: string): Promise<number>;
  set(key: string, value: string | Buffer, unit: 'PX', ttlMs: number): Promise<unknown>;
  del(key: string): Promise<number>;
  /** Commands of modules, whose replies have shapes of their own. */
  call(command: string, ...args: (string | number | Buffer)[]): Promise<unknown>;
  /** One after the other, with nobody's in between; their keys must be in one slot. */
  multi(commands: unknown[][]): { exec(): Promise<[Error | null, unknown][] | null> };
  evalsha(sha: string, keyCount: number, ...args: (string | number)[]): Promise<unknown>;
  eval(lua: string, keyCount: number, ...args: (string | number)[]): Promise<unknown>;
  /** Of a command that was made before; its promise. */
  sendCommand(command: Command): unknown;
}

/** @param isWhole a script that the server does not hold is sent again, whole */
type Send<T> = (redis: SharedCommands, isWhole: boolean) => Promise<T>;

/** A part that shares something through Redis, and goes on alone without it. */
export interface SharingPart {
  /** One word; a metric has it in its name, and the log tells it. */
  name: string;
  /** When nothing was answered for so long, calls have failed. */
  deadlineMs: number;
  /** Calls on their way; with as many, the part is told at once that the store is busy. */
  callsMax?: number;
  /** Of a part whose keys are all in one slot: one of them. */
  keyOfSlot?: string;
}

/** After a failure Redis is left alone for so long. */
const restMs = 500;
const probeTtlMs = 1000;
const closeTimeoutMs = 1000;
/** So many deadlines a call waits at most while others are answered. */
const lineMax = 10;

/**
 * One connection to Redis, or to a cluster, and the parts that share through
 * it. A failed or late call puts its part at rest: its calls are refused at
 * once, so that no request waits for a server that is away. One prober, and no
 * request, then finds out when the part may go on: it writes a key of the slot
 * in which the call failed, and must be answered within the part's deadline.
 */
export class SharedStore {
  readonly #client: Redis | Cluster;
  readonly #changes: SharingChanges;
  readonly #shares: SharedPart[] = [];
  /** Calls that missed their deadline and are still on their way: until then, more would only pile up. */
  #lateCalls = 0;
  #timer: NodeJS.Timeout | undefined;
  #isProbing = false;
  #isClosed = false;
  /** All share, or the connection was refused. */
  readonly #tried = Promise.withResolvers<void>();

  /** @param options.changes of all stores of a gateway, whose parts are told together; without it, of this one */
  constructor(options: { client: Redis | Cluster; logger: Logger; changes?: SharingChanges }) {
    this.#client = options.client;
    this.#changes = options.changes ?? new SharingChanges(options.logger);
    this.#client.on('ready', () => this.#probeIn(0));
    this.#client.on('close', () => {
      if (this.#isClosed) return;
      const error = new Error('the connection to redis was lost');
      for (const part of this.#shares) part.rest(error);
      this.#tried.resolve();
    });
    if (this.#client.status === 'ready') this.#probeIn(0);
  }

  /** To be called once a part. It is alone until Redis has answered for the first time. */
  share(part: SharingPart): SharedPart {
    const shared = new SharedPart(part, {
      client: this.#client,
      changes: this.#changes,
      onRest: () => this.#probeIn(restMs),
      onLate: (late) => this.#countLate(late),
    });
    this.#shares.push(shared);
    this.#probeIn(0);
    return shared;
  }

  /**
   * Resolves once all parts share: what is asked before that is counted and remembered alone. Waits for a Redis that
   * is away no longer than until that shows.
   */
  async firstTry(waitMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, waitMs);
    });
    await Promise.race([this.#tried.promise, late]);
    clearTimeout(timer);
  }

  /** Whether a part goes on alone; one that does not share here does not. */
  isDegraded(name: string): boolean {
    return this.#shares.some((part) => part.name === name && part.degraded);
  }

  /** Ends the prober and the connection. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#changes.tell();
    const quit = this.#client.quit().catch(() => {
      // It was not connected, or does not answer: what follows ends it all the same.
    });
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise((resolve) => {
      timer = setTimeout(resolve, closeTimeoutMs);
    });
    await Promise.race([quit, late]);
    clearTimeout(timer);
    this.#client.disconnect();
  }

  #countLate(late: Promise<unknown>): void {
    this.#lateCalls++;
    const settle = () => {
      this.#lateCalls--;
      if (this.#lateCalls === 0) this.#probeIn(0);
    };
    late.then(settle, settle);
  }

  #probeIn(ms: number): void {
    if (this.#isClosed || this.#isProbing) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#probe(), ms);
    this.#timer.unref();
  }

  /** Never rejects. */
  async #probe(): Promise<void> {
    this.#isProbing = true;
    for (const part of this.#shares.filter(({ degraded }) => degraded)) {
      // A lost connection and late calls come back here by themselves.
      if (this.#client.status !== 'ready' || this.#lateCalls > 0) break;
      // The next round begins with the others: they may have a node that answers.
      if (!(await part.probe())) this.#putLast(part);
    }
    this.#isProbing = false;
    if (!this.#shares.some(({ degraded }) => degraded)) this.#tried.resolve();
    if (this.#lateCalls === 0 && this.#shares.some(({ degraded }) => degraded))
      this.#probeIn(restMs);
  }

  #putLast(part: SharedPart): void {
    this.#shares.splice(this.#shares.indexOf(part), 1);
    this.#shares.push(part);
  }
}

interface Surroundings {
  client: Redis | Cluster;
  changes: SharingChanges;
  onRest: () => void;
  onLate: (late: Promise<unknown>) => void;
}

/** On its way, and neither answered nor late. */
class WaitingCall implements Linked<WaitingCall> {
  readonly sentAt = performance.now();
  readonly key: string;
  sent: Promise<unknown> | undefined = undefined;
  readonly fail: (error: Error) => void;
  isLate = false;
  older: WaitingCall | undefined = undefined;
  newer: WaitingCall | undefined = undefined;

  constructor(key: string, fail: (error: Error) => void) {
    this.key = key;
    this.fail = fail;
  }
}

/** One part's view of the store. */
export class SharedPart {
  readonly name: string;
  readonly #part: SharingPart;
  readonly #callsMax: number;
  readonly #around: Surroundings;
  #callsOnTheirWay = 0;
  readonly #waiting = new Chain<WaitingCall>();
  /** One for all that wait; it runs while some do. */
  #timer: NodeJS.Timeout | undefined;
  /** When a call was answered last. */
  #answeredAt = 0;
  #isResting = true;
  /** Since when the part goes on alone, where the log was told. */
  #aloneSinceMs: number | undefined;
  /** The slot to be tried is this key's. */
  #failedKey: string;

  constructor(part: SharingPart, around: Surroundings) {
    this.name = part.name;
    this.#part = part;
    this.#callsMax = part.callsMax ?? Number.POSITIVE_INFINITY;
    this.#failedKey = part.keyOfSlot ?? '';
    this.#around = around;
  }

  /** The part goes on alone: each gateway has its own. */
  get degraded(): boolean {
    return this.#isResting || this.#around.client.status !== 'ready';
  }

  /** So long a call is waited for at most. */
  get waitMaxMs(): number {
    return lineMax * this.#part.deadlineMs;
  }

  /** Whether a call would be sent. */
  get isUsable(): boolean {
    return !this.degraded && this.#callsOnTheirWay < this.#callsMax;
  }

  /**
   * Sends commands about a key, and others of its slot. Rejects at once unless
   * `isUsable`, and after the deadline.
   * @param onLate is told what is answered after the deadline
   */
  call<T>(key: string, send: Send<T>, onLate?: (value: T) => void): Promise<T> {
    if (!this.isUsable) return Promise.reject(new Error('redis is not asked at the moment'));
    return this.#send(key, send, onLate);
  }

  /** Whether it was answered. For the store's prober: it alone may ask while the part rests. */
  async probe(): Promise<boolean> {
    try {
      await this.#send(this.#failedKey, (redis) =>
        redis.set(sharedKeys.probeBeside(this.#failedKey), '', 'PX', probeTtlMs),
      );
    } catch {
      // The part knows, and goes on resting.
      return false;
    }
    this.#isResting = false;
    if (this.#aloneSinceMs !== undefined)
      this.#around.changes.again(this.name, performance.now() - this.#aloneSinceMs);
    this.#aloneSinceMs = undefined;
    return true;
  }

  /** @param key what could not be reached, where it is not the whole of Redis */
  rest(error: unknown, key?: string): void {
    this.#isResting = true;
    if (key !== undefined) this.#failedKey = key;
    if (this.#aloneSinceMs === undefined) {
      this.#aloneSinceMs = performance.now();
      this.#around.changes.alone(this.name, reasonOf(error));
    }
    this.#around.onRest();
  }

  #send<T>(key: string, send: Send<T>, onLate?: (value: T) => void): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#callsOnTheirWay++;
      const call = new WaitingCall(key, reject);
      this.#waiting.add(call);
      if (this.#timer === undefined) this.#lookIn(this.#part.deadlineMs);
      const ask = (isWhole: boolean) => {
        const sent = send(this.#around.client, isWhole);
        call.sent = sent;
        sent.then(
          (value) => {
            this.#settle(call);
            if (call.isLate) onLate?.(value);
            else resolve(value);
          },
          (error: unknown) => {
            if (!isWhole && isUnknownScript(error)) {
              ask(true);
              return;
            }
            this.#settle(call);
            this.rest(error, key);
            reject(error);
          },
        );
      };
      ask(false);
    });
  }

  #settle(call: WaitingCall): void {
    this.#waiting.delete(call);
    this.#answeredAt = performance.now();
    this.#callsOnTheirWay--;
  }

  #lookIn(ms: number): void {
    this.#timer = setTimeout(() => {
      // After a pause of our own the answer may be here, and only not be read yet.
      setImmediate(() => this.#look());
    }, ms);
    this.#timer.unref();
  }

  /** Redis is late when it says nothing at all for so long: many calls at once only stand in line. */
  #look(): void {
    this.#timer = undefined;
    const { deadlineMs } = this.#part;
    const now = performance.now();
    // None waits longer than the oldest.
    for (const call of this.#waiting) {
      const quietMs = now - Math.max(call.sentAt, this.#answeredAt);
      if (quietMs < deadlineMs && now - call.sentAt < lineMax * deadlineMs) {
        this.#lookIn(deadlineMs - quietMs);
        return;
      }
      this.#waiting.delete(call);
      call.isLate = true;
      const error = new Error('redis did not answer in time');
      this.rest(error, call.key);
      if (call.sent !== undefined) this.#around.onLate(call.sent);
      call.fail(error);
    }
  }
}
