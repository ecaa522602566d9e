import { setTimeout as delay } from 'node:timers/promises';

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

/** How often readiness is read: well below any `SHUTDOWN_DELAY`. */
const lookEveryMs = 50;

/**
 * A load balancer of a test: reads the readiness of each gateway, and sends
 * requests in turn to those that say yes. `stop` ends the sending and waits for
 * all answers.
 */
export function startRoundRobin({ origins, perSecond, send }: RoundRobinOptions) {
  const stopping = new AbortController();
  const { signal } = stopping;
  const isReady = origins.map(() => false);
  const sent: Promise<Sent>[] = [];

  const look = async (at: number) => {
    while (!signal.aborted) {
      isReady[at] = await fetch(`${origins[at]}/health/ready`, {
        signal: AbortSignal.timeout(1_000),
      })
        .then(async (answer) => {
          await answer.arrayBuffer();
          return answer.status === 200;
        })
        .catch(() => false);
      await delay(lookEveryMs, undefined, { signal }).catch(() => {});
    }
  };
  const looking = origins.map((_, at) => look(at));

  let turn = 0;
  const next = () => {
    for (const _ of origins) {
      turn = (turn + 1) % origins.length;
      if (isReady[turn]) return turn;
    }
    return undefined;
  };
  const sendOne = async (n: number): Promise<Sent> => {
    const at = performance.now();
    const gateway = next();
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
    allReady: () => isReady.every(Boolean),
    isReady: (gateway: number) => isReady[gateway] === true,
    begin() {
      running = run();
    },
    async stop(): Promise<readonly Sent[]> {
      stopping.abort();
      await Promise.all([running, ...looking]);
      return Promise.all(sent);
    },
  };
}
