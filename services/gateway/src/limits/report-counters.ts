import { overflowGroup } from '@sluice/engine';
import type { ChangedCounter } from './limit-store.ts';

/** A counter as the control plane is told of it. */
export interface CounterReport {
  readonly organisationId: string;
  readonly workspaceId: string;
  readonly limitId: string;
  readonly group: string;
  readonly epoch: string;
  readonly posted: bigint;
  readonly reserved: bigint;
  readonly overshootBound: bigint;
  readonly countedAtUs: bigint;
}

export interface CounterReporterParts {
  /** Budgets that changed since this was asked last, at most so many. */
  changedCounters(max: number): readonly ChangedCounter[];
  /** Rejects when the control plane has not taken them, after its deadline. */
  send(counters: readonly CounterReport[]): Promise<void>;
  /** Told when the control plane ceases to take them. */
  onError(error: unknown): void;
  intervalMs?: number;
}

const countersInOneCall = 1_000;
/** More than this are not kept for a control plane that is away: what changes again is told then. */
const unsentMax = 50_000;

/**
 * Tells the control plane how far budgets are: now and then, what changed and
 * nothing else, off the way of requests. A count is told as it stands, so what
 * could not be told is told once, however often it changed since; while one
 * call is under way, or fails, the others wait.
 */
export class CounterReporter {
  readonly #parts: CounterReporterParts;
  readonly #unsent = new Map<string, CounterReport>();
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | undefined;
  #isFailing = false;

  constructor(parts: CounterReporterParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#timer = setInterval(() => {
      this.#sending ??= this.#sendAll().finally(() => {
        this.#sending = undefined;
      });
    }, this.#parts.intervalMs ?? 1_000).unref();
  }

  /** Tells what there still is to tell, once. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#sending;
    await this.#sendAll();
  }

  async #sendAll(): Promise<void> {
    let hasMore = true;
    do {
      // What changes after the last was asked for is told the next time: a budget in use changes with each request.
      if (hasMore) hasMore = this.#collect();
      const batch = [...this.#unsent].slice(0, countersInOneCall);
      if (batch.length === 0) return;
      try {
        await this.#parts.send(batch.map(([, report]) => report));
      } catch (error) {
        if (!this.#isFailing) this.#parts.onError(error);
        this.#isFailing = true;
        return;
      }
      this.#isFailing = false;
      for (const [name] of batch) this.#unsent.delete(name);
    } while (hasMore || this.#unsent.size > 0);
  }

  /** As many as one call takes; false = there are no more. */
  #collect(): boolean {
    const room = Math.min(countersInOneCall, unsentMax - this.#unsent.size);
    const changed = room > 0 ? this.#parts.changedCounters(room) : [];
    for (const { scope, state } of changed) {
      // Limits of tokens stand in the tokens, and nowhere else.
      if (state.counter.limit.holder.kind === 'token') continue;
      this.#unsent.set(`${scope}|${state.name}`, reportOf(scope, state));
    }
    return changed.length === room;
  }
}

function reportOf(scope: string, state: ChangedCounter['state']): CounterReport {
  const { counter, epoch, isOverflow } = state;
  return {
    organisationId: scope,
    workspaceId: counter.limit.holder.workspaceId,
    limitId: counter.limit.id,
    group: isOverflow ? overflowGroup : counter.group,
    epoch: epoch.name,
    posted: whole(state.posted),
    reserved: whole(state.pending),
    overshootBound: whole(state.overshoot),
    countedAtUs: whole(state.countedAtUs),
  };
}

function whole(amount: number): bigint {
  return BigInt(Math.max(0, Math.round(amount)));
}
