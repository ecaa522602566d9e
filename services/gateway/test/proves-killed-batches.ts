import { join } from 'node:path';
import {
  eventually,
  json,
  prepareLedger,
  type RecordedRequest,
  slowHeaders,
  startService,
  temporaryFolder,
  type UpstreamReply,
} from '@sluice/testkit';
import type OpenAI from 'openai';
import { expect, it } from 'vitest';
import { batchUse, line, linesIn } from './batch-lines.ts';
import { chatReply, type Scenario } from './scenario.ts';
import { anthropicReply } from './vendor-replies.ts';

type Batch = Awaited<ReturnType<OpenAI['batches']['retrieve']>>;

interface Killed {
  readonly scenario: () => Scenario;
  readonly makeBatch: (
    lines: readonly string[],
    over: { options: object; endpoint: OpenAI.BatchCreateParams['endpoint'] },
  ) => Promise<Batch>;
  readonly ended: (id: string, status: Batch['status'], timeoutMs: number) => Promise<Batch>;
  /** The key that the upstreams are called with. */
  readonly canary: string;
  /** `npm run batches:prove`: 50,000 lines, with the usual settings. */
  readonly isFull: boolean;
}

export const linesAtOnce = 64;
/** A runner that dies is replaced within it. */
const replacedMs = 30_000;

const responseReply = json(200, {
  id: 'resp_1',
  object: 'response',
  created_at: 1_700_000_000,
  status: 'completed',
  model: 'gpt-4o-mini',
  output: [
    {
      type: 'message',
      id: 'msg_1',
      status: 'completed',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'Hi there', annotations: [] }],
    },
  ],
  usage: { input_tokens: 1000, output_tokens: 500, total_tokens: 1500 },
});

/** Where the lines go in turn, by their model: an upstream that has the endpoint, one of another format, and one that has chats alone. */
const upstreams = [
  {
    provider: 'openai',
    model: 'gpt-4o-mini',
    path: '/v1/responses',
    reply: responseReply,
    nanoUsd: 1000 * 150 + 500 * 600,
  },
  {
    provider: 'anthropic',
    model: 'claude-sonnet-4-5',
    path: '/v1/messages',
    reply: anthropicReply,
    nanoUsd: 1000 * 3000 + 500 * 15_000,
  },
  {
    provider: 'mistral-ai',
    model: 'mistral-small-latest',
    path: '/v1/chat/completions',
    reply: json(200, { ...chatReply, model: 'mistral-small-latest' }),
    nanoUsd: 1000 * 150 + 500 * 600,
  },
] as const;

const upstreamOf = (at: number) => upstreams[at % upstreams.length] ?? upstreams[0];

/** Processes are killed -9 under a batch: each line once in its output, each call once in the ledger. */
export function provesKilledBatches({ scenario, makeBatch, ended, canary, isFull }: Killed): void {
  const provedLines = Number(process.env.SLUICE_BATCH_LINES ?? (isFull ? 50_000 : 300));
  const endpoint = '/v1/responses';

  /** Counts calls by line, and answers as the one does that is asked. */
  function countCalls(): Map<number, number> {
    const calls = new Map<number, number>();
    scenario().upstream.handle((request: RecordedRequest): UpstreamReply => {
      const at = Number(/proved (\d+)/.exec(request.body.toString())?.[1]);
      const { path, reply } = upstreamOf(at);
      if (request.path !== path) return json(404, { error: { message: 'no such path' } });
      calls.set(at, (calls.get(at) ?? 0) + 1);
      return isFull ? reply : slowHeaders(20, reply);
    });
    return calls;
  }

  function makeProvedBatch(): Promise<Batch> {
    const host = `${scenario().upstream.url}/v1`;
    const config = {
      strategy: {
        mode: 'conditional',
        conditions: upstreams.map(({ provider, model }) => ({
          query: { 'params.model': { $eq: model } },
          // biome-ignore lint/suspicious/noThenProperty: `then` is the published name of the field.
          then: provider,
        })),
        default: 'openai',
      },
      targets: upstreams.map(({ provider }) => ({
        name: provider,
        provider,
        api_key: canary,
        custom_host: host,
        read_on: true,
      })),
    };
    const lines = Array.from({ length: provedLines }, (_, at) => {
      const { model } = upstreamOf(at);
      return line(`line ${at}`, { model, input: `proved ${at}`, store: false }, endpoint);
    });
    return makeBatch(lines, { options: { config }, endpoint });
  }

  const until = (calls: Map<number, number>, count: number, timeoutMs: number) =>
    eventually(() => calls.size >= count, { timeoutMs, intervalMs: 5 });

  /**
   * Each line once in the output, and each call in the ledger for what it cost.
   * @param cuts  how often lines were under way that somebody else makes again
   */
  async function holdsTogether(batch: Batch, calls: Map<number, number>, cuts: () => number) {
    const end = await ended(batch.id, 'completed', 1_200_000);
    expect(end.request_counts).toEqual({ total: provedLines, completed: provedLines, failed: 0 });
    const read = () =>
      scenario().call(`/v1/batches/${batch.id}/output`, { method: 'GET', host: null });
    const found = linesIn(await (await read()).text()).map(({ custom_id }) => custom_id);
    expect(found).toHaveLength(provedLines);
    expect(new Set(found).size).toBe(provedLines);
    let made = 0;
    let full = 0;
    let once = 0;
    for (const [at, count] of calls) {
      made += count;
      full += count * upstreamOf(at).nanoUsd;
      once += upstreamOf(at).nanoUsd;
    }
    expect(made - provedLines).toBeLessThanOrEqual(cuts() * linesAtOnce);
    for (let times = 0; times < 10; times += 1) await (await read()).arrayBuffer();
    return { made, full, once };
  }

  /** How often the data service took the batch since it started. On a busy machine it also loses the short lease of the suite. */
  const runsOf = ({ id }: Batch) =>
    scenario()
      .stack.part('data-service')
      .stderr()
      .split('\n')
      .filter((text) => text.includes('"a batch is run"') && text.includes(id)).length;

  it('goes on after kill -9: each line once in the output, each call once in the ledger (B2, B3)', {
    timeout: 1_800_000,
  }, async () => {
    const s = scenario();
    const calls = countCalls();
    const startedAt = Date.now();
    const batch = await makeProvedBatch();
    const parts = isFull
      ? (['data-service', 'gateway', 'control-plane', 'data-service'] as const)
      : (['data-service'] as const);
    let pausedMsMax = 0;
    /** Of runs that ended otherwise than by a kill. */
    let lost = 0;
    for (const [at, name] of parts.entries()) {
      await until(calls, ((at + 1) * provedLines) / (parts.length + 1), 600_000);
      if (name === 'data-service') lost += Math.max(0, runsOf(batch) - 1);
      await s.stack.part(name).kill();
      const before = calls.size;
      const killedAt = Date.now();
      await s.stack.part(name).start();
      await until(calls, before + linesAtOnce + 1, 60_000);
      pausedMsMax = Math.max(pausedMsMax, Date.now() - killedAt);
    }
    const cuts = () => parts.length + lost + Math.max(0, runsOf(batch) - 1);
    const { made, full, once } = await holdsTogether(batch, calls, cuts);
    const seconds = (Date.now() - startedAt) / 1000;
    expect(pausedMsMax).toBeLessThan(replacedMs);
    await eventually(
      async () => {
        const { total, cost } = await batchUse(s, batch.id);
        expect(total).toBe(made);
        // What a killed gateway had under way is estimated; what a killed data service had, is read on here.
        expect(Math.round(cost * 1e7)).toBeGreaterThanOrEqual(isFull ? once : full);
        expect(Math.round(cost * 1e7)).toBeLessThanOrEqual(full);
      },
      { intervalMs: 300 },
    );
    if (isFull)
      tell(
        `${provedLines} lines in ${seconds.toFixed(0)} s, ${made - provedLines} called twice, longest pause ${(pausedMsMax / 1000).toFixed(1)} s`,
      );
  });

  if (!isFull) return;

  it('goes on after kill -9 at another replica, and back, within 30 s: each call at its price in the ledger', {
    timeout: 1_800_000,
  }, async () => {
    const s = scenario();
    const calls = countCalls();
    const batch = await makeProvedBatch();
    // Whoever looks first runs it: the other comes later.
    await until(calls, 1, 60_000);
    const first = s.stack.part('data-service');
    const second = await startService('data-service', await replicaOf(s));
    try {
      const pauses: number[] = [];
      const passes = async (share: number, die: () => Promise<unknown>) => {
        await until(calls, share * provedLines, 600_000);
        await die();
        const killedAt = Date.now();
        // What was under way at the kill arrives a little later.
        const before = calls.size + linesAtOnce;
        await until(calls, before + 1, 2 * replacedMs);
        pauses.push(Date.now() - killedAt);
      };
      await passes(1 / 3, () => first.kill());
      expect(first.pid).toBeUndefined();
      expect(second.stderr()).toContain('a batch is run');
      await first.start();
      await passes(2 / 3, () => second.kill());
      const { made, full } = await holdsTogether(batch, calls, () => 2);
      for (const pause of pauses) expect(pause).toBeLessThan(replacedMs);
      await eventually(
        async () => {
          const { total, cost } = await batchUse(s, batch.id);
          expect({ total, nanoUsd: Math.round(cost * 1e7) }).toEqual({
            total: made,
            nanoUsd: full,
          });
        },
        { intervalMs: 300 },
      );
      tell(
        `${provedLines} lines at two replicas, ${made - provedLines} called twice, taken over after ${pauses.map((ms) => `${(ms / 1000).toFixed(1)} s`).join(' and ')}`,
      );
    } finally {
      await second.kill();
    }
  });
}

/** A data service beside that of the stack, with the same store of files and a ledger of its own, which nobody tells anything. */
async function replicaOf({ stack }: Scenario): Promise<Record<string, string>> {
  const folder = await temporaryFolder('second-data-service');
  await prepareLedger(folder);
  return {
    PORT: '0',
    GRPC_PORT: '0',
    NODE_ENV: 'production',
    SERVICE_CLIENT_AUTH: stack.serviceToken,
    CONTROL_PLANE_GRPC_URL: `127.0.0.1:${stack.ports.controlPlaneGrpc}`,
    GATEWAY_URL: stack.gatewayUrls[0] ?? '',
    LOG_STORE: 'local',
    LOG_STORE_DIR: join(stack.dataDir, 'logs'),
    CLICKHOUSE_DATA_DIR: folder,
  };
}

function tell(line: string): void {
  process.stdout.write(`${line}\n`);
}
