import { setTimeout as delay } from 'node:timers/promises';
import { fromUnknown, GatewayError } from '@sluice/errors';
import { config } from '@sluice/proto-stubs';
import type { CompiledBundle } from '../compiled/compiled-bundle.ts';
import type { ResolvedKey } from '../compiled/resolved-key.ts';
import type { ModelExchange } from '../exchange/exchange.ts';
import type { ConfigStore } from '../held/config-store.ts';
import type { EndReason, LiveSession } from './live-session.ts';

export interface SessionBounds {
  /** Open at once, in this gateway. */
  readonly sessionsMax: number;
  readonly perWorkspaceMax: number;
  readonly perKeyMax: number;
  readonly pingMs: number;
  /** Without a message of either side. */
  readonly idleMs: number;
  readonly lifeMs: number;
}

/** How often deadlines are looked at. */
const tickMs = 500;
/** What providers have to hang up before the drain is over. */
const hangingUpMs = 1000;
const drainLookMs = 50;
/** What the records of the last events have. */
const recordingMs = 1000;
/** How often in a row whoever vouches for a token may be away. */
const unansweredMax = 3;
/** What callers have for their close at the drain's deadline. */
const closingMs = 100;

/** Who vouches for the token of a session, asked anew; undefined = nobody does. @throws GatewayError 401, 403, 503 */
export type VouchAgain = (exchange: ModelExchange) => Promise<ResolvedKey | undefined>;

/** All sessions that are open: how many there may be, and how long each. */
export class Sessions {
  readonly #bounds: SessionBounds;
  readonly #store: Pick<ConfigStore, 'bundle' | 'heldNow'>;
  readonly #vouchAgain: VouchAgain;
  /** About whose tokens somebody is being asked, and how often nobody answered since. */
  readonly #vouching = new WeakSet<LiveSession>();
  readonly #unanswered = new WeakMap<LiveSession, number>();
  readonly #sessions = new Set<LiveSession>();
  readonly #byHolder = new Map<string, number>();
  #places = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    bounds: SessionBounds,
    store: Pick<ConfigStore, 'bundle' | 'heldNow'>,
    vouchAgain: VouchAgain,
  ) {
    this.#bounds = bounds;
    this.#store = store;
    this.#vouchAgain = vouchAgain;
  }

  get size(): number {
    return this.#sessions.size;
  }

  start(): void {
    this.#timer = setInterval(() => this.#look(), Math.min(tickMs, this.#bounds.pingMs));
    this.#timer.unref();
  }

  /** Waits for calls, which others may take over, and hangs up those that are left when the time is nearly over. */
  async drainCalls(deadlineMs: number): Promise<void> {
    const until = performance.now() + deadlineMs;
    const hangUpAt = until - Math.min(hangingUpMs, deadlineMs / 2);
    let isHangingUp = false;
    for (;;) {
      const calls = [...this.#sessions].filter(({ isCall }) => isCall);
      const now = performance.now();
      if (calls.length === 0 || now >= until) return;
      if (!isHangingUp && now >= hangUpAt) {
        isHangingUp = true;
        for (const call of calls) call.end('draining');
      }
      await delay(drainLookMs);
    }
  }

  /** Cuts what is left, and resolves when all of it is recorded. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    for (const session of this.#sessions) session.cut();
    const deadline = performance.now() + recordingMs;
    while (this.#sessions.size > 0 && performance.now() < deadline) await delay(10);
  }

  /**
   * A place for a session of this key, from before it is opened.
   * @returns what gives it back, once
   * @throws GatewayError `limit.sessions`, `overloaded`
   */
  enter({ key }: ModelExchange): () => void {
    const { sessionsMax, perWorkspaceMax, perKeyMax } = this.#bounds;
    if (this.#places >= sessionsMax) throw new GatewayError('overloaded');
    const holders = [
      ['workspace', key?.source.workspaceId ?? '', perWorkspaceMax],
      ['key', key?.source.id ?? '', perKeyMax],
    ] as const;
    for (const [what, id, most] of holders)
      if ((this.#byHolder.get(`${what} ${id}`) ?? 0) >= most)
        throw new GatewayError('limit.sessions', {
          message: `This ${what} has ${most} sessions open in this gateway, which is as many as it may have.`,
        });
    this.#places++;
    for (const [what, id] of holders) this.#add(`${what} ${id}`, 1);
    let isGone = false;
    return () => {
      if (isGone) return;
      isGone = true;
      this.#places--;
      for (const [what, id] of holders) this.#add(`${what} ${id}`, -1);
    };
  }

  add(session: LiveSession): void {
    this.#sessions.add(session);
  }

  delete(session: LiveSession): void {
    this.#sessions.delete(session);
  }

  /** The drain's deadline: who does not close is cut. */
  endDraining(session: LiveSession): void {
    session.end('draining');
    setTimeout(() => session.cut(), closingMs).unref();
  }

  #add(holder: string, more: number): void {
    const count = (this.#byHolder.get(holder) ?? 0) + more;
    if (count === 0) this.#byHolder.delete(holder);
    else this.#byHolder.set(holder, count);
  }

  #look(): void {
    const now = performance.now();
    for (const session of this.#sessions) this.#lookAt(session, now);
  }

  #lookAt(session: LiveSession, now: number): void {
    const { pingMs, idleMs, lifeMs } = this.#bounds;
    if (session.messages !== session.seenMessages) {
      session.seenMessages = session.messages;
      session.seenAt = now;
    }
    let reason: EndReason | undefined;
    if (now - session.openedAt >= lifeMs) reason = 'expired';
    else if (now - session.seenAt >= idleMs) reason = 'idle';
    if (reason !== undefined) session.end(reason);
    if (now - session.lookedAt < pingMs) return;
    session.lookedAt = now;
    session.look();
    const refused = this.#refusalOf(session);
    if (refused !== undefined) session.refuse(refused);
  }

  /** Why it may go on no more; undefined = it may, and what holds for its key from now on is taken over. */
  #refusalOf(session: LiveSession): GatewayError | undefined {
    const { exchange } = session;
    const { key } = exchange;
    if (key === undefined) return new GatewayError('auth.invalid_key');
    const isOver = key.expiresAtMs !== 0 && key.expiresAtMs <= Date.now();
    if ('validUntilMs' in key) {
      // Whoever is asked about tokens says for how long that holds, which may be less than the token lasts.
      if (isOver) void this.#vouch(session);
    } else {
      const held = this.#store.heldNow(key);
      if (held === undefined || isOver) return new GatewayError('auth.invalid_key');
      if (held.source.status === config.KeyStatus.SUSPENDED)
        return new GatewayError('auth.suspended_key');
      exchange.key = held;
    }
    const bundle = this.#store.bundle(key.source.workspaceId);
    // It is being fetched, and what was in force still is.
    if (bundle instanceof Promise) bundle.catch(() => undefined);
    else exchange.bundle = bundle satisfies CompiledBundle;
    return undefined;
  }

  async #vouch(session: LiveSession): Promise<void> {
    if (this.#vouching.has(session)) return;
    this.#vouching.add(session);
    try {
      const key = await this.#vouchAgain(session.exchange);
      if (key === undefined) throw new GatewayError('auth.invalid_key');
      session.exchange.key = key;
      this.#unanswered.delete(session);
    } catch (caught) {
      const error = fromUnknown(caught);
      const times = (this.#unanswered.get(session) ?? 0) + 1;
      this.#unanswered.set(session, times);
      if (error.status !== 503 || times >= unansweredMax) session.refuse(error);
    } finally {
      this.#vouching.delete(session);
    }
  }
}
