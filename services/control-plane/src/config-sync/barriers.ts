import type { Logger } from '@sluice/telemetry';
import { Prisma } from '../generated/prisma/client.ts';
import type { Database } from '../kernel/database/client.ts';
import { type ChangeFeed, type PassedReport, passedChannel, replicaLocks } from './change-feed.ts';

export interface BarriersParts {
  feed: ChangeFeed;
  db: Database;
  logger: Logger;
  /** How long a change waits for gateways that have kept up so far. */
  patienceMs?: number;
  /** How long for those that have not: that catch up after a gap, or say nothing. */
  graceMs?: number;
}

/** A gateway that says which barriers it has passed. */
export interface Passing {
  isCalled(replicaId: string): void;
  /** It was told something: it passes the next barrier when that is in force. Others have nothing to pass. */
  told(): void;
  /**
   * Until it has said what it holds, and that is compared, it may hold anything, and be told of nothing.
   * From then until it has fetched what is different it is not waited for as the others are.
   */
  comparing(): void;
  /** What is different was told: who passes the barrier that it is sent now has fetched it. */
  compared(): void;
  passed(number: bigint): void;
  /** It is waited for no more. */
  leave(): void;
}

interface Following {
  /** For the log. */
  replicaId: string;
  isTold: boolean;
  isComparing: boolean;
  /** It has not passed a barrier in time, or is coming back after a gap: it is hardly waited for. */
  isBehind: boolean;
  send(number: bigint): void;
  /** Of the barrier that it was sent last. */
  lastNumber: bigint;
  /** Barriers it was sent and has not passed, for which somebody waits. */
  readonly waiting: Map<bigint, () => void>;
}

/** What one replica says of a barrier. */
type Report = PromiseWithResolvers<boolean>;

/** What is told to another replica takes a moment. */
const onTheWayMs = 250;

/**
 * Says when every gateway that was told of a change has it in force, whichever
 * replica it follows. A change tells a barrier after its notices; each replica
 * hands it to those of its gateways that the notices were for, and reports when
 * the last of them has passed. Who is gone is not waited for, and nobody for
 * longer than the patience. Who was too late once is hardly waited for until it
 * is there again: one that hangs costs one change, and not all of them.
 */
export class Barriers {
  readonly #feed: ChangeFeed;
  readonly #db: Database;
  readonly #logger: Logger;
  readonly #patienceMs: number;
  readonly #graceMs: number;
  readonly #followers = new Set<Following>();
  readonly #reports = new Map<string, Map<number, Report>>();
  /** Replicas that did not report in time, and have said nothing since. */
  readonly #silent = new Set<number>();
  readonly #unsubscribe: () => void;
  #lastNumber = 0n;

  constructor({ feed, db, logger, patienceMs = 5_000, graceMs = 100 }: BarriersParts) {
    this.#feed = feed;
    this.#db = db;
    this.#logger = logger;
    this.#patienceMs = patienceMs;
    this.#graceMs = graceMs;
    this.#unsubscribe = feed.subscribe((event) => {
      if (event.type === 'barrier') void this.#pass(event.id);
      else if (event.type === 'passed') this.#hear(event.report);
    });
  }

  /** @param send called for each barrier, after the notices before it */
  follow(send: (number: bigint) => void): Passing {
    const following: Following = {
      replicaId: '',
      isTold: false,
      isComparing: false,
      isBehind: false,
      send,
      lastNumber: 0n,
      waiting: new Map(),
    };
    this.#followers.add(following);
    return {
      isCalled: (replicaId) => {
        following.replicaId = replicaId;
      },
      told: () => {
        following.isTold = true;
      },
      comparing: () => {
        following.isComparing = true;
        following.isBehind = true;
      },
      compared: () => {
        following.isComparing = false;
        this.#send(following);
      },
      passed: (number) => {
        if (number === following.lastNumber && !following.isComparing) following.isBehind = false;
        following.waiting.get(number)?.();
      },
      leave: () => {
        this.#followers.delete(following);
        for (const pass of following.waiting.values()) pass();
      },
    };
  }

  /** Whether all gateways have what was told before the barrier; false when not all have said so in time. */
  async whenPassed(barrier: string): Promise<boolean> {
    // Who does not hear others cannot know.
    if (!this.#feed.isLive) return false;
    // The change is done: who cannot ask does not know, and refuses nothing.
    const replicas = await this.#liveReplicas().catch(() => undefined);
    if (replicas === undefined) return false;
    const all = await Promise.all(
      replicas.map(async (replica) => {
        const waitMs = this.#silent.has(replica) ? this.#graceMs : this.#patienceMs;
        const said = await within(waitMs + onTheWayMs, this.#reportOf(barrier, replica).promise);
        if (said === undefined && !this.#silent.has(replica)) {
          this.#silent.add(replica);
          this.#logger.warn(
            { replica },
            'another control plane says nothing of its gateways; changes hardly wait for it until it does',
          );
        }
        return said === true;
      }),
    );
    return !all.includes(false);
  }

  stop(): void {
    this.#unsubscribe();
  }

  async #pass(barrier: string): Promise<void> {
    const followers = [...this.#followers];
    // What one of them holds that was not told is not known: none of it is said to be in force.
    const comparing = followers.filter((each) => each.isComparing);
    const told = followers.filter((each) => each.isTold);
    const inTime = await Promise.all(told.map((each) => this.#passesInTime(each)));
    const late = told.filter((_, index) => inTime[index] === false);
    const byAll = comparing.length + late.length === 0;
    if (!byAll)
      this.#logger.debug(
        { comparing: namesOf(comparing), late: namesOf(late) },
        'a change was answered before all gateways had it',
      );
    await this.#report({ barrier, replica: this.#feed.replica, byAll });
  }

  async #passesInTime(follower: Following): Promise<boolean> {
    const waitMs = follower.isBehind ? this.#graceMs : this.#patienceMs;
    follower.isTold = false;
    const number = this.#send(follower);
    const { promise, resolve } = Promise.withResolvers<true>();
    follower.waiting.set(number, () => resolve(true));
    const inTime = await within(waitMs, promise);
    follower.waiting.delete(number);
    if (inTime === undefined && !follower.isBehind) {
      follower.isBehind = true;
      this.#logger.warn(
        { gateway: follower.replicaId },
        'a gateway has not fetched a change in time; changes hardly wait for it until it has',
      );
    }
    return inTime === true;
  }

  /** A barrier of its own for each: who passes the last one is there. */
  #send(follower: Following): bigint {
    this.#lastNumber += 1n;
    follower.lastNumber = this.#lastNumber;
    follower.send(this.#lastNumber);
    return this.#lastNumber;
  }

  /** One that is lost is waited for until the patience ends. */
  async #report(report: PassedReport): Promise<void> {
    const text = JSON.stringify(report);
    await this.#db
      .$executeRaw(Prisma.sql`SELECT pg_notify(${passedChannel}, ${text})`)
      .catch(() => {});
  }

  #hear({ barrier, replica, byAll }: PassedReport): void {
    this.#silent.delete(replica);
    this.#reportOf(barrier, replica).resolve(byAll);
  }

  /** Others may report before the change here has ended; what nobody asks for is forgotten. */
  #reportOf(barrier: string, replica: number): Report {
    let reports = this.#reports.get(barrier);
    if (reports === undefined) {
      reports = new Map();
      this.#reports.set(barrier, reports);
      setTimeout(() => this.#reports.delete(barrier), this.#patienceMs * 3).unref();
    }
    let report = reports.get(replica);
    if (report === undefined) {
      report = Promise.withResolvers<boolean>();
      reports.set(replica, report);
    }
    return report;
  }

  /** Their connections hold the locks, so one that died is in no list. */
  async #liveReplicas(): Promise<number[]> {
    const rows = await this.#db.$queryRaw<{ replica: number }[]>(
      Prisma.sql`SELECT DISTINCT objid::int AS replica FROM pg_locks
        WHERE locktype = 'advisory' AND classid = ${replicaLocks}::int AND granted
          AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    );
    return rows.map((row) => row.replica);
  }
}

function namesOf(followers: readonly Following[]): string[] {
  return followers.map(({ replicaId }) => replicaId);
}

/** Undefined when it takes longer. */
async function within<T>(ms: number, work: Promise<T>): Promise<T | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(resolve, ms, undefined);
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
