import { Prisma } from '../generated/prisma/client.ts';
import type { Database } from '../kernel/database/client.ts';
import { type ChangeFeed, type PassedReport, passedChannel, replicaLocks } from './change-feed.ts';

export interface BarriersParts {
  feed: ChangeFeed;
  db: Database;
  /** How long a change waits for gateways. */
  patienceMs?: number;
}

/** A gateway that says which barriers it has passed. */
export interface Passing {
  /** It was told something: it passes the next barrier when that is in force. Others have nothing to pass. */
  told(): void;
  /** Until it has said what it holds, and that is compared, it may hold anything, and be told of nothing. */
  comparing(): void;
  compared(): void;
  passed(number: bigint): void;
  /** It is waited for no more. */
  leave(): void;
}

interface Following {
  isTold: boolean;
  isComparing: boolean;
  send(number: bigint): void;
  /** Barriers it was sent and has not passed. */
  readonly waiting: Map<bigint, () => void>;
}

/** What replicas said of one barrier. */
interface Reports {
  readonly byReplica: Map<number, boolean>;
  /** Told of each further one. */
  onReport: () => void;
}

/**
 * Says when every gateway that was told of a change has it in force, whichever
 * replica it follows. A change tells a barrier after its notices; each replica
 * hands it to those of its gateways that the notices were for, and reports when
 * the last of them has passed. Who is gone is not waited for, and nobody for
 * longer than the patience.
 */
export class Barriers {
  readonly #feed: ChangeFeed;
  readonly #db: Database;
  readonly #patienceMs: number;
  readonly #followers = new Set<Following>();
  readonly #reports = new Map<string, Reports>();
  readonly #unsubscribe: () => void;
  #lastNumber = 0n;

  constructor({ feed, db, patienceMs = 1_000 }: BarriersParts) {
    this.#feed = feed;
    this.#db = db;
    this.#patienceMs = patienceMs;
    this.#unsubscribe = feed.subscribe((event) => {
      if (event.type === 'barrier') void this.#pass(event.id);
      else if (event.type === 'passed') this.#hear(event.report);
    });
  }

  /** @param send called for each barrier, after the notices before it */
  follow(send: (number: bigint) => void): Passing {
    const following: Following = {
      isTold: false,
      isComparing: false,
      send,
      waiting: new Map(),
    };
    this.#followers.add(following);
    return {
      told: () => {
        following.isTold = true;
      },
      comparing: () => {
        following.isComparing = true;
      },
      compared: () => {
        following.isComparing = false;
      },
      passed: (number) => following.waiting.get(number)?.(),
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
    const reports = this.#reportsOf(barrier);
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const timer = setTimeout(resolve, this.#patienceMs, false);
    const replicas = await this.#liveReplicas();
    reports.onReport = () => {
      const said = replicas.map((replica) => reports.byReplica.get(replica));
      if (said.includes(false)) resolve(false);
      else if (!said.includes(undefined)) resolve(true);
    };
    reports.onReport();
    return promise.finally(() => clearTimeout(timer));
  }

  stop(): void {
    this.#unsubscribe();
  }

  async #pass(barrier: string): Promise<void> {
    this.#lastNumber += 1n;
    const number = this.#lastNumber;
    const followers = [...this.#followers];
    // What one of them holds that was not told is not known: none of it is said to be in force.
    const isSure = !followers.some((each) => each.isComparing);
    const told = followers.filter((each) => each.isTold);
    const all = Promise.all(told.map((each) => passing(each, number)));
    const { promise: late, resolve } = Promise.withResolvers<false>();
    const timer = setTimeout(resolve, this.#patienceMs, false as const);
    const byAll = await Promise.race([all.then(() => isSure), late]);
    clearTimeout(timer);
    await this.#report({ barrier, replica: this.#feed.replica, byAll });
  }

  /** One that is lost is waited for until the patience ends. */
  async #report(report: PassedReport): Promise<void> {
    const text = JSON.stringify(report);
    await this.#db
      .$executeRaw(Prisma.sql`SELECT pg_notify(${passedChannel}, ${text})`)
      .catch(() => {});
  }

  #hear({ barrier, replica, byAll }: PassedReport): void {
    const reports = this.#reportsOf(barrier);
    reports.byReplica.set(replica, byAll);
    reports.onReport();
  }

  /** Others may report before the change here has ended; what nobody asks for is forgotten. */
  #reportsOf(barrier: string): Reports {
    const known = this.#reports.get(barrier);
    if (known !== undefined) return known;
    const reports = { byReplica: new Map<number, boolean>(), onReport: () => {} };
    this.#reports.set(barrier, reports);
    setTimeout(() => this.#reports.delete(barrier), this.#patienceMs * 3).unref();
    return reports;
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

/** Resolves when the follower has passed, or is gone. */
function passing(follower: Following, number: bigint): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  follower.isTold = false;
  follower.waiting.set(number, () => {
    follower.waiting.delete(number);
    resolve();
  });
  follower.send(number);
  return promise;
}
