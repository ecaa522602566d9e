import { hash } from 'node:crypto';
import { Prisma } from '../generated/prisma/client.ts';
import type { Database } from '../kernel/database/client.ts';
import { type ChangeFeed, gatewaysChannel } from './change-feed.ts';
import { Throttle } from './throttle.ts';

export interface LiveGatewaysParts {
  feed: ChangeFeed;
  db: Database;
  now?: () => number;
  /** At most between two times at which who is there is told to all; less while they are few. */
  tellEveryMs?: number;
}

/** Which of how many gateways one is. */
export interface GatewayRank {
  readonly index: number;
  readonly count: number;
}

/** A replica that says nothing for so long has no gateways any more. */
const silentMs = 15_000;
/** What is heard again and again is said no more often. */
const saidEveryMs = 4_000;
/** Of the time between two tellings, for each gateway that is told: one that is told late takes a share that is too large. */
const tellEveryMsEach = 5;

/**
 * The gateways that follow any replica: among them is shared out what gateways
 * cannot count together. Each replica tells the others which are its own, when
 * that changes and with its heartbeats. After a restart hundreds come within
 * seconds, and each is a change for all the others: these are told of some at a time,
 * at once while they are few.
 */
export class LiveGateways {
  readonly #feed: ChangeFeed;
  readonly #db: Database;
  readonly #now: () => number;
  /** By the stream that they follow on: one that comes back may be here twice for a moment. */
  readonly #own = new Map<symbol, string>();
  readonly #others = new Map<number, { gateways: readonly string[]; heardAtMs: number }>();
  readonly #listeners = new Set<() => void>();
  readonly #telling: Throttle;
  readonly #saying: Throttle;
  /** Of all, by their names; undefined = some have come or gone. */
  #ranks: ReadonlyMap<string, number> | undefined;
  #toldNames = '';
  #saidAtMs = 0;

  constructor({ feed, db, now = Date.now, tellEveryMs = 500 }: LiveGatewaysParts) {
    this.#feed = feed;
    this.#db = db;
    this.#now = now;
    const everyMs = () => Math.min(tellEveryMs, this.#own.size * tellEveryMsEach);
    this.#telling = new Throttle(everyMs, () => this.#tell());
    this.#saying = new Throttle(everyMs, () => void this.#say());
    feed.subscribe((event) => {
      if (event.type !== 'gateways' || event.report.replica === feed.replica) return;
      const { replica, gateways } = event.report;
      this.#others.set(replica, { gateways, heardAtMs: this.#now() });
      this.#ranks = undefined;
      this.#telling.ask();
    });
  }

  /**
   * @param onChange told when it may be another of another number
   * @returns ends it
   */
  join(replicaId: string, onChange: () => void): () => void {
    const stream = Symbol();
    this.#own.set(stream, shortName(replicaId));
    this.#changed();
    this.#listeners.add(onChange);
    return () => {
      this.#listeners.delete(onChange);
      this.#own.delete(stream);
      this.#changed();
    };
  }

  rankOf(replicaId: string): GatewayRank {
    const all = this.#all();
    return { index: all.get(shortName(replicaId)) ?? 0, count: all.size };
  }

  /** Says again which are its own, for replicas that have not heard it. */
  beat(): void {
    if (this.#now() - this.#saidAtMs >= saidEveryMs) void this.#say();
  }

  #changed(): void {
    this.#ranks = undefined;
    this.#telling.ask();
    this.#saying.ask();
  }

  #tell(): void {
    const names = [...this.#all().keys()].join();
    if (names === this.#toldNames) return;
    this.#toldNames = names;
    for (const listener of this.#listeners) listener();
  }

  #all(): ReadonlyMap<string, number> {
    const nowMs = this.#now();
    for (const [replica, { heardAtMs }] of this.#others)
      if (nowMs - heardAtMs > silentMs) {
        this.#others.delete(replica);
        this.#ranks = undefined;
      }
    if (this.#ranks !== undefined) return this.#ranks;
    const all = new Set(this.#own.values());
    for (const { gateways } of this.#others.values())
      for (const gateway of gateways) all.add(gateway);
    this.#ranks = new Map([...all].sort().map((name, index) => [name, index]));
    return this.#ranks;
  }

  /** One that is lost is said again. */
  async #say(): Promise<void> {
    this.#saidAtMs = this.#now();
    const gateways = [...new Set(this.#own.values())].join();
    const report = { replica: this.#feed.replica, gateways };
    await this.#db
      .$executeRaw(Prisma.sql`SELECT pg_notify(${gatewaysChannel}, ${JSON.stringify(report)})`)
      .catch(() => {});
  }
}

/** More than a thousand of them fit into one notice, of 8,000 bytes. */
function shortName(replicaId: string): string {
  return hash('sha256', replicaId, 'base64url').slice(0, 6);
}
