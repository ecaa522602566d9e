import { setTimeout as delay } from 'node:timers/promises';
import { waitMs } from '@sluice/testkit';

/** What came of one request that went through the round robin. */
export interface Sent {
  readonly at: number;
  readonly gateway: number;
  /** Undefined = it got its whole answer. */
  readonly fault: string | undefined;
}

export interface RoundRobinOptions {
  origins: readonly string[];
  /** Of requests a second, by the clock, however long answers take. */
  perSecond: number;
  /** Sends the nth request to a gateway; what is wrong with its answer, or undefined. */
  send: (gateway: number, n: number) => Promise<string | undefined>;
}

/** How often readiness is read, and how old what was read may be for a request to be sent: well below any `SHUTDOWN_DELAY`. */
const lookEveryMs = 50;
const freshMs = 1_000;
/** After so long in which all said no a request has failed. */
const refusedMs = 5_000;

/**
 * A load balancer of a test: reads the readiness of each gateway, and sends
 * requests in turn to those that say yes. `stop` ends the sending and waits for
 * all answers.
 */
export function startRoundRobin({ origins, perSecond, send }: RoundRobinOptions) {
  const stopping = new AbortController();
  const { signal } = stopping;
  let isOver = false;
  /** When the last question that was answered with yes was asked. */
  const readyAt = origins.map(() => Number.NEGATIVE_INFINITY);
  /** What each said last, and not what is unheard since. */
  const saidNo = origins.map(() => false);
  const isReady = (at: number) => performance.now() - (readyAt[at] ?? 0) < freshMs;
  const sent: Promise<Sent>[] = [];

  const look = async (at: number) => {
    while (!isOver) {
      const askedAt = performance.now();
      const saidYes = await fetch(`${origins[at]}/health/ready`, {
        signal: AbortSignal.timeout(waitMs),
      })
        .then(async (answer) => {
          await answer.arrayBuffer();
          return answer.status === 200;
        })
        .catch(() => false);
      readyAt[at] = saidYes ? askedAt : Number.NEGATIVE_INFINITY;
      saidNo[at] = !saidYes;
      await delay(lookEveryMs);
    }
  };
  const looking = origins.map((_, at) => look(at));

  let turn = 0;
  const next = () => {
    for (const _ of origins) {
      turn = (turn + 1) % origins.length;
      if (isReady(turn)) return turn;
    }
    return undefined;
  };
  const sendOne = async (n: number): Promise<Sent> => {
    const at = performance.now();
    let gateway = next();
    // On a busy machine nothing may have been read for a while: as a balancer would, it waits for that.
    const patienceMs = () => (saidNo.every(Boolean) ? refusedMs : waitMs);
    for (; gateway === undefined && performance.now() - at < patienceMs(); gateway = next())
      await delay(lookEveryMs);
    if (gateway === undefined) return { at, gateway: -1, fault: 'no gateway is ready' };
    const fault = await send(gateway, n).catch((error: Error) =>
      String((error.cause as Error | undefined)?.message ?? error.message),
    );
    return { at, gateway, fault };
  };
  const run = async () => {
    const startedAt = performance.now();
    while (!signal.aborted) {
      const due = ((performance.now() - startedAt) * perSecond) / 1000;
      while (sent.length < due) sent.push(sendOne(sent.length));
      await delay(2, undefined, { signal }).catch(() => {});
    }
  };

  let running: Promise<void> | undefined;
  return {
    /** All of them say yes. */
    allReady: () => origins.every((_, at) => isReady(at)),
    isReady,
    begin() {
      running = run();
    },
    async stop(): Promise<readonly Sent[]> {
      stopping.abort();
      await running;
      // What waits for a gateway is told of one for as long.
      const all = await Promise.all(sent);
      isOver = true;
      await Promise.all(looking);
      return all;
    },
  };
}
