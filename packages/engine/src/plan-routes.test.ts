import { parseConfigDocument, storedConfigCaps } from '@sluice/contracts';
import { describe, expect, it } from 'vitest';
import { compileConfig, directConfig } from './compile-config.ts';
import { describeDecision } from './describe-decision.ts';
import { flattenPlan } from './flatten-plan.ts';
import type { RoutingFacts, RoutingState } from './plan.ts';
import { planRoutes, stickyKeys } from './plan-routes.ts';

const breaker = { failure_threshold: 1, cooldown_interval: 30_000 };
const codes = (paths: readonly string[]) => new Set(paths.map((path) => `config.targets${path}`));

function compiled(document: object) {
  const parsed = parseConfigDocument(document, 'ignore', storedConfigCaps);
  if (!parsed.ok) throw new Error(parsed.faults.join('; '));
  return compileConfig(parsed.config);
}

const request: RoutingFacts = {
  metadata: {},
  params: {},
  headers: {},
  pathname: '/v1/chat/completions',
  scope: 'workspace/config',
};

const world: RoutingState = {
  nowMs: 1_700_000_000_000,
  random: () => 0,
  openTargets: undefined,
  latencyMs: () => undefined,
  costNanoUsd: () => undefined,
  stickyChild: () => undefined,
};

/** A fixed sequence in [0, 1). */
function sequence(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

function paths(document: object, state: Partial<RoutingState> = {}, facts = request): string[] {
  return flattenPlan(planRoutes(compiled(document), facts, { ...world, ...state })).map(
    ({ path }) => path.replace(/^config\.targets/, ''),
  );
}

function targets(count: number, settings: object = {}): object[] {
  return Array.from({ length: count }, (_, index) => ({ provider: `@p${index}`, ...settings }));
}

describe('planRoutes', () => {
  it('gives requests without a config one target, the same plan each time', () => {
    const plan = planRoutes(directConfig, request, world);
    expect(plan.root).toMatchObject({ kind: 'target', target: { path: 'config', index: 0 } });
    expect(planRoutes(directConfig, request, world)).toBe(plan);
  });

  it('allocates nothing for chains that no request can change', () => {
    const config = compiled({
      strategy: { mode: 'fallback' },
      targets: [{ targets: targets(2) }, { provider: '@b' }],
    });
    expect(planRoutes(config, request, world)).toBe(config.staticPlan);
    expect(config.staticPlan?.choices.map(({ path }) => path)).toEqual([
      'config',
      'config.targets[0]',
    ]);
  });

  it('keeps original indexes when targets are left out', () => {
    const document = { strategy: { mode: 'fallback' }, cb_config: breaker, targets: targets(3) };
    expect(paths(document, { openTargets: codes(['[1]']) })).toEqual(['[0]', '[2]']);
    expect(paths(document, { openTargets: codes(['[0]', '[1]']) })).toEqual(['[2]']);
  });

  it('uses all targets when all circuits are open', () => {
    const document = { strategy: { mode: 'fallback' }, cb_config: breaker, targets: targets(2) };
    const openTargets = codes(['[0]', '[1]']);
    expect(paths(document, { openTargets })).toEqual(['[0]', '[1]']);
    const plan = planRoutes(compiled(document), request, { ...world, openTargets });
    expect(plan.choices).toEqual([
      { path: 'config', mode: 'fallback', picked: 0, reason: 'all-open', open: [0, 1] },
    ]);
  });

  it('counts a strategy as open when all targets it can choose are', () => {
    const document = {
      strategy: { mode: 'fallback' },
      cb_config: breaker,
      targets: [
        {
          strategy: { mode: 'loadbalance' },
          targets: [{ provider: '@a' }, { provider: '@b' }, { provider: '@never', weight: 0 }],
        },
        { provider: '@c' },
      ],
    };
    const inner = ['[0].targets[0]', '[0].targets[1]'];
    expect(paths(document, { openTargets: codes([inner[0] ?? '']) })).toEqual([inner[1], '[1]']);
    expect(paths(document, { openTargets: codes(inner) })).toEqual(['[1]']);
  });

  it('takes the first healthy target of a single', () => {
    const document = { cb_config: breaker, targets: targets(2) };
    expect(paths(document)).toEqual(['[0]']);
    expect(paths(document, { openTargets: codes(['[0]']) })).toEqual(['[1]']);
    expect(paths(document, { openTargets: codes(['[0]', '[1]']) })).toEqual(['[0]']);
  });

  it('ignores circuits that the config has not', () => {
    expect(paths({ targets: targets(2) }, { openTargets: codes(['[0]']) })).toEqual(['[0]']);
  });
});

describe('loadbalance', () => {
  const count = 60_000;

  /** Chi-square of observed choices against weights; the bound is that of p = 0.001. */
  function chiSquare(weights: readonly number[], openTargets?: ReadonlySet<string>) {
    const config = compiled({
      strategy: { mode: 'loadbalance' },
      cb_config: breaker,
      targets: weights.map((weight, index) => ({ provider: `@p${index}`, weight })),
    });
    const state = { ...world, random: sequence(7), openTargets };
    const seen = weights.map(() => 0);
    for (let draw = 0; draw < count; draw++) {
      const picked = planRoutes(config, request, state).choices[0]?.picked ?? -1;
      seen[picked] = (seen[picked] ?? 0) + 1;
    }
    const eligible = weights.map((weight, index) =>
      openTargets?.has(`config.targets[${index}]`) ? 0 : weight,
    );
    const total = eligible.reduce((sum, weight) => sum + weight, 0);
    let statistic = 0;
    for (const [index, weight] of eligible.entries()) {
      const expected = (count * weight) / total;
      if (weight === 0) expect(seen[index]).toBe(0);
      else statistic += ((seen[index] ?? 0) - expected) ** 2 / expected;
    }
    return statistic;
  }

  it('follows the weights', () => {
    expect(chiSquare([5, 3, 1])).toBeLessThan(13.8);
    expect(chiSquare([0, 0.5, 0, 0.25, 0.25])).toBeLessThan(13.8);
  });

  it('keeps the proportions of what is left when circuits are open', () => {
    expect(chiSquare([5, 3, 1, 4], codes(['[0]']))).toBeLessThan(13.8);
    expect(chiSquare([1, 2, 3, 4, 5], codes(['[1]', '[3]', '[4]']))).toBeLessThan(10.9);
    expect(chiSquare([1, 2, 3, 4], codes(['[2]', '[3]']))).toBeLessThan(10.9);
  });

  it('never chooses weight 0, not even when everything else is open', () => {
    const document = {
      strategy: { mode: 'loadbalance' },
      cb_config: breaker,
      targets: [{ provider: '@a', weight: 0 }, { provider: '@b' }],
    };
    for (const random of [0, 0.5, 0.999999])
      expect(paths(document, { random: () => random, openTargets: codes(['[1]']) })).toEqual([
        '[1]',
      ]);
  });

  it('picks among a thousand as exactly as among three, also with some open', () => {
    const weights = Array.from(
      { length: 1000 },
      (_, index) => (index % 5) + (index === 999 ? 1 : 0),
    );
    const openTargets = codes(['[1]', '[2]', '[500]', '[998]', '[999]']);
    // The 99.9 % point of chi-square with about 800 degrees of freedom.
    expect(chiSquare(weights)).toBeLessThan(930);
    expect(chiSquare(weights, openTargets)).toBeLessThan(930);
  });

  it('stays inside the rotation at the ends of the random numbers', () => {
    const document = {
      strategy: { mode: 'loadbalance' },
      cb_config: breaker,
      targets: [0, 0.1, 0.2, 0.7, 0].map((weight) => ({ provider: '@p', weight })),
    };
    const almostOne = 1 - 2 ** -53;
    expect(paths(document, { random: () => 0 })).toEqual(['[1]']);
    expect(paths(document, { random: () => almostOne })).toEqual(['[3]']);
    const openTargets = codes(['[3]']);
    expect(paths(document, { random: () => almostOne, openTargets })).toEqual(['[2]']);
  });

  it('says by which number it chose, and traces the shares', () => {
    const config = compiled({
      strategy: { mode: 'loadbalance' },
      targets: [
        { provider: '@a', weight: 1 },
        { provider: '@b', weight: 3 },
      ],
    });
    const plan = planRoutes(config, request, { ...world, random: () => 0.5 }, { trace: true });
    expect(plan.choices).toEqual([
      {
        path: 'config',
        mode: 'loadbalance',
        picked: 1,
        reason: 'weight',
        random: 0.5,
        scores: [0.25, 0.75],
      },
    ]);
  });
});

describe('sticky', () => {
  const strategy = {
    mode: 'loadbalance',
    sticky: { enabled: true, hash_fields: ['metadata.user_id'], ttl: 60 },
  };
  const document = {
    strategy,
    cb_config: breaker,
    targets: ['a', 'b', 'c'].map((name) => ({ name, provider: `@${name}` })),
  };
  const ofUser = (user: string): RoutingFacts => ({ ...request, metadata: { user_id: user } });

  function plan(config: object, user: string, state: Partial<RoutingState> = {}) {
    const made = planRoutes(compiled(config), ofUser(user), { ...world, ...state });
    return { ...made.choices[0], stored: made.sticky };
  }

  it('lets replicas agree without talking, and has the assignment stored', () => {
    const first = plan(document, 'u1', { random: () => 0.1 });
    const second = plan(document, 'u1', { random: () => 0.9 });
    expect(second).toEqual(first);
    const [key] = stickyKeys(compiled(document), ofUser('u1'));
    expect(first.stored).toEqual([{ key: key?.key, child: expect.any(String), ttlMs: 60_000 }]);
    expect(first.reason).toBe('sticky-new');
  });

  it('keeps a remembered target, also after the period in which it was chosen', () => {
    const stickyChild = () => 'name:c';
    for (const nowMs of [1_700_000_000_000, 1_800_000_000_000])
      expect(plan(document, 'u1', { stickyChild, nowMs })).toMatchObject({
        picked: 2,
        reason: 'sticky',
        stored: [],
      });
  });

  it('chooses anew for one request while the circuit is open, and keeps the assignment', () => {
    const state = { stickyChild: () => 'name:c', openTargets: codes(['[2]']) };
    const away = plan(document, 'u1', state);
    expect(away).toMatchObject({ reason: 'sticky-away', stored: [], open: [2] });
    expect(away.picked).not.toBe(2);
    expect(plan(document, 'u1', state).picked).toBe(away.picked);
  });

  it('chooses anew for good when the target is gone or out of rotation', () => {
    expect(plan(document, 'u1', { stickyChild: () => 'name:gone' })).toMatchObject({
      reason: 'sticky-new',
      stored: [{ ttlMs: 60_000 }],
    });
    const targets = document.targets.map((target) => ({ ...target, weight: 1 }));
    targets[2] = { name: 'c', provider: '@c', weight: 0 };
    const chosen = plan({ ...document, targets }, 'u1', { stickyChild: () => 'name:c' });
    expect(chosen.reason).toBe('sticky-new');
    expect(chosen.picked).not.toBe(2);
  });

  it('is plain weight for requests without any of the fields', () => {
    const config = compiled(document);
    expect(stickyKeys(config, request)).toEqual([]);
    const made = planRoutes(config, request, { ...world, random: () => 0.99 });
    expect(made.choices[0]).toMatchObject({ picked: 2, reason: 'weight' });
    expect(made.sticky).toEqual([]);
  });

  it('gives different users, types and scopes different keys', () => {
    const config = compiled({
      ...document,
      strategy: {
        ...strategy,
        sticky: { ...strategy.sticky, hash_fields: ['params.a', 'params.b'] },
      },
    });
    const keyOf = (params: RoutingFacts['params'], scope = 's') =>
      stickyKeys(config, { ...request, params, scope })[0]?.key;
    const keys = [
      keyOf({ a: '1' }),
      keyOf({ a: 1 }),
      keyOf({ b: '1' }),
      keyOf({ a: '1', b: '' }),
      keyOf({ a: '1\nparams.b="2"' }),
      keyOf({ a: '1', b: '2' }),
      keyOf({ a: '1' }, 'other'),
    ];
    expect(new Set(keys).size).toBe(keys.length);
    for (const key of keys) expect(key).toMatch(/^[0-9a-f]{16}$/);
  });

  it('spreads users by weight', () => {
    const config = compiled({
      strategy,
      targets: [5, 3, 2].map((weight, index) => ({ provider: `@p${index}`, weight })),
    });
    const seen = [0, 0, 0];
    for (let user = 0; user < 10_000; user++) {
      const picked = planRoutes(config, ofUser(`user-${user}`), world).choices[0]?.picked ?? -1;
      seen[picked] = (seen[picked] ?? 0) + 1;
    }
    const statistic = [5000, 3000, 2000].reduce(
      (sum, expected, index) => sum + ((seen[index] ?? 0) - expected) ** 2 / expected,
      0,
    );
    expect(statistic).toBeLessThan(13.8);
  });

  it('knows unnamed targets again after they changed places, weights and keys', () => {
    const targets = [
      { provider: '@a', override_params: { model: 'x', top_p: 1 } },
      { provider: '@b', api_key: 'old' },
      { provider: '@b', custom_host: 'https://b.example' },
    ];
    const moved = [
      { provider: '@b', api_key: 'new', weight: 7 },
      { custom_host: 'https://b.example', provider: '@b' },
      { override_params: { top_p: 1, model: 'x' }, provider: '@a' },
    ];
    const places = new Map<unknown, unknown>();
    for (let user = 0; user < 50; user++) {
      const { picked, stored } = plan({ strategy, targets }, `u${user}`);
      const child = stored[0]?.child ?? '';
      const after = plan({ strategy, targets: moved }, `u${user}`, { stickyChild: () => child });
      expect(after.reason).toBe('sticky');
      places.set(picked, after.picked);
    }
    expect([0, 1, 2].map((index) => places.get(index))).toEqual([2, 0, 1]);
  });

  it('tells equal targets apart', () => {
    const config = { strategy, targets: targets(1).concat(targets(1), targets(1)) };
    const picked = new Set<unknown>();
    for (let user = 0; user < 50; user++) picked.add(plan(config, `u${user}`).stored[0]?.child);
    expect(picked.size).toBe(3);
  });
});

describe('conditional', () => {
  const document = {
    strategy: {
      mode: 'conditional',
      conditions: [
        // biome-ignore-start lint/suspicious/noThenProperty: `then` is the published name of the field.
        { query: { 'metadata.tier': 'gold' }, then: 'fast' },
        { query: { 'metadata.tier': { $in: ['gold', 'silver'] } }, then: 'slow' },
        // biome-ignore-end lint/suspicious/noThenProperty: as above
      ],
      default: 'slow',
    },
    cb_config: breaker,
    targets: [
      { name: 'slow', provider: '@slow' },
      { name: 'fast', provider: '@fast' },
    ],
  };
  const tier = (value: string) => ({ ...request, metadata: { tier: value } });

  it('takes the first match, else the default, whatever the circuits say', () => {
    const openTargets = codes(['[1]']);
    expect(paths(document, { openTargets }, tier('gold'))).toEqual(['[1]']);
    expect(paths(document, {}, tier('silver'))).toEqual(['[0]']);
    expect(paths(document, {}, tier('lead'))).toEqual(['[0]']);
  });

  it('names the condition that matched', () => {
    const config = compiled(document);
    expect(planRoutes(config, tier('silver'), world).choices).toEqual([
      { path: 'config', mode: 'conditional', picked: 0, reason: 'condition', condition: 1 },
    ]);
    expect(planRoutes(config, tier('lead'), world).choices).toEqual([
      { path: 'config', mode: 'conditional', picked: 0, reason: 'default' },
    ]);
  });

  it('refuses requests that match nothing when there is no default', () => {
    const { default: _, ...strategy } = document.strategy;
    const plan = planRoutes(compiled({ ...document, strategy }), tier('lead'), world);
    expect(plan.root).toMatchObject({ kind: 'refusal', path: 'config' });
    expect(plan.choices).toEqual([
      { path: 'config', mode: 'conditional', picked: -1, reason: 'no-match' },
    ]);
  });
});

describe('least-latency', () => {
  const document = { strategy: { mode: 'least_latency' }, cb_config: breaker, targets: targets(4) };
  const latencies = (...averages: (number | undefined)[]) => ({
    latencyMs: (path: string) => averages[Number(/\d+/.exec(path)?.[0])],
  });

  it('takes the lowest average, the first of equal ones', () => {
    expect(paths(document, latencies(30, 20, 20, 40))).toEqual(['[1]']);
  });

  it('spreads requests over targets that were never measured', () => {
    const state = latencies(10, undefined, 5, undefined);
    expect(paths(document, { ...state, random: () => 0.2 })).toEqual(['[1]']);
    expect(paths(document, { ...state, random: () => 0.8 })).toEqual(['[3]']);
  });

  it('leaves out open circuits, and looks at all when all are open', () => {
    expect(paths(document, { ...latencies(30, 20, 25, 40), openTargets: codes(['[1]']) })).toEqual([
      '[2]',
    ]);
    const openTargets = codes(['[0]', '[1]', '[2]', '[3]']);
    expect(paths(document, { ...latencies(30, 20, 25, 40), openTargets })).toEqual(['[1]']);
  });

  it('names the paths that a target is measured under, nested strategies included', () => {
    const config = compiled({
      strategy: { mode: 'least-latency' },
      targets: [
        { provider: '@a' },
        { strategy: { mode: 'fallback' }, targets: [{ provider: '@b' }] },
      ],
    });
    expect(config.targets.map(({ latencyPaths }) => latencyPaths)).toEqual([
      ['config.targets[0]'],
      ['config.targets[1]'],
    ]);
  });
});

describe('lowest-cost', () => {
  const costs = (...prices: (number | undefined)[]) => ({
    costNanoUsd: ({ index }: { index: number }) => prices[index],
  });

  it('takes the cheapest, unknown prices last, equal ones in order', () => {
    const document = { strategy: { mode: 'lowest-cost' }, targets: targets(4) };
    expect(paths(document, costs(undefined, 7, 5, 5))).toEqual(['[2]']);
    expect(paths(document, costs())).toEqual(['[0]']);
  });

  it('judges a strategy by the cheapest of its targets', () => {
    const document = {
      strategy: { mode: 'lowest_cost' },
      targets: [
        { provider: '@a' },
        { strategy: { mode: 'fallback' }, targets: targets(2) },
        { provider: '@b' },
      ],
    };
    expect(compiled(document).needsCosts).toBe(true);
    expect(paths(document, costs(4, 9, 3, 5))).toEqual(['[1].targets[0]', '[1].targets[1]']);
  });

  it('leaves out open circuits', () => {
    const document = { strategy: { mode: 'lowest-cost' }, cb_config: breaker, targets: targets(2) };
    expect(paths(document, { ...costs(1, 2), openTargets: codes(['[0]']) })).toEqual(['[1]']);
  });
});

describe('flattenPlan', () => {
  it('lists targets in order, with what leads from one to the next', () => {
    const config = compiled({
      strategy: { mode: 'fallback' },
      targets: [
        { strategy: { mode: 'fallback', on_status_codes: [429] }, targets: targets(2) },
        { provider: '@c' },
      ],
    });
    expect(flattenPlan(planRoutes(config, request, world))).toEqual([
      {
        path: 'config.targets[0].targets[0]',
        reason: 'order',
        next: [
          { path: 'config.targets[0].targets[1]', on: [429] },
          { path: 'config.targets[1]', on: 'not-2xx' },
        ],
      },
      {
        path: 'config.targets[0].targets[1]',
        reason: 'order',
        next: [{ path: 'config.targets[1]', on: 'not-2xx' }],
      },
      { path: 'config.targets[1]', reason: 'order', next: [] },
    ]);
  });
});

describe('describeDecision', () => {
  it('is compact JSON with every choice', () => {
    const config = compiled({ strategy: { mode: 'loadbalance' }, targets: targets(2) });
    const plan = planRoutes(config, request, { ...world, random: () => 0.75 }, { trace: true });
    expect(JSON.parse(describeDecision(config, plan))).toEqual({
      mode: 'loadbalance',
      targets: 2,
      choices: [{ path: 'config', mode: 'loadbalance', picked: 1, reason: 'weight', random: 0.75 }],
    });
  });

  it('stays below 4 KB, and says how much it left out', () => {
    const inner = { strategy: { mode: 'loadbalance' }, targets: targets(2) };
    const config = compiled({
      strategy: { mode: 'fallback' },
      targets: Array.from({ length: 200 }, () => inner),
    });
    const text = describeDecision(config, planRoutes(config, request, world));
    expect(text.length).toBeLessThanOrEqual(4096);
    const { choices, more } = JSON.parse(text);
    expect(choices.length + more).toBe(201);
  });

  it('counts open circuits when they are too many to list', () => {
    const config = compiled({
      strategy: { mode: 'fallback' },
      cb_config: breaker,
      targets: targets(100),
    });
    const openTargets = codes(Array.from({ length: 60 }, (_, index) => `[${index}]`));
    const text = describeDecision(config, planRoutes(config, request, { ...world, openTargets }));
    expect(JSON.parse(text).choices[0]).toMatchObject({ picked: 60, openCount: 60 });
  });
});

describe('sticky by the beginning of a prompt', () => {
  const strategy = {
    mode: 'loadbalance',
    sticky: { enabled: true, hash_fields: ['prompt.prefix'] },
  };
  const named = (...names: string[]) => names.map((name) => ({ name, provider: `@${name}` }));
  const document = { strategy, cb_config: breaker, targets: named('a', 'b', 'c') };
  const asking = (question: string, ...later: object[]): RoutingFacts => ({
    ...request,
    params: { messages: [{ role: 'user', content: question }, ...later] } as RoutingFacts['params'],
  });
  const chosen = (config: object, facts: RoutingFacts, state: Partial<RoutingState> = {}) =>
    planRoutes(compiled(config), facts, { ...world, ...state }).choices[0];
  const answered = [
    { role: 'assistant', content: 'Yes.' },
    { role: 'user', content: 'Sure?' },
  ];

  it('keeps a conversation at one target, and remembers nothing', () => {
    const config = compiled(document);
    expect(stickyKeys(config, asking('Is it?'))).toEqual([]);
    const first = planRoutes(config, asking('Is it?'), { ...world, random: () => 0.1 });
    const late = { ...world, random: () => 0.9, nowMs: world.nowMs + 86_400_000 };
    const second = planRoutes(config, asking('Is it?', ...answered), late);
    expect(first.choices[0]).toMatchObject({ reason: 'prompt' });
    expect(second).toEqual(first);
    expect(first.sticky).toEqual([]);
  });

  it('spreads conversations by weight', () => {
    const targets = [{ ...named('a')[0], weight: 3 }, ...named('b')];
    const counts = [0, 0];
    for (let index = 0; index < 2000; index++) {
      const at = chosen({ strategy, targets }, asking(`question ${index}`))?.picked ?? -1;
      counts[at] = (counts[at] ?? 0) + 1;
    }
    expect((counts[0] ?? 0) / 2000).toBeGreaterThan(0.7);
    expect((counts[0] ?? 0) / 2000).toBeLessThan(0.8);
  });

  it('goes to the next by the same hash while the circuit is open, and comes back', () => {
    const facts = asking('Is it?');
    const traced = planRoutes(compiled(document), facts, world, { trace: true }).choices[0];
    const [own = -1, next = -1] = traced?.order ?? [];
    expect(traced).toMatchObject({ picked: own, reason: 'prompt' });
    expect(new Set(traced?.order)).toEqual(new Set([0, 1, 2]));
    const away = chosen(document, facts, { openTargets: codes([`[${own}]`]) });
    expect(away).toMatchObject({ picked: next, reason: 'prompt-away', open: [own] });
    expect(chosen(document, facts, { openTargets: codes([`[${next}]`]) })?.picked).toBe(own);
  });

  it('moves those alone whose target left', () => {
    const before = Array.from({ length: 300 }, (_, index) => asking(`question ${index}`));
    const left = { ...document, targets: named('a', 'c') };
    for (const facts of before) {
      const was = ['a', 'b', 'c'][chosen(document, facts)?.picked ?? -1];
      const is = ['a', 'c'][chosen(left, facts)?.picked ?? -1];
      if (was !== 'b') expect(is).toBe(was);
    }
  });

  it('differs from tenant to tenant', () => {
    const order = (scope: string) =>
      Array.from(
        { length: 50 },
        (_, index) => chosen(document, { ...asking(`question ${index}`), scope })?.picked,
      );
    expect(order('one')).not.toEqual(order('two'));
  });

  it('is plain weight for what is no conversation', () => {
    expect(chosen(document, request, { random: () => 0.99 })).toMatchObject({
      picked: 2,
      reason: 'weight',
    });
  });
});
