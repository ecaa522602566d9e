import { hash } from 'node:crypto';
import { Prisma } from '../generated/prisma/client.ts';
import type { Database } from '../kernel/database/client.ts';
import { type ChangeFeed, gatewaysChannel } from './change-feed.ts';

export interface LiveGatewaysParts {
  feed: ChangeFeed;
  db: Database;
  now?: () => number;
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

/**
 * The gateways that follow any replica: among them is shared out what gateways
 * cannot count together. Each replica tells the others which are its own, when
 * that changes and with its heartbeats.
 */
export class LiveGateways {
  readonly #feed: ChangeFeed;
  readonly #db: Database;
  readonly #now: () => number;
  /** By the stream that they follow on: one that comes back may be here twice for a moment. */
  readonly #own = new Map<symbol, string>();
  readonly #others = new Map<number, { gateways: readonly string[]; heardAtMs: number }>();
  readonly #listeners = new Set<() => void>();
  #saidAtMs = 0;

  constructor({ feed, db, now = Date.now }: LiveGatewaysParts) {
    this.#feed = feed;
    this.#db = db;
    this.#now = now;
    feed.subscribe((event) => {
      if (event.type !== 'gateways' || event.report.replica === feed.replica) return;
      this.#changing(() => {
        const { replica, gateways } = event.report;
        this.#others.set(replica, { gateways, heardAtMs: this.#now() });
      });
    });
  }

  /** @returns ends it */
  join(replicaId: string, onChange: () => void): () => void {
    const stream = Symbol();
    this.#changing(() => this.#own.set(stream, shortName(replicaId)));
    this.#listeners.add(onChange);
    void this.#say();
    return () => {
      this.#listeners.delete(onChange);
      this.#changing(() => this.#own.delete(stream));
      void this.#say();
    };
  }

  rankOf(replicaId: string): GatewayRank {
    const all = this.#all();
    return { index: Math.max(0, all.indexOf(shortName(replicaId))), count: all.length };
  }

  /** Says again which are its own, for replicas that have not heard it. */
  beat(): void {
    if (this.#now() - this.#saidAtMs >= saidEveryMs) void this.#say();
  }

  #all(): string[] {
    const nowMs = this.#now();
    const all = new Set(this.#own.values());
    for (const [replica, { gateways, heardAtMs }] of this.#others)
      if (nowMs - heardAtMs > silentMs) this.#others.delete(replica);
      else for (const gateway of gateways) all.add(gateway);
    return [...all].sort();
  }

  #changing(change: () => void): void {
    const before = this.#all().join();
    change();
    if (this.#all().join() !== before) for (const listener of this.#listeners) listener();
  }

  /** One that is lost is said again. */
  async #say(): Promise<void> {
    this.#saidAtMs = this.#now();
    const report = { replica: this.#feed.replica, gateways: [...new Set(this.#own.values())] };
    await this.#db
      .$executeRaw(Prisma.sql`SELECT pg_notify(${gatewaysChannel}, ${JSON.stringify(report)})`)
      .catch(() => {});
  }
}

/** Hundreds of them fit into one notice. */
function shortName(replicaId: string): string {
  return hash('sha256', replicaId, 'hex').slice(0, 12);
}
