import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { type ConfigNode, parseConfigDocument, storedConfigCaps } from '@sluice/contracts';
import { Multipliers, PriceBook } from '@sluice/pricing';
import { usage } from '@sluice/proto-stubs';
import { ownTime } from '@sluice/testkit/own-time';
import { describe, expect, it } from 'vitest';
import type { ShownContent } from '../ledger/logs/read-content.ts';
import { type SimulationParts, simulate } from './simulate.ts';
import type { ChangedConfig, ProviderOfTask, SimulationTask } from './task.ts';

const { Outcome } = usage;
/** A minute of a limit begins here. */
const startMs = Date.UTC(2026, 2, 10, 12);

/** `SIMULATED_REQUESTS=100000 npm test -- services/control-plane/src/simulation` is the long form. */
const many = Number(process.env.SIMULATED_REQUESTS ?? 5000);

/** Prices are in cents a token: a cent is ten million nano-dollars. */
function provider(slug: string, id: string, input: number, output: number): ProviderOfTask {
  const prices = {
    pay_as_you_go: { request_token: { price: input }, response_token: { price: output } },
  };
  return { slug, id, models: [{ slug: 'small', prices, base: null }], multipliers: {} };
}
// An answer of 100 tokens to 10 costs 10 × 1e5 + 100 × 2e5 at the one, and half of that at the other.
const dear = provider('dear', 'openai', 0.01, 0.02);
const cheap = provider('cheap', 'anthropic', 0.005, 0.01);
const atDear = 21_000_000;
const atCheap = 10_500_000;

const onDear = { provider: '@dear', override_params: { model: 'small' } };
const onCheap = { provider: '@cheap', override_params: { model: 'small' } };

let made = 0;
/** An attempt at `@dear` that was answered, changed as asked. */
function record(some: MessageInitShape<typeof usage.UsageRecordSchema> = {}): usage.UsageRecord {
  made += 1;
  const id = Buffer.alloc(16);
  id.writeUInt32BE(made, 8);
  return create(usage.UsageRecordSchema, {
    id,
    requestId: id,
    createdAtMs: BigInt(startMs),
    organisationId: 'org',
    workspaceId: 'ws',
    workspaceSlug: 'main',
    apiKeyId: 'key',
    requestUrl: '/v1/chat/completions',
    endpoint: 'chatComplete',
    provider: 'openai',
    providerSlug: 'dear',
    model: 'small',
    configId: 'config-1',
    configVersionId: 'version-1',
    configSlug: 'pc-one',
    optionPath: 'config',
    outcome: Outcome.SUCCESS,
    statusCode: 200,
    inputTokens: 10n,
    outputTokens: 100n,
    usageReported: true,
    costKnown: true,
    costNanoUsd: BigInt(atDear),
    latencyMs: 100,
    decisionJson: '{"mode":"single","targets":1,"choices":[]}',
    ...some,
  });
}

function node(document: object): ConfigNode {
  const parsed = parseConfigDocument(document, 'ignore', storedConfigCaps);
  if (!parsed.ok) throw new Error(parsed.faults.join('; '));
  return parsed.config;
}

function changed(document: object, replaces: string | undefined = 'config-1'): ChangedConfig {
  return { slug: 'pc-one', node: node(document), references: new Map(), replaces };
}

const task: SimulationTask = {
  reader: {
    organisationId: 'org',
    workspaceId: 'ws',
    keyId: 'k',
    userId: undefined,
    scopes: new Set(),
    seesOwnDataOnly: false,
  },
  organisationId: 'org',
  workspaceId: 'ws',
  fromMs: startMs,
  toMs: startMs + 3_600_000,
  nowMs: startMs + 7_200_000,
  keptDays: 90,
  requestsMax: 100_000,
  timeMsMax: 50_000,
  config: undefined,
  rateLimits: [],
  usageLimits: [],
  allowedModels: [],
  providers: [dear, cheap],
};

/** What comes of the requests, whose config was `then`. */
function simulated(
  records: readonly usage.UsageRecord[],
  given: Partial<SimulationTask>,
  { then = onDear, ...parts }: { then?: object } & Partial<SimulationParts> = {},
) {
  const versions = new Map([
    ['version-1', { slug: 'pc-one', node: node(then), references: new Map() }],
  ]);
  return simulate({ ...task, ...given }, batches(records), {
    book: new PriceBook(),
    findVersions: async () => versions,
    readContent: undefined,
    clock: () => 0,
    ...parts,
  });
}

async function* batches(records: readonly usage.UsageRecord[]) {
  // Requests may come in several.
  for (let at = 0; at < records.length; at += 7) yield records.slice(at, at + 7);
}

const one = (slug: string, id: string) => ({
  provider: id,
  provider_slug: slug,
  ai_model: 'small',
});

describe('a config whose target is another', () => {
  it('costs what the tokens of then cost at the other, then and now', async () => {
    const report = await simulated([record(), record(), record({ configId: 'other' })], {
      config: changed(onCheap),
    });
    expect(report).toMatchObject({
      is_complete: true,
      requests: {
        replayed: 3,
        unchanged: 1,
        rerouted: 2,
        refused: 0,
        undecided: 0,
        outcome_unknown: 2,
      },
      cost: {
        before_nano_usd: 3 * atDear,
        before_at_prices_now_nano_usd: 3 * atDear,
        after_nano_usd: atDear + 2 * atCheap,
        after_at_prices_now_nano_usd: atDear + 2 * atCheap,
        unpriced_requests: 0,
      },
      routes: [
        {
          from: [one('dear', 'openai')],
          to: [one('cheap', 'anthropic')],
          requests: 2,
          outcome_unknown: 2,
          before_nano_usd: 2 * atDear,
          after_nano_usd: 2 * atCheap,
        },
      ],
      undecided: [],
    });
  });

  it('tells prices of then from those of now', async () => {
    // A list that is halved before the simulation.
    const listed = new PriceBook();
    const half = new Multipliers({ default: 0.5 });
    const book: SimulationParts['book'] = {
      lookUp: (query) =>
        listed.lookUp({
          provider: 'openai',
          model: 'gpt-4o',
          atMs: query.atMs,
          multipliers: query.atMs < task.nowMs ? undefined : half,
        }),
    };
    const report = await simulated(
      [record()],
      {
        config: changed(onCheap),
        providers: [
          { ...dear, models: [] },
          { ...cheap, models: [] },
        ],
      },
      { book },
    );
    expect(report.cost.after_nano_usd).toBeGreaterThan(0);
    expect(report.cost.after_at_prices_now_nano_usd).toBe(report.cost.after_nano_usd / 2);
    expect(report.cost.before_nano_usd).toBe(atDear);
  });

  it('leaves costs out on both sides where one is not known', async () => {
    const report = await simulated(
      [
        record(),
        record({
          inputTokens: 0n,
          outputTokens: 0n,
          outcome: Outcome.UPSTREAM_ERROR,
          statusCode: 500,
          usageReported: false,
          costNanoUsd: 0n,
        }),
      ],
      {
        config: changed({ provider: '@dear', override_params: { model: 'nobody-prices-this' } }),
      },
    );
    expect(report.requests).toMatchObject({ rerouted: 2 });
    expect(report.cost).toMatchObject({
      before_nano_usd: 0,
      after_nano_usd: 0,
      unpriced_requests: 2,
      unpriced_before_nano_usd: atDear,
    });
  });
});

it('counts by shares what weights decide, in requests and money', async () => {
  const weighted = {
    strategy: { mode: 'loadbalance' },
    targets: [
      { ...onDear, weight: 1 },
      { ...onCheap, weight: 3 },
    ],
  };
  const report = await simulated([record(), record()], { config: changed(weighted) });
  expect(report.requests).toMatchObject({ unchanged: 0.5, rerouted: 1.5 });
  expect(report.cost.after_nano_usd).toBe(0.5 * atDear + 1.5 * atCheap);
});

describe('conditions', () => {
  const byTier = (query: object) => ({
    strategy: {
      mode: 'conditional',
      // biome-ignore lint/suspicious/noThenProperty: `then` is the published name of the field.
      conditions: [{ query, then: 'cheap' }],
      default: 'dear',
    },
    targets: [
      { ...onDear, name: 'dear' },
      { ...onCheap, name: 'cheap' },
    ],
  });
  const free = { metadata: { tier: 'free' } };

  it('on metadata route those that have it', async () => {
    const report = await simulated([record(), record(free), record(free)], {
      config: changed(byTier({ 'metadata.tier': 'free' })),
    });
    expect(report.requests).toMatchObject({ unchanged: 1, rerouted: 2, undecided: 0 });
  });

  it('on the body leave out what was not kept, with its cost, and ask what was', async () => {
    const config = changed(byTier({ 'params.max_tokens': { $gt: 100 } }));
    const bodies = new Map<string, object>();
    const kept = (body: object) => {
      const logged = record({ logFormat: 'v1' });
      bodies.set(Buffer.from(logged.id).toString('hex'), body);
      return logged;
    };
    const records = [
      record(),
      kept({ max_tokens: 200 }),
      kept({ max_tokens: 5 }),
      record({ logFormat: 'v1' }),
    ];
    const readContent = async ({ id }: usage.UsageRecord): Promise<ShownContent> => {
      const body = bodies.get(Buffer.from(id).toString('hex')) as
        | Record<string, unknown>
        | undefined;
      return body === undefined
        ? { state: 'hidden' }
        : { state: 'shown', request: { headers: {}, serviceHeaders: {}, body } };
    };
    const report = await simulated(records, { config }, { readContent });
    expect(report.requests).toMatchObject({ unchanged: 1, rerouted: 1, undecided: 2 });
    expect(report.undecided).toEqual([
      { reason: 'body_not_kept', requests: 2, before_nano_usd: 2 * atDear },
    ]);
    // What is left out is in no sum.
    expect(report.cost.before_nano_usd).toBe(2 * atDear);
  });

  it('of headers ask none whose value is hidden', async () => {
    const config = changed(byTier({ 'headers.x-team': { $ne: 'a' } }));
    const seen = async (value: string) => {
      const readContent = async (): Promise<ShownContent> => ({
        state: 'shown',
        request: { headers: { 'X-Team': value }, serviceHeaders: {}, body: {} },
      });
      const { requests } = await simulated(
        [record({ logFormat: 'v1' })],
        { config },
        { readContent },
      );
      return requests;
    };
    expect(await seen('b')).toMatchObject({ rerouted: 1 });
    expect(await seen('[masked]')).toMatchObject({ undecided: 1 });
    expect(await seen('hmac-sha256:00ff')).toMatchObject({ undecided: 1 });
  });
});

describe('limits', () => {
  const tenAMinute = {
    conditions: [{ key: 'workspace_id', value: '*' }],
    group_by: [{ key: 'api_key' }],
    type: 'requests' as const,
    unit: 'rpm' as const,
    value: 10,
  };
  const burst = (count: number) =>
    Array.from({ length: count }, (_, number) =>
      record({ createdAtMs: BigInt(startMs + number * 1000) }),
    );

  it('ten requests a minute refuse five of fifteen, by workspace and model, with what they cost', async () => {
    const report = await simulated(burst(15), { rateLimits: [tenAMinute] });
    expect(report.requests).toMatchObject({ replayed: 15, unchanged: 10, refused: 5 });
    expect(report.refusals).toEqual([
      {
        workspace_slug: 'main',
        ai_model: 'small',
        refused_by: 'rate_limits[0]',
        requests: 5,
        before_nano_usd: 5 * atDear,
      },
    ]);
    expect(report.cost).toMatchObject({
      before_nano_usd: 15 * atDear,
      after_nano_usd: 10 * atDear,
    });
  });

  it('a budget counts what requests cost after the change of a config', async () => {
    const budget = {
      conditions: [{ key: 'api_key', value: '*' }],
      group_by: [{ key: 'api_key' }],
      type: 'cost' as const,
      // Two dollars, a little under a hundred answers of the dear one.
      credit_limit: 2,
    };
    const dearOnes = await simulated(burst(120), { usageLimits: [budget] });
    expect(dearOnes.requests).toMatchObject({ unchanged: 96, refused: 24 });
    const cheapOnes = await simulated(burst(120), {
      usageLimits: [budget],
      config: changed(onCheap),
    });
    expect(cheapOnes.requests).toMatchObject({ rerouted: 120, refused: 0 });
  });

  it('say nothing of what was refused then', async () => {
    const refused = record({
      outcome: Outcome.DENIED,
      statusCode: 429,
      errorCode: 'limit.rate_exceeded',
      provider: '',
      providerSlug: '',
      costKnown: false,
      usageReported: false,
    });
    const report = await simulated([refused, ...burst(10)], { rateLimits: [tenAMinute] });
    expect(report.requests).toMatchObject({ unchanged: 10, undecided: 1, refused: 0 });
    expect(report.undecided).toEqual([{ reason: 'refused_then', requests: 1, before_nano_usd: 0 }]);
  });

  it('lists of models refuse a target, and a fallback of then takes over', async () => {
    const then = { strategy: { mode: 'fallback' }, targets: [onDear, onCheap] };
    const decisionJson =
      '{"mode":"fallback","targets":2,"choices":[{"path":"config","mode":"fallback","picked":0,"reason":"order"}]}';
    const records = [
      record({ optionPath: 'config.targets[0]', decisionJson }),
      record({ configVersionId: '' }),
    ];
    const report = await simulated(
      records,
      { allowedModels: [{ provider: 'dear', models: [] }] },
      { then },
    );
    expect(report.routes).toMatchObject([{ to: [one('cheap', 'anthropic')], requests: 1 }]);
    expect(report.refusals).toMatchObject([{ refused_by: 'allowed_models', requests: 1 }]);
  });
});

describe('bounds', () => {
  it('stops at its requests and its time, and says where it was', async () => {
    const records = [0, 1, 2, 3].map((second) =>
      record({ createdAtMs: BigInt(startMs + second * 1000) }),
    );
    const few = await simulated(records, { requestsMax: 2, config: changed(onCheap) });
    expect(few).toMatchObject({
      is_complete: false,
      stopped_by: 'requests',
      requests: { replayed: 2 },
      replayed_to: new Date(startMs + 1000).toISOString(),
    });
    let nowMs = 0;
    const clock = () => (nowMs += 20_000);
    const short = await simulated(records, { config: changed(onCheap) }, { clock });
    expect(short).toMatchObject({ stopped_by: 'time', requests: { replayed: 2 } });
  });

  it('replays retries as one visit, and requests that died only where nothing is routed anew', async () => {
    const first = record({
      statusCode: 500,
      outcome: Outcome.UPSTREAM_ERROR,
      costNanoUsd: 0n,
      usageReported: false,
    });
    const retry = record({ requestId: first.requestId, entryId: first.id });
    const lost = record({ outcome: Outcome.LOST, statusCode: 0 });
    const report = await simulated([first, retry, lost], { config: changed(onDear) });
    expect(report.requests).toMatchObject({ replayed: 2, unchanged: 1, undecided: 1 });
    expect(report.undecided).toMatchObject([{ reason: 'outcome_not_recorded' }]);
  });
});

it('takes less than half a millisecond of work for a request with config, conditions and limits', async () => {
  const weighted = {
    strategy: { mode: 'fallback' },
    targets: [
      { strategy: { mode: 'loadbalance' }, targets: [onDear, { ...onCheap, weight: 2 }] },
      onCheap,
    ],
  };
  const records = Array.from({ length: many }, (_, number) =>
    record({
      createdAtMs: BigInt(startMs + number),
      apiKeyId: `key-${number % 100}`,
      metadata: { tier: String(number % 3) },
    }),
  );
  const spentMs = ownTime();
  const report = await simulated(records, {
    config: changed(weighted),
    rateLimits: [
      {
        conditions: [{ key: 'metadata.tier', value: ['1', '2'] }],
        group_by: [{ key: 'api_key' }],
        type: 'tokens',
        unit: 'rpm',
        value: 1_000_000,
      },
    ],
  });
  expect(report.requests.replayed).toBe(many);
  // 100,000 are to take a minute at most, which leaves some for reading them.
  expect((1000 * spentMs()) / many).toBeLessThan(500);
});
