import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fromBinary } from '@bufbuild/protobuf';
import type { GatewayError } from '@sluice/errors';
import { config, usage } from '@sluice/proto-stubs';
import { createMetrics } from '@sluice/telemetry';
import { eventually, type SpawnedServer, startRedis } from '@sluice/testkit';
import { readEntry, uuidText } from '@sluice/usage';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { exampleBundle, exampleExchange, exampleKey } from '../../test/exchange.ts';
import { redisLimits } from '../../test/limits.ts';
import { CallMarks } from '../children/call-marks.ts';
import { ChildSums } from '../children/child-sums.ts';
import { Children } from '../children/children.ts';
import { ContentKeeper } from '../content/content-keeper.ts';
import type { KeptContent } from '../content/kept-content.ts';
import { agentEvent, mcpEvent } from '../exchange/event.ts';
import type { LimitStore } from '../limits/limit-store.ts';
import { OpenReservations } from '../limits/limit-watch.ts';
import { MemoryLimits } from '../limits/memory-limits.ts';
import { createCallMetrics } from '../metrics.ts';
import { Outbox } from '../usage/outbox.ts';
import { UsageRecorder } from '../usage/usage-recorder.ts';
import {
  type CallBegin,
  type CallEnd,
  CallMeter,
  type EndedCall,
  type MeteredCall,
} from './call-meter.ts';

const outboxBytes = 64 * 1024 * 1024;
let redis: SpawnedServer;
let dir: string;
let made = 0;
const closers: (() => void | Promise<void>)[] = [];

beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'sluice-meter-'));
});
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
  rmSync(dir, { recursive: true, force: true });
});

const metrics = { refused: () => {}, wouldRefuse: () => {}, overflowed: () => {} };

/** A gateway's meter, with its own outbox. */
function gateway(
  limits: LimitStore = new MemoryLimits(),
  name = `gateway-${made++}`,
  content?: ContentKeeper,
  onEnded?: (ended: EndedCall) => void,
) {
  const outbox = new Outbox({ dir: join(dir, name), bytesMax: outboxBytes });
  const recorder = new UsageRecorder(outbox, { replicaId: name, gatewayVersion: '1' });
  const open = new OpenReservations();
  const sums = new ChildSums(undefined);
  const children = new Children(new CallMarks('secret'), sums);
  const watch = { metrics, open };
  const meter = new CallMeter({ recorder, limits, watch, content, children, onEnded });
  return { meter, outbox, open, children };
}

async function twoGateways() {
  const both = await Promise.all(
    [0, 1].map(async (index) => {
      const { limits, close } = redisLimits(redis.url, { replicas: () => ({ index, count: 2 }) });
      closers.push(close);
      await eventually(() => expect(limits.isShared).toBe(true));
      return { ...gateway(limits), limits };
    }),
  );
  return both as [(typeof both)[0], (typeof both)[0]];
}

/** All that an outbox has to send. */
function recordsOf(outbox: Outbox): usage.UsageRecord[] {
  outbox.flush();
  const records: usage.UsageRecord[] = [];
  for (;;) {
    const batch = outbox.read(500);
    if (batch === undefined || batch.records.length === 0) return records;
    // A copy: ids are views of the reader's bytes, which the next batch takes.
    for (const bytes of batch.records)
      records.push(fromBinary(usage.UsageRecordSchema, Uint8Array.from(readEntry(bytes).body)));
    outbox.acknowledge(batch.next);
  }
}

const server = { id: 'server-1', slug: 'weather' };
const forecast = mcpEvent({ server, method: 'tools/call', rpcId: '7', capability: 'forecast' });
const fromAgent = agentEvent({
  server: { id: 'agent-1', slug: 'planner' },
  method: 'message/send',
});
const ok: CallEnd = { outcome: 'success', result: { content: [{ type: 'text', text: 'Sunny.' }] } };

/** Counters of its own in the Redis that tests share. */
const policy = (over: object = {}) => ({
  id: `policy-${made++}`,
  name: 'tools',
  type: 'requests',
  unit: 'rpd',
  value: 100n,
  conditions: [],
  groupBy: [],
  ...over,
});
const budget = (type: string, value: bigint, over: object = {}) => ({
  ...policy(),
  limit: { id: `budget-${made++}`, type, value },
  ...over,
});
const condition = (key: string, ...values: string[]) => ({ key, values, excludes: [] });

function caller(bundle: object = {}, key: Partial<config.Key> = {}) {
  return exampleExchange({
    bundle: exampleBundle(bundle as never),
    key: exampleKey(key),
  });
}

/** How many of so many calls are made, and the refusal of the others. */
async function admitted(
  requesters: ReturnType<typeof caller>,
  meters: readonly CallMeter[],
  tries: number,
  begin: CallBegin = { event: forecast },
) {
  const calls: MeteredCall[] = [];
  const refusals: GatewayError[] = [];
  await Promise.all(
    Array.from({ length: tries }, async (_, at) => {
      try {
        calls.push(await meters[at % meters.length]!.begin(requesters, begin));
      } catch (error) {
        refusals.push(error as GatewayError);
      }
    }),
  );
  return { calls, refusals };
}

describe('rates of tools', () => {
  it('admit exactly 100 of 300 calls over two gateways, and tell when to come again', async () => {
    const [one, other] = await twoGateways();
    const asks = caller({
      mcpToolsPolicies: [
        policy({
          conditions: [condition('mcp_server', 'weather'), condition('mcp_tool', 'forecast')],
        }),
      ],
    });
    const { calls, refusals } = await admitted(asks, [one.meter, other.meter], 300);
    expect([calls.length, refusals.length]).toEqual([100, 200]);
    for (const { code, status, headers } of refusals) {
      expect([code, status]).toEqual(['limit.rate_exceeded', 429]);
      expect(Number(headers?.['retry-after'])).toBeGreaterThan(0);
    }
    for (const call of calls) await call.end(ok);
    expect([one.open.count, other.open.count]).toEqual([0, 0]);
    // Another tool has its own count, which here is none.
    const rain = mcpEvent({ server, method: 'tools/call', capability: 'rain' });
    expect((await admitted(asks, [one.meter], 5, { event: rain })).calls).toHaveLength(5);
    const records = [one, other].flatMap(({ outbox }) => recordsOf(outbox));
    expect(new Set(records.map(({ id }) => uuidText(id))).size).toBe(records.length);
    const byOutcome = Object.groupBy(records, ({ outcome }) => usage.Outcome[outcome]);
    expect([byOutcome.SUCCESS?.length, byOutcome.DENIED?.length]).toEqual([100, 200]);
    expect(byOutcome.DENIED?.[0]).toMatchObject({
      endpoint: 'mcp:tool_call',
      provider: 'mcp',
      model: 'server-1',
      capabilityName: 'forecast',
      statusCode: 429,
      errorCode: 'limit.rate_exceeded',
    });
  });

  it.each([
    ['no condition means all', {}, [3, 3, 3, 0]],
    ['a tool', { conditions: [condition('mcp_tool', 'rain')] }, [0, 3, 0, 0]],
    ['a server', { conditions: [condition('mcp_server', 'news')] }, [0, 0, 3, 0]],
    [
      'every tool but one',
      { conditions: [{ key: 'mcp_tool', values: ['*'], excludes: ['rain'] }] },
      [3, 0, 3, 0],
    ],
    ['metadata', { conditions: [condition('metadata.team', 'red')] }, [0, 0, 0, 0]],
  ])('%s', async (_, over, refused) => {
    const { meter } = gateway();
    const asks = caller({
      mcpToolsPolicies: [policy({ value: 1n, groupBy: ['mcp_server', 'mcp_tool'], ...over })],
    });
    const news = { id: 'server-2', slug: 'news' };
    const counts = [];
    for (const event of [
      forecast,
      mcpEvent({ server, method: 'tools/call', capability: 'Rain ' }),
      mcpEvent({ server: news, method: 'tools/call', capability: 'search' }),
      // No tool: a rate of tools says nothing of it.
      mcpEvent({ server: news, method: 'resources/read', capability: 'rain' }),
    ])
      counts.push((await admitted(asks, [meter], 4, { event })).refusals.length);
    expect(counts).toEqual(refused);
  });

  it('is not escaped by another name of the tool, nor through a merged server', async () => {
    const { meter } = gateway();
    const asks = caller({
      mcpToolsPolicies: [
        policy({
          value: 2n,
          conditions: [condition('mcp_server', 'weather'), condition('mcp_tool', 'forecast')],
        }),
      ],
    });
    const renamed = mcpEvent({
      server,
      method: 'tools/call',
      capability: 'forecast',
      calledAs: 'sky',
    });
    const merged = mcpEvent({
      server,
      mergedSlug: 'all',
      method: 'tools/call',
      capability: 'forecast',
      calledAs: 'weather__forecast',
    });
    for (const event of [renamed, merged]) await meter.begin(asks, { event });
    await expect(meter.begin(asks, { event: forecast })).rejects.toThrow(/Rate limit exceeded/);
  });

  it('leave models and agents alone, as rates of models leave tools', async () => {
    const { meter } = gateway();
    const spent = policy({ value: 1n });
    const tools = caller({ mcpToolsPolicies: [spent] });
    expect(tools.bundle!.requestPolicies.isEmpty).toBe(true);
    expect((await admitted(tools, [meter], 3, { event: fromAgent })).calls).toHaveLength(3);
    const models = caller({ rateLimitsPolicies: [policy({ value: 1n })] });
    expect((await admitted(models, [meter], 3)).calls).toHaveLength(3);
  });
});

describe('limits of the key, the workspace and budgets', () => {
  it.each([
    ['the key', {}, { rateLimits: [{ id: 'k', type: 'requests', unit: 'rpd', value: 2n }] }],
    ['the workspace', { rateLimits: [{ id: 'w', type: 'requests', unit: 'rpd', value: 2n }] }, {}],
    [
      'a policy on the provider',
      {
        usageLimitsPolicies: [
          budget('requests', 2n, { conditions: [condition('provider', 'mcp', 'agent')] }),
        ],
      },
      {},
    ],
    [
      'a policy on all keys',
      {
        usageLimitsPolicies: [budget('requests', 2n, { conditions: [condition('api_key', '*')] })],
      },
      {},
    ],
  ])('count tools and agents alike: %s', async (_, bundle, key) => {
    const { meter, outbox } = gateway();
    const asks = caller(bundle, key as never);
    const read = mcpEvent({ server, method: 'resources/read', capability: 'file:///a' });
    await (await meter.begin(asks, { event: read })).end(ok);
    await (await meter.begin(asks, { event: fromAgent })).end({ outcome: 'success' });
    await expect(meter.begin(asks, { event: forecast })).rejects.toMatchObject({
      code: expect.stringMatching(/^limit\.(?:rate_exceeded|budget_exhausted)$/),
    });
    // What uses nothing up asks no limit.
    const list = mcpEvent({ server, method: 'tools/list' });
    await (await meter.begin(asks, { event: list })).end(ok);
    expect(recordsOf(outbox)).toHaveLength(4);
  });

  it('a key that is used up is refused where its budget is not told', async () => {
    const { meter } = gateway();
    const asks = caller({}, { status: config.KeyStatus.EXHAUSTED });
    await expect(meter.begin(asks, { event: forecast })).rejects.toMatchObject({ status: 412 });
  });

  it.each<[string, Partial<config.Key>]>([
    ['left', {}],
    ['spent', { rateLimits: [{ id: 'k', type: 'requests', unit: 'rpd', value: 1n }] as never }],
    ['used up, as the control plane says', { status: config.KeyStatus.EXHAUSTED }],
  ])(
    'count what an agent tells of work that was done, as no request, where the key is %s',
    async (_, own) => {
      const { meter } = gateway();
      const usageLimitsPolicies = [budget('tokens', 100n), budget('cost', 10n ** 12n)];
      const rateLimits = [{ id: 'w', type: 'requests', unit: 'rpd', value: 5n }];
      const bundle = exampleBundle({ rateLimits, usageLimitsPolicies } as never);
      const asks = exampleExchange({ bundle, key: exampleKey() });
      await (await meter.begin(asks, { event: fromAgent })).end({ outcome: 'success' });
      const looks = agentEvent({ server: fromAgent.server, method: 'tasks/get' });
      const policy = { prices: { call: 5, token: 1 } };
      const asksAgain = exampleExchange({ bundle, key: exampleKey(own) });
      if (own.rateLimits !== undefined)
        await (await meter.begin(asksAgain, { event: fromAgent })).end({ outcome: 'success' });
      const posted = async () =>
        (await meter.peek(asks, { event: fromAgent })).map(({ state }) => state?.posted);
      const [requests, ...others] = await posted();
      expect(others).toEqual([0, 0]);
      const told = { inputTokens: 300, outputTokens: 40 };
      const call = await meter.begin(asksAgain, { event: looks, policy });
      await call.end({ outcome: 'success', told });
      expect(await posted()).toEqual([requests, 340, 3_400_000_000]);
    },
  );

  it('count no request for what an agent tells later, where only requests are limited', async () => {
    const { meter } = gateway();
    const asks = caller({ rateLimits: [{ id: 'w', type: 'requests', unit: 'rpd', value: 5n }] });
    const looks = agentEvent({ server: fromAgent.server, method: 'tasks/get' });
    const call = await meter.begin(asks, { event: looks });
    await call.end({ outcome: 'success', told: { inputTokens: 300, outputTokens: 40 } });
    const states = await meter.peek(asks, { event: fromAgent });
    expect(states.map(({ state }) => state?.posted)).toEqual([0]);
  });

  it('what all of a call must fit refuses by its price, and says so to who only looks', async () => {
    const { meter } = gateway();
    const limit = {
      id: 'strict',
      type: 'cost',
      value: 30_000_000n,
      rules: { admission: 'strict' },
    };
    const asks = caller({ usageLimitsPolicies: [budget('cost', 0n, { limit })] });
    const begin = (call: number) => ({ event: forecast, policy: { prices: { call } } });
    const refusals = async (call: number) =>
      (await meter.peek(asks, begin(call))).map(({ refusal }) => refusal?.code);
    expect(await refusals(2)).toEqual([undefined]);
    expect(await refusals(5)).toEqual(['limit.budget_exhausted']);
    await expect(meter.begin(asks, begin(5))).rejects.toMatchObject({ status: 412 });
    await (await meter.begin(asks, begin(2))).end(ok);
    expect(await refusals(2)).toEqual(['limit.budget_exhausted']);
  });

  it('a budget of $1 for a tool at 0.3 cents a call is overshot by no more than its bound, over two gateways', async () => {
    const [one, other] = await twoGateways();
    const usageLimitsPolicies = [
      budget('cost', 1_000_000_000n, { conditions: [condition('mcp_tool', 'forecast')] }),
    ];
    const asks = caller({ usageLimitsPolicies });
    const begin = {
      event: forecast,
      policy: { prices: { call: 5, tools: { forecast: { call: 0.3 } } } },
    };
    let cost = 0;
    let bound = 0;
    // Rounds, so that what was settled is seen by who asks next.
    for (let round = 0; round < 5; round++) {
      const { calls } = await admitted(asks, [one.meter, other.meter], 100, begin);
      const states = await one.meter.peek(asks, begin);
      bound = Math.max(bound, ...states.map(({ state }) => state?.overshoot ?? 0));
      cost += calls.length * 3_000_000;
      await Promise.all(calls.map((call) => call.end(ok)));
    }
    const records = [one, other].flatMap(({ outbox }) => recordsOf(outbox));
    const spent = records.reduce((sum, { costNanoUsd }) => sum + Number(costNanoUsd), 0);
    expect(spent).toBe(cost);
    expect(spent).toBeGreaterThan(997_000_000);
    expect(spent - 1_000_000_000).toBeLessThanOrEqual(bound);
    await expect(one.meter.begin(asks, begin)).rejects.toMatchObject({ status: 412 });
    // What records say they settled is what the counter has.
    const settled = records.flatMap(({ countersSettled }) => Object.values(countersSettled));
    expect(settled.reduce((sum, count) => sum + Number(count), 0)).toBe(spent);
  });
});

describe('calls that an agent makes', () => {
  const prices = { prices: { call: 5, token: 1 } };
  const told = (tokens: number) => ({ inputTokens: tokens, outputTokens: 0 });

  it('count towards the call of the agent, tools and agents alike, and not towards what they report', async () => {
    const { meter, outbox, children } = gateway();
    const asks = caller();
    const callMark = children.markFor(asks, 'c3VtLW9mLW9uZSE_');
    expect(callMark).toBeDefined();
    const within = { ...asks, arrival: { ...asks.arrival, callMark } };
    await (await meter.begin(within, { event: forecast, policy: prices })).end({
      ...ok,
      result: { _meta: { usage: { input_tokens: 1 } } },
    });
    const own = { by: 'max', sums: ['c3VtLW9mLW9uZSE_'], isOver: false } as const;
    const begin = { event: fromAgent, policy: prices };
    // Six cents of a tool: of the ten that the agent reports four are left, beside its price a call.
    await (await meter.begin(within, begin)).end({
      outcome: 'success',
      told: told(10),
      elsewhere: own,
    });
    await (await meter.begin(asks, begin)).end({
      outcome: 'success',
      told: told(10),
      elsewhere: own,
    });
    const cents = recordsOf(outbox).map(({ costNanoUsd }) => Number(costNanoUsd) / 1e7);
    expect(cents).toEqual([6, 5 + 4, 5 + 10]);
  });

  it('take nothing of what is estimated, cannot be true, or is not told', async () => {
    const { meter, outbox, children } = gateway();
    const asks = caller();
    const callMark = children.markFor(asks, 'c3VtLW9mLW9uZSE_');
    const within = { ...asks, arrival: { ...asks.arrival, callMark } };
    await (await meter.begin(within, { event: forecast, policy: prices })).end(ok);
    for (const use of [undefined, { ...told(3), isImplausible: true }])
      await (await meter.begin(asks, { event: fromAgent, policy: prices })).end({
        outcome: 'success',
        told: use,
        elsewhere: { by: 'max', sums: ['c3VtLW9mLW9uZSE_'], isOver: true },
      });
    const records = recordsOf(outbox).slice(1);
    expect(records.map(({ costNanoUsd }) => Number(costNanoUsd))).toEqual([5e7, 5e7]);
    expect(records.map(({ decisionJson }) => decisionJson)).toEqual(['', '']);
  });
});

describe('content', () => {
  const request = Buffer.from('{"method":"tools/call","params":{"name":"forecast"}}');
  const response = Buffer.from(
    '{"result":{"isError":true,"content":[{"type":"text","text":"no"}]}}',
  );

  it.each([
    ['full', 'full', {}, false, ['request', 'response', 'headers', '']],
    ['full, the tool failed', 'full', {}, true, ['request', 'response', 'headers', 'no']],
    ['metrics', 'metrics', {}, false, []],
    ['metrics, the tool failed', 'metrics', {}, true, ['response', 'no']],
    ['full, but the caller wants none', 'full', { 'x-service-debug': 'false' }, true, []],
    [
      'metrics, failed, but the caller wants none',
      'metrics',
      { 'x-service-debug': 'false' },
      true,
      [],
    ],
    ['nothing is said', '', {}, true, ['response', 'no']],
  ])(
    'is kept as request logging says: %s',
    async (_, requestLogging, headers, toolFailed, expected) => {
      const kept: KeptContent[] = [];
      const taker = {
        add: (content: KeptContent) => void kept.push(content),
        dropOldest: () => false,
      };
      const holding = { bytes: 0, bytesMax: 100_000, dropOldest: () => false };
      const content = new ContentKeeper([taker], holding, {
        format: 'v1',
        isStored: true,
        bodyBytesMax: 1000,
      });
      const { meter, outbox } = gateway(undefined, undefined, content);
      const asks = exampleExchange({
        bundle: exampleBundle({ requestLogging } as never),
        key: exampleKey(),
        headers: { authorization: 'Bearer secret', ...headers },
      });
      const call = await meter.begin(asks, { event: forecast, request });
      await call.end({ ...ok, response, toolFailed, toolError: toolFailed ? 'no' : undefined });
      const [record] = recordsOf(outbox);
      const told = kept.flatMap(({ bodies, head }) => [
        ...(bodies.request?.length ? ['request'] : []),
        ...(bodies.response?.length ? ['response'] : []),
        ...(head.requestHeaders.authorization === undefined ? [] : ['headers']),
      ]);
      expect([...told, ...(kept.length > 0 ? [record?.toolError] : [])]).toEqual(expected);
      expect(record?.logFormat).toBe(kept.length > 0 ? 'v1' : '');
      if (kept.length === 0) expect(record?.toolError).toBe('');
      else expect(kept[0]?.head.logId).toBe(uuidText(record!.id));
    },
  );
});

describe('metrics', () => {
  it('count each call once, by what came of it', async () => {
    const registry = createMetrics({ app: 'gateway', env: 'test', gcBuckets: [1] });
    const ended = createCallMetrics(registry);
    const { meter } = gateway(undefined, undefined, undefined, ended);
    for (const toolFailed of [false, false, true])
      await (await meter.begin(caller(), { event: forecast })).end({ ...ok, toolFailed });
    await meter.refuse(caller(), fromAgent, { code: 'agent.denied', status: 403 });
    const lines = (await registry.registry.metrics()).split('\n');
    const counted = lines.filter((line) => line.startsWith('sluice_server_calls{'));
    expect(counted.map((line) => line.replace(/,?(?:app|env)="[^"]*"/g, ''))).toEqual([
      'sluice_server_calls{kind="mcp",mode="mcp:tool_call",outcome="success",server="weather"} 2',
      'sluice_server_calls{kind="mcp",mode="mcp:tool_call",outcome="tool_failed",server="weather"} 1',
      'sluice_server_calls{kind="agent",mode="agent:send_message",outcome="denied",server="planner"} 1',
    ]);
    for (let index = 0; index < 1000; index++)
      ended({
        event: mcpEvent({ server: { id: 'x', slug: `s-${index}"` }, method: 'ping' }),
        outcome: 'success',
        ms: 1,
      });
    const after = (await registry.registry.metrics()).split('\n');
    expect(after.filter((line) => line.startsWith('sluice_server_calls{')).length).toBeLessThan(65);
  });
});

describe('a record', () => {
  const end = async (end: CallEnd, begin: Partial<CallBegin> = {}) => {
    const { meter, outbox } = gateway();
    const call = await meter.begin(caller(), {
      event: forecast,
      request: Buffer.from('{"place":"Oslo"}'),
      policy: { prices: { call: 0.1, token: 0.001 } },
      authType: 'api_key',
      transportClient: 'http',
      ...begin,
    });
    await call.end(end);
    // A second end says nothing.
    await call.end({ outcome: 'gateway_error' });
    const records = recordsOf(outbox);
    expect(records).toHaveLength(1);
    return records[0]!;
  };

  it('tells who was asked what, and what it came to', async () => {
    const record = await end({
      ...ok,
      sessionId: 's-1',
      protocolVersion: '2025-11-25',
      upstreamStatus: 200,
      transportUpstream: 'sse',
      tokenRefreshed: true,
    });
    expect(record).toMatchObject({
      provider: 'mcp',
      providerSlug: 'weather',
      model: 'server-1',
      endpoint: 'mcp:tool_call',
      strategyMode: 'mcp:tool_call',
      requestUrl: 'mcp://weather/tools/forecast',
      outcome: usage.Outcome.SUCCESS,
      statusCode: 200,
      rpcMethod: 'tools/call',
      rpcId: '7',
      capabilityName: 'forecast',
      toolFailed: false,
      upstreamStatus: 200,
      sessionId: 's-1',
      protocolVersion: '2025-11-25',
      transportClient: 'http',
      transportUpstream: 'sse',
      authType: 'api_key',
      upstreamTokenRefreshed: true,
      usageEstimated: true,
      usageReported: false,
      costKnown: true,
      priceLayer: 'server',
    });
    expect(record.inputTokens).toBeGreaterThan(2n);
    expect(record.outputTokens).toBeGreaterThan(0n);
    const tokens = record.inputTokens + record.outputTokens;
    expect(record.costNanoUsd).toBe(1_000_000n + tokens * 10_000n);
  });

  it('keeps what failed in the tool apart from what failed on the way', async () => {
    expect(await end({ ...ok, toolFailed: true, toolError: 'no such place' })).toMatchObject({
      outcome: usage.Outcome.SUCCESS,
      statusCode: 200,
      toolFailed: true,
      // Nothing says that content is kept.
      toolError: '',
      costNanoUsd: expect.toSatisfy((cost) => cost > 0n),
    });
    expect(
      await end({ outcome: 'upstream_error', rpcErrorCode: -32602, upstreamStatus: 200 }),
    ).toMatchObject({
      statusCode: 500,
      rpcErrorCode: -32602,
      costNanoUsd: 0n,
      inputTokens: 0n,
    });
    expect(
      await end({ outcome: 'upstream_failure', failureCause: 'refused', isSent: false }),
    ).toMatchObject({
      failureCause: 'refused',
      costNanoUsd: 0n,
    });
    expect(await end({ outcome: 'upstream_failure', failureCause: 'timeout' })).toMatchObject({
      outputTokens: 0n,
      costNanoUsd: expect.toSatisfy((cost) => cost >= 1_000_000n),
      usageEstimated: true,
    });
  });

  it('bills of an error the tokens that it tells, and no call', async () => {
    const told = { inputTokens: 10, outputTokens: 5, cachedTokens: 0, reasoningTokens: 0 };
    const error = { outcome: 'upstream_error', rpcErrorCode: -32000, upstreamStatus: 200 } as const;
    expect(await end({ ...error, told })).toMatchObject({
      inputTokens: 10n,
      outputTokens: 5n,
      costNanoUsd: 150_000n,
    });
  });

  it('believes what a result tells of its tokens, unless it cannot be true', async () => {
    const result = (usage: object) => ({
      outcome: 'success' as const,
      result: { _meta: { usage } },
    });
    expect(await end(result({ input_tokens: 100, output_tokens: 20 }))).toMatchObject({
      inputTokens: 100n,
      outputTokens: 20n,
      usageReported: true,
      usageEstimated: false,
      costNanoUsd: 2_200_000n,
    });
    for (const count of [-5, 1e308, '3', 0.1])
      expect(await end(result({ input_tokens: count, output_tokens: 20 }))).toMatchObject({
        usageReported: false,
        usageEstimated: true,
        usageImplausible: true,
        outputTokens: 0n,
      });
  });

  it('of an agent says that no usage was told, and guesses none', async () => {
    const told = await end(
      {
        outcome: 'success',
        told: { inputTokens: 5, outputTokens: 6 },
        taskId: 't',
        contextId: 'c',
        taskState: 'completed',
        protocolVersion: '1.0',
      },
      { event: fromAgent, isStream: true },
    );
    expect(told).toMatchObject({
      provider: 'agent',
      model: 'agent-1',
      endpoint: 'agent:send_message',
      requestUrl: 'agent://planner/message/send',
      inputTokens: 5n,
      outputTokens: 6n,
      taskId: 't',
      contextId: 'c',
      taskState: 'completed',
      stream: true,
      usageMissing: false,
    });
    expect(await end({ outcome: 'success' }, { event: fromAgent })).toMatchObject({
      usageMissing: true,
      usageEstimated: false,
      inputTokens: 0n,
      // A call is paid for all the same.
      costNanoUsd: 1_000_000n,
    });
  });

  it('is `lost`, once, with what the call took, when the gateway dies during it', async () => {
    const { meter, outbox } = gateway(undefined, 'killed');
    await meter.begin(caller(), { event: forecast, policy: { prices: { call: 1 } } });
    const ended = await meter.begin(caller(), { event: forecast });
    await ended.end(ok);
    outbox.close();
    const next = gateway(undefined, 'killed');
    const lost = next.outbox.recover((begin) => Buffer.concat([begin, UsageRecorder.lostSuffix()]));
    expect(lost).toBe(1);
    const records = recordsOf(next.outbox);
    expect(records.map(({ outcome }) => usage.Outcome[outcome]).sort()).toEqual([
      'LOST',
      'SUCCESS',
    ]);
    expect(records.find(({ outcome }) => outcome === usage.Outcome.LOST)).toMatchObject({
      capabilityName: 'forecast',
      costNanoUsd: 10_000_000n,
    });
  });

  it('is one for each of 10,000 calls', async () => {
    const { meter, outbox } = gateway();
    const asks = caller();
    for (let batch = 0; batch < 100; batch++)
      await Promise.all(
        Array.from({ length: 100 }, async () => {
          const call = await meter.begin(asks, { event: forecast });
          await call.end(ok);
        }),
      );
    const records = recordsOf(outbox);
    expect(records).toHaveLength(10_000);
    expect(new Set(records.map(({ id }) => uuidText(id))).size).toBe(10_000);
  });

  it('that cannot be noted makes no call, and holds nothing', async () => {
    const { meter, outbox, open } = gateway();
    Object.defineProperty(outbox, 'isFull', { value: true });
    const asks = caller({
      rateLimits: [{ id: 'w', type: 'requests', unit: 'rpd', value: 2n }],
    } as never);
    await expect(meter.begin(asks, { event: forecast })).rejects.toMatchObject({
      code: 'gateway.ledger_full',
    });
    expect(open.count).toBe(0);
  });
});
