import { parseConfigDocument, storedConfigCaps } from '@sluice/contracts';
import { describe, expect, it } from 'vitest';
import { compileConfig, directConfig } from '../compile-config.ts';
import { compileBudgetPolicy, compileRatePolicy } from '../limits/policies.ts';
import type { PastRequest, PastVisit } from '../past/past-request.ts';
import type { Choice } from '../plan.ts';
import { replayedConfig } from './foresee-routes.ts';
import { LimitReplay } from './limit-replay.ts';
import { type ReplayedWay, type ReplayParts, replayRequest } from './replay-request.ts';

const providers: Readonly<Record<string, string>> = { a: 'openai', b: 'anthropic', c: 'cohere' };

const parts: ReplayParts = {
  limits: new LimitReplay([]),
  allowedModels: () => undefined,
  providerOf: (slug) => providers[slug],
  useAt: ({ tokens }) => ({ tokens, costNanoUsd: tokens * 10 }),
};

/** Nothing in it stands for a request without a config. */
function compiled(document: object) {
  if (Object.keys(document).length === 0) return directConfig;
  const parsed = parseConfigDocument(document, 'ignore', storedConfigCaps);
  if (!parsed.ok) throw new Error(parsed.faults.join('; '));
  return compileConfig(parsed.config);
}

/** One that asked `@a` for `small` and got its answer, unless said otherwise. */
function pastRequest(given: Partial<PastRequest> & { metadata?: Record<string, string> } = {}) {
  const { metadata = {}, ...own } = given;
  const past: PastRequest = {
    atMs: 1000,
    endedAtMs: 1500,
    request: {
      organisationId: 'o',
      workspaceId: 'w',
      workspaceSlug: 'main',
      apiKeyId: 'k',
      apiKeySlug: '',
      endpoint: 'chatComplete',
      metadata,
      configSlug: undefined,
      promptSlug: undefined,
    },
    facts: { metadata, params: {}, headers: {}, pathname: '/v1/chat/completions', scope: 'w' },
    knowsParams: false,
    knowsHeaders: false,
    withheldHeaders: new Set(),
    provider: undefined,
    choices: new Map(),
    visits: [visit('a', 'small')],
    tokens: 7,
    wasRefused: false,
    ...own,
  };
  return past;
}

function visit(slug: string, model: string, own: Partial<PastVisit> = {}): PastVisit {
  return {
    target: { provider: providers[slug] ?? '', providerSlug: slug, model },
    path: 'config',
    status: 200,
    isCacheHit: false,
    tokens: 7,
    costNanoUsd: 70,
    ...own,
  };
}

function chosen(...choices: Choice[]) {
  return new Map(choices.map((choice) => [choice.path, choice]));
}

/** What becomes of a request that was made with one config, with another. */
function ways(before: object, after: object, past: PastRequest, own: Partial<ReplayParts> = {}) {
  const config = replayedConfig(compiled(after), compiled(before));
  return replayRequest(past, config, { ...parts, ...own }).ways.map(shown);
}

/** `@b/large?` was not asked then, `@a/small!model` is refused. */
function shown({ share, visits, unknown }: ReplayedWay): string {
  const asked = visits.map(({ target: { providerSlug, model }, past, refusal }) => {
    const mark = refusal === undefined ? (past === undefined ? '?' : '') : `!${refusal.by}`;
    return `@${providerSlug}/${model}${mark}`;
  });
  return `${share} ${[...asked, ...(unknown === undefined ? [] : [unknown])].join(' ')}`;
}

const targetA = { provider: '@a', override_params: { model: 'small' } };
const targetB = { provider: '@b', override_params: { model: 'large' } };

describe('targets', () => {
  it('says what another target is, and not what it would have answered', () => {
    expect(ways(targetA, targetA, pastRequest())).toEqual(['1 @a/small']);
    expect(ways(targetA, targetB, pastRequest())).toEqual(['1 @b/large?']);
  });

  it('takes the same target for the same, wherever it stands, and whatever its circuit', () => {
    const after = {
      strategy: { mode: 'single' },
      targets: [{ ...targetA, cb_config: { failure_threshold: 1, cooldown_interval: 30_000 } }],
    };
    expect(ways(targetA, after, pastRequest())).toEqual(['1 @a/small']);
  });

  it('does not take a target with other settings for the same', () => {
    const after = { ...targetA, request_timeout: 5 };
    expect(ways(targetA, after, pastRequest())).toEqual(['1 @a/small?']);
  });

  it('asks for the model of the body where it is known, and says where it is not', () => {
    const past = pastRequest();
    expect(ways({}, { provider: '@b' }, past)).toEqual(['1 body_not_kept']);
    const withModel = { ...past, facts: { ...past.facts, params: { model: '@a/small' } } };
    expect(ways({}, { provider: '@b' }, withModel)).toEqual(['1 @b/small?']);
    const named = { ...withModel, provider: '@a' };
    expect(ways({}, { retry: { attempts: 2 } }, named)).toEqual(['1 @a/small?']);
  });

  it('refuses a provider that the workspace has not', () => {
    const [way] = ways(targetA, { ...targetB, provider: '@nobody' }, pastRequest());
    expect(way).toBe('1 @undefined/undefined!provider');
  });

  it('refuses with a prompt in the config what is asked of no saved prompt, as gateways do', () => {
    const after = { targets: [targetB, { prompt_id: 'pp-1' }] };
    const past = pastRequest();
    const ofPrompt = { ...past, request: { ...past.request, promptSlug: 'pp-2' } };
    const free = { ...past, request: { ...past.request, endpoint: 'listModels' } };
    expect(ways(targetA, after, past)).toEqual(['1 @undefined/undefined!route']);
    for (const other of [ofPrompt, free])
      expect(ways(targetA, after, other)).toEqual(['1 @b/large?']);
  });

  it('says nothing of what a cache would have held for another target', () => {
    const past = pastRequest({ visits: [visit('a', 'small', { isCacheHit: true })] });
    expect(ways(targetA, targetA, past)).toEqual(['1 @a/small']);
    expect(ways(targetA, targetB, past)).toEqual(['1 @b/large? answered_from_cache']);
  });

  it('says nothing of what was refused then', () => {
    const past = pastRequest({ wasRefused: true });
    expect(ways(targetA, targetB, past)).toEqual(['1 refused_then']);
  });
});

describe('fallbacks', () => {
  const before = { strategy: { mode: 'fallback' }, targets: [targetA, targetB] };
  const past = pastRequest({
    visits: [
      visit('a', 'small', { path: 'config.targets[0]', status: 500, tokens: 0, costNanoUsd: 0 }),
      visit('b', 'large', { path: 'config.targets[1]' }),
    ],
  });

  it('goes on by the status that a target had', () => {
    expect(ways(before, before, past)).toEqual(['1 @a/small @b/large']);
    const onlyOn429 = { ...before, strategy: { mode: 'fallback', on_status_codes: [429] } };
    expect(ways(before, onlyOn429, past)).toEqual(['1 @a/small']);
    const turned = { ...before, targets: [targetB, targetA] };
    expect(ways(before, turned, past)).toEqual(['1 @b/large']);
  });

  it('knows no further than a target that was not asked', () => {
    const after = { ...before, targets: [targetA, { provider: '@c/x' }, targetB] };
    expect(ways(before, after, past)).toEqual(['1 @a/small @c/x?']);
  });

  it('does not go on where it did not then, though the status says so', () => {
    const gone = pastRequest({
      visits: [visit('a', 'small', { path: 'config.targets[0]', status: 499 })],
    });
    expect(ways(before, before, gone)).toEqual(['1 @a/small']);
  });

  it('goes on from a target that refuses the model now', () => {
    const allowedModels = (slug: string) => (slug === 'a' ? new Set(['other']) : undefined);
    const answered = pastRequest({ visits: [visit('a', 'small', { path: 'config.targets[0]' })] });
    expect(ways(before, before, answered, { allowedModels })).toEqual([
      '1 @a/small!model @b/large?',
    ]);
  });
});

describe('weights', () => {
  const weighted = (...weights: number[]) => ({
    strategy: { mode: 'loadbalance' },
    targets: [targetA, targetB].map((target, index) => ({
      ...target,
      weight: weights[index] ?? 0,
    })),
  });
  const past = pastRequest({
    visits: [visit('a', 'small', { path: 'config.targets[0]' })],
    choices: chosen({
      path: 'config',
      mode: 'loadbalance',
      picked: 0,
      reason: 'weight',
      random: 0.1,
    }),
  });

  it('has no winner of a draw that was not held, only shares', () => {
    expect(ways(weighted(1, 1), weighted(1, 3), past)).toEqual(['0.25 @a/small', '0.75 @b/large?']);
    expect(ways(weighted(1, 1), weighted(1, 0), past)).toEqual(['1 @a/small']);
  });

  it('holds to the draw of then where the weights are the same, whatever the targets are', () => {
    const after = weighted(2, 2);
    after.targets[1] = { provider: '@c/x', weight: 2 } as never;
    expect(ways(weighted(1, 1), after, past)).toEqual(['1 @a/small']);
  });

  it('tells no more ways apart than it may', () => {
    const deep = (depth: number): object =>
      depth === 0
        ? targetA
        : { strategy: { mode: 'loadbalance' }, targets: Array(4).fill(deep(depth - 1)) };
    expect(ways(targetA, deep(3), pastRequest())).toHaveLength(64);
    expect(ways(targetA, deep(4), pastRequest())).toEqual(['1 too_many_ways']);
  });

  it('measures and estimates nothing afterwards', () => {
    for (const [mode, reason] of [
      ['least-latency', 'latencies_not_kept'],
      ['lowest-cost', 'estimates_not_kept'],
    ])
      expect(
        ways(targetA, { strategy: { mode }, targets: [targetA, targetB] }, pastRequest()),
      ).toEqual([`1 ${reason}`]);
  });
});

describe('conditions', () => {
  const on = (query: object, byDefault = true) => ({
    strategy: {
      mode: 'conditional',
      // biome-ignore lint/suspicious/noThenProperty: `then` is the published name of the field.
      conditions: [{ query, then: 'b' }],
      ...(byDefault && { default: 'a' }),
    },
    targets: [
      { ...targetA, name: 'a' },
      { ...targetB, name: 'b' },
    ],
  });
  const gold = pastRequest({ metadata: { tier: 'gold', level: '1' } });

  it('asks metadata, which is kept', () => {
    expect(ways(targetA, on({ 'metadata.tier': 'gold' }), gold)).toEqual(['1 @b/large?']);
    expect(ways(targetA, on({ 'metadata.tier': 'silver' }), gold)).toEqual(['1 @a/small']);
    expect(ways(targetA, on({ 'metadata.other': 'x' }), gold)).toEqual(['1 @a/small']);
    expect(ways(targetA, on({ 'url.pathname': '/v1/chat/completions' }), gold)).toEqual([
      '1 @b/large?',
    ]);
  });

  it('knows no types of metadata, and says so where they decide', () => {
    expect(ways(targetA, on({ 'metadata.level': 1 }), gold)).toEqual(['1 metadata_types_not_kept']);
    expect(ways(targetA, on({ 'metadata.level': { $gte: 1 } }), gold)).toEqual(['1 @b/large?']);
  });

  it('says that it needs what was not kept, unless the rest decides', () => {
    const inBody = { 'params.max_tokens': { $gt: 100 } };
    expect(ways(targetA, on(inBody), gold)).toEqual(['1 body_not_kept']);
    expect(ways(targetA, on({ 'headers.x-team': 'a' }), gold)).toEqual(['1 headers_not_kept']);
    const both = (operator: string, tier: string) =>
      on({ [operator]: [inBody, { 'metadata.tier': tier }] });
    expect(ways(targetA, both('$and', 'silver'), gold)).toEqual(['1 @a/small']);
    expect(ways(targetA, both('$and', 'gold'), gold)).toEqual(['1 body_not_kept']);
    expect(ways(targetA, both('$or', 'gold'), gold)).toEqual(['1 @b/large?']);
    expect(ways(targetA, both('$or', 'silver'), gold)).toEqual(['1 body_not_kept']);
  });

  it('reads a body and headers that were kept, and no header whose value is withheld', () => {
    const kept: PastRequest = {
      ...gold,
      facts: { ...gold.facts, params: { max_tokens: 200 }, headers: { 'x-team': 'a' } },
      knowsParams: true,
      knowsHeaders: true,
      withheldHeaders: new Set(['x-hidden']),
    };
    expect(ways(targetA, on({ 'params.max_tokens': { $gt: 100 } }), kept)).toEqual(['1 @b/large?']);
    expect(ways(targetA, on({ 'params.other': 1 }), kept)).toEqual(['1 @a/small']);
    expect(ways(targetA, on({ 'headers.x-team': 'a' }), kept)).toEqual(['1 @b/large?']);
    expect(ways(targetA, on({ 'headers.x-hidden': 'a' }), kept)).toEqual(['1 headers_not_kept']);
    expect(ways(targetA, on({ 'headers.authorization': 'a' }), kept)).toEqual([
      '1 headers_not_kept',
    ]);
  });

  it('takes the choice of then where the conditions are the same, whatever was kept', () => {
    const config = on({ 'params.max_tokens': { $gt: 100 } });
    const past = pastRequest({
      visits: [visit('b', 'large', { path: 'config.targets[1]' })],
      choices: chosen({ path: 'config', mode: 'conditional', picked: 1, reason: 'condition' }),
    });
    expect(ways(config, config, past)).toEqual(['1 @b/large']);
  });

  it('refuses what no condition matches', () => {
    const [way] = ways(targetA, on({ 'metadata.tier': 'silver' }, false), gold);
    expect(way).toBe('1 @undefined/undefined!route');
  });
});

describe('limits', () => {
  const conditions = { workspaceId: 'w', conditions: [], groupBy: ['api_key'] };
  const rate = (type: string, value: number, groupBy = ['api_key']) =>
    compileRatePolicy(
      { ...conditions, groupBy, id: 'p', name: 'p' },
      { type, unit: 'rpm', value },
    )!;
  const limited = (...policies: Parameters<typeof Array.of<ReturnType<typeof rate>>>) => ({
    ...parts,
    limits: new LimitReplay(policies),
  });
  const at = (atMs: number, own: Partial<PastRequest> = {}) =>
    pastRequest({ atMs, endedAtMs: atMs + 500, ...own });

  it('10 requests a minute: of a burst of 15 five are refused, and the next minute begins anew', () => {
    const given = limited(rate('requests', 10));
    const refused = [...Array(15).keys(), 60]
      .map((second) => (second === 60 ? 60_000 : 30_000 + second * 100))
      .map((atMs) => replayRequest(at(atMs), undefined, given).refusedBy !== undefined);
    expect(refused).toEqual([...Array(10).fill(false), ...Array(5).fill(true), false]);
  });

  it('tokens count when a request has ended, in the minute in which it came', () => {
    const given = limited(rate('tokens', 10));
    const isRefused = (atMs: number) =>
      replayRequest(at(atMs), undefined, given).refusedBy !== undefined;
    // 7 tokens each: two come before the first has ended, and the third after both.
    expect([1000, 1100, 1700, 61_000].map(isRefused)).toEqual([false, false, true, false]);
  });

  it('money counts against a budget, refused requests do not', () => {
    const budget = compileBudgetPolicy(
      { ...conditions, id: 'p', name: 'p' },
      { id: '', type: 'cost', value: 140, period: undefined },
    )!;
    const given = limited(budget);
    const refused = Array.from({ length: 5 }, (_, index) =>
      replayRequest(at(index * 1000), undefined, given),
    ).map(({ refusedBy }) => refusedBy !== undefined);
    expect(refused).toEqual([false, false, true, true, true]);
  });

  it('a limit of a model refuses the target: who stands behind it would have been asked', () => {
    const before = { strategy: { mode: 'fallback' }, targets: [targetA, targetB] };
    const config = replayedConfig(compiled(before), compiled(before));
    const given = limited(rate('requests', 1, ['model']));
    const past = (atMs: number) =>
      at(atMs, { visits: [visit('a', 'small', { path: 'config.targets[0]' })] });
    const told = [1000, 2000].map((atMs) =>
      replayRequest(past(atMs), config, given).ways.map(shown),
    );
    expect(told).toEqual([['1 @a/small'], ['1 @a/small!limit @b/large?']]);
  });

  it('without a config, says that it does not know who stood behind a target that is refused', () => {
    const given = limited(rate('requests', 1, ['model']));
    const withFallback = chosen({ path: 'config', mode: 'fallback', picked: 0, reason: 'order' });
    const told = [1000, 2000, 3000].map((atMs, index) => {
      const past = at(atMs, index === 2 ? { choices: withFallback } : {});
      return replayRequest(past, undefined, given).ways.map(shown);
    });
    expect(told).toEqual([
      ['1 @a/small'],
      ['1 @a/small!limit'],
      ['1 @a/small!limit config_not_known'],
    ]);
  });

  it('a request that nobody was asked for does not count', () => {
    const given = {
      ...limited(rate('requests', 1)),
      allowedModels: () => new Set<string>(),
    };
    const refusals = [1000, 2000].map(
      (atMs) => replayRequest(at(atMs), undefined, given).refusedBy,
    );
    expect(refusals).toEqual([undefined, undefined]);
  });

  it('ends with a fault, not without memory, where there are too many groups', () => {
    const given = limited(rate('requests', 1));
    const past = at(1000);
    expect(() => {
      for (let number = 0; number <= 100_000; number++)
        replayRequest(
          { ...past, request: { ...past.request, apiKeyId: `key-${number}` } },
          undefined,
          given,
        );
    }).toThrow('more than 100000 groups');
  });
});
