import { setTimeout as delay } from 'node:timers/promises';
import { analytics } from '@sluice/proto-stubs';
import { createRpcClient } from '@sluice/rpc';

export interface TrafficOptions {
  readonly gatewayPorts: readonly number[];
  /** Used in turn. */
  readonly keys: readonly string[];
  readonly provider: string;
  readonly everyMs: number;
}

/** Requests by the clock, each with a name of its own, to a gateway that is up; a fifth are streams. */
export class Traffic {
  /** Places in `gatewayPorts`. */
  readonly up: Set<number>;
  readonly names = new Set<string>();
  /** The same, by where they were sent. */
  readonly namesOf: readonly Set<string>[];
  readonly faults: string[] = [];
  readonly #options: TrafficOptions;
  #streams = 0;
  #isStopped = false;

  constructor(options: TrafficOptions) {
    this.#options = options;
    this.up = new Set(options.gatewayPorts.keys());
    this.namesOf = options.gatewayPorts.map(() => new Set());
  }

  counts(): string {
    return `${this.names.size} requests, ${this.#streams} of them streams, ${this.faults.length} failed`;
  }

  stop(): void {
    this.#isStopped = true;
  }

  /** Resolves when it was stopped and what was under way is over. */
  async run(): Promise<void> {
    const underWay = new Set<Promise<void>>();
    for (let next = performance.now(); !this.#isStopped; next += this.#options.everyMs) {
      const wait = next - performance.now();
      if (wait > 0) await delay(wait);
      const sent = this.#send(this.names.size).finally(() => underWay.delete(sent));
      underWay.add(sent);
    }
    await Promise.all(underWay);
  }

  async #send(number: number): Promise<void> {
    const { gatewayPorts, keys, provider } = this.#options;
    const name = `rehearsal-${number}`;
    const stream = number % 5 === 0;
    this.names.add(name);
    if (stream) this.#streams += 1;
    const up = [...this.up];
    const place = up[number % up.length] ?? 0;
    const port = gatewayPorts[place] ?? 0;
    this.namesOf[place]?.add(name);
    const headers = { 'x-service-provider': provider, 'x-service-trace-id': name };
    try {
      const answer = await ask(port, keys[number % keys.length] ?? '', headers, stream);
      const text = await answer.text();
      if (answer.status === 200 && (!stream || text.trimEnd().endsWith('[DONE]'))) return;
      this.faults.push(`${name} at port ${port}: ${answer.status} ${text.slice(-200)}`);
    } catch (error) {
      this.faults.push(`${name} at port ${port}: ${(error as Error).message}`);
    }
  }
}

/** One chat completion of the demo upstream. */
export function ask(
  port: number,
  key: string,
  headers: Record<string, string>,
  stream = false,
): Promise<Response> {
  return fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-service-api-key': key, ...headers },
    body: JSON.stringify({
      model: 'gpt-4o-mini',
      stream,
      messages: [{ role: 'user', content: 'Hello' }],
    }),
  });
}

export interface LedgerPlace {
  readonly port: number;
  readonly token: string;
  readonly organisationId: string;
  /** Unix ms. */
  readonly fromMs: number;
}

export interface LedgerOptions extends LedgerPlace {
  /** How often it is looked, a second apart, while something is missing. */
  readonly tries: number;
}

/** How many requests analytics count since then, and how many the lists of logs have. */
export async function countRequests({
  port,
  token,
  organisationId,
  fromMs,
}: LedgerPlace): Promise<{ counted: number; listed: number }> {
  const address = `127.0.0.1:${port}`;
  const asked = createRpcClient(analytics.AnalyticsService, { address, token });
  const logs = createRpcClient(analytics.LogService, { address, token });
  const filter = { organisationId, fromMs: BigInt(fromMs), toMs: BigInt(Date.now() + 60_000) };
  const within = { timeoutMs: 30_000 };
  try {
    const graph = analytics.Graph.REQUESTS;
    const { summary } = await asked.unary(
      analytics.AnalyticsService.method.getGraph,
      { graph, filter },
      within,
    );
    let [listed, cursor] = [0, ''];
    do {
      const request = { filter, pageSize: 1000, cursor };
      const page = await logs.unary(analytics.LogService.method.listLogs, request, within);
      listed += page.entries.length;
      cursor = page.nextCursor;
    } while (cursor !== '');
    return { counted: summary.total ?? Number.NaN, listed };
  } finally {
    asked.close();
    logs.close();
  }
}

/** How many of these requests the ledger lacks, and how many it has twice. */
export async function compareWithLedger(
  names: ReadonlySet<string>,
  { port, token, organisationId, fromMs, tries }: LedgerOptions,
): Promise<{ missing: number; doubled: number }> {
  const client = createRpcClient(analytics.LogService, { address: `127.0.0.1:${port}`, token });
  const filter = { organisationId, fromMs: BigInt(fromMs), toMs: BigInt(Date.now() + 60_000) };
  try {
    for (let look = 1; ; look += 1) {
      const attempts = new Map<string, number>();
      let cursor = '';
      do {
        const request = { filter, pageSize: 1000, cursor };
        const page = await client.unary(analytics.LogService.method.listLogs, request, {
          timeoutMs: 30_000,
        });
        for (const { record, attempts: count } of page.entries)
          if (record !== undefined)
            attempts.set(record.traceId, (attempts.get(record.traceId) ?? 0) + count);
        cursor = page.nextCursor;
      } while (cursor !== '');
      const missing = [...names].filter((name) => !attempts.has(name)).length;
      const doubled = [...attempts.values()].filter((count) => count > 1).length;
      if (missing === 0 || look >= tries) return { missing, doubled };
      await delay(1000);
    }
  } finally {
    client.close();
  }
}
