import { type ConfigNode, parseConfigDocument } from '@sluice/contracts';
import { isLongForm } from '@sluice/testkit';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CompiledConfig, compileConfig } from './compile-config.ts';
import { describeDecision } from './describe-decision.ts';
import { flattenPlan } from './flatten-plan.ts';
import type { PastRequest, PastVisit } from './past/past-request.ts';
import type { Choice, RoutingFacts, RoutingState } from './plan.ts';
import { planRoutes, stickyKeys } from './plan-routes.ts';
import { replayedConfig } from './replay/foresee-routes.ts';
import { LimitReplay } from './replay/limit-replay.ts';
import { type ReplayParts, replayRequest } from './replay/replay-request.ts';
import type { RouteNode } from './route-node.ts';
import { type TargetResult, walkPlan } from './walk-plan.ts';

/** In the suite a quarter of the cases (`npm run test:long`: all). */
const runs = (all: number) => (isLongForm ? all : all / 4);

const breaker = { failure_threshold: 1, cooldown_interval: 30_000 };

const leaf = fc.record(
  {
    provider: fc.constantFrom('@a', '@b', '@c'),
    cb_config: fc.constant(breaker),
    weight: fc.constantFrom(0, 1, 2, 5),
  },
  { requiredKeys: ['provider'] },
);

const query = fc.oneof(
  fc.record({ 'metadata.tier': fc.constantFrom('gold', 'silver') }),
  fc.record({ 'params.n': fc.constantFrom({ $gt: 2 }, { $in: [1, 2] }, { $ne: 3 }) }),
  fc.record({ 'headers.x-team': fc.constantFrom({ $regex: '^a' }, { $nin: ['b'] }) }),
  fc.constant({ $or: [{ 'metadata.tier': 'gold' }, { 'url.pathname': { $regex: 'chat$' } }] }),
);

/** Any strategy over up to four children, three levels deep at most. */
const { node } = fc.letrec<{ node: ConfigNode; strategy: ConfigNode }>((tie) => ({
  node: fc.oneof({ maxDepth: 3, withCrossShrink: true }, leaf, tie('strategy'), tie('strategy')),
  strategy: fc
    .tuple(
      fc.constantFrom(
        'single',
        'fallback',
        'loadbalance',
        'conditional',
        'least-latency',
        'lowest-cost',
      ),
      fc.array(tie('node'), { minLength: 1, maxLength: 4 }),
      fc.record(
        {
          codes: fc.subarray([200, 400, 429, 500]),
          sticky: fc.constant({ enabled: true, hash_fields: ['metadata.user'] }),
          queries: fc.array(query, { minLength: 1, maxLength: 3 }),
          hasDefault: fc.boolean(),
          weight: fc.constantFrom(0, 1, 3),
        },
        { requiredKeys: ['queries', 'hasDefault'] },
      ),
    )
    .map(([mode, targets, settings]) => strategyNode(mode, targets, settings)),
}));

function strategyNode(
  mode: string,
  targets: ConfigNode[],
  settings: {
    codes?: number[];
    sticky?: object;
    queries: object[];
    hasDefault: boolean;
    weight?: number;
  },
): ConfigNode {
  const named = targets.map((target, index) => ({ ...target, name: `t${index}` }));
  const [first] = named;
  // A load balancer without any weight is refused, see the tests of documents.
  if (first !== undefined && named.every(({ weight }) => weight === 0)) first.weight = 1;
  const strategy: Record<string, unknown> = { mode };
  if (mode === 'fallback' && settings.codes !== undefined)
    strategy.on_status_codes = settings.codes;
  if (mode === 'loadbalance' && settings.sticky !== undefined) strategy.sticky = settings.sticky;
  if (mode === 'conditional') {
    strategy.conditions = settings.queries.map((query, index) =>
      // biome-ignore lint/suspicious/noThenProperty: `then` is the published name of the field.
      ({ query, then: `t${index % named.length}` }),
    );
    if (settings.hasDefault) strategy.default = 't0';
  }
  return {
    strategy,
    targets: named,
    ...(settings.weight === undefined ? {} : { weight: settings.weight }),
  } as ConfigNode;
}

const facts: fc.Arbitrary<RoutingFacts> = fc.record({
  metadata: fc.oneof(
    fc.record(
      { tier: fc.constantFrom('gold', 'silver', 'lead'), user: fc.constantFrom('u1', 'u2') },
      { requiredKeys: [] },
    ),
  ),
  params: fc.record({ n: fc.integer({ min: 0, max: 5 }) }, { requiredKeys: [] }),
  headers: fc.record({ 'x-team': fc.constantFrom('a', 'b') }, { requiredKeys: [] }),
  pathname: fc.constantFrom('/v1/chat', '/v1/embeddings'),
  scope: fc.constant('w/c'),
});

/** What the world looks like: drawn as numbers, so that two plans can be made of the same world. */
const world = fc.record({
  seed: fc.integer({ min: 0, max: 2 ** 31 - 1 }),
  openShare: fc.constantFrom(0, 0.2, 0.6, 1),
  knownShare: fc.constantFrom(0, 0.5, 1),
});

function compileTree(document: ConfigNode): CompiledConfig {
  const parsed = parseConfigDocument(document, 'ignore');
  if (!parsed.ok) throw new Error(parsed.faults.join('; '));
  return compileConfig(parsed.config);
}

/** A fixed sequence in [0, 1). */
function sequence(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function stateOf(
  config: CompiledConfig,
  drawn: { seed: number; openShare: number; knownShare: number },
  request: RoutingFacts,
): RoutingState {
  const draw = sequence(drawn.seed);
  const open = new Set(
    config.targets
      .filter(({ breaker: rule }) => rule !== undefined && draw() < drawn.openShare)
      .map(({ path }) => path),
  );
  const known = new Map<string, number>();
  const lookUp = (name: string) => known.get(name);
  const note = (name: string) => {
    if (draw() < drawn.knownShare) known.set(name, Math.floor(draw() * 5));
  };
  for (const target of config.targets) {
    note(`cost:${target.path}`);
    for (const path of target.latencyPaths) if (!known.has(path)) note(path);
  }
  const assignments = new Map(
    stickyKeys(config, request).map(({ key }) => [key, `name:t${Math.floor(draw() * 5)}`]),
  );
  return {
    nowMs: 1_700_000_000_000,
    random: sequence(drawn.seed + 1),
    openTargets: open.size === 0 ? undefined : open,
    latencyMs: lookUp,
    costNanoUsd: (target) => lookUp(`cost:${target.path}`),
    stickyChild: (key) => assignments.get(key),
  };
}

const results = fc.array(fc.constantFrom(200, 246, 400, 429, 446, 500), {
  minLength: 20,
  maxLength: 20,
});

interface Walked {
  readonly paths: readonly string[];
  readonly end: string;
}

/** What the gateway does with a plan. */
function walk(plan: ReturnType<typeof planRoutes>, statuses: readonly number[]): Walked {
  const paths: string[] = [];
  const walker = walkPlan<TargetResult>(plan.root);
  try {
    let step = walker.next();
    while (step.done !== true) {
      paths.push(step.value.path);
      const status = statuses[paths.length % statuses.length] ?? 500;
      step = walker.next({ status, stops: false });
    }
    return { paths, end: String(step.value.status) };
  } catch (error) {
    return { paths, end: (error as { code: string }).code };
  }
}

/** What explain says would happen. */
function follow(plan: ReturnType<typeof planRoutes>, statuses: readonly number[]): Walked {
  const visits = new Map(flattenPlan(plan).map((visit) => [visit.path, visit]));
  const paths: string[] = [];
  let visit = flattenPlan(plan)[0];
  while (visit !== undefined) {
    if (visit.refusal !== undefined) return { paths, end: 'config.no_route' };
    paths.push(visit.path);
    const status = statuses[paths.length % statuses.length] ?? 500;
    const next = visit.next.find(({ on }) =>
      on === 'not-2xx' ? status < 200 || status > 299 : on.includes(status),
    );
    if (next === undefined) return { paths, end: String(status) };
    visit = visits.get(next.path);
  }
  throw new Error('the plan is empty');
}

describe('any config that validates', () => {
  it('gives a plan that ends, whatever is answered, and asks no target twice', () => {
    fc.assert(
      fc.property(node, facts, world, results, (document, request, drawn, statuses) => {
        const config = compileTree(document);
        const plan = planRoutes(config, request, stateOf(config, drawn, request));
        const { paths } = walk(plan, statuses);
        expect(new Set(paths).size).toBe(paths.length);
        for (const path of paths)
          expect(config.targets.map((target) => target.path)).toContain(path);
        expect(describeDecision(config, plan).length).toBeLessThanOrEqual(4096);
        expect(() => JSON.parse(describeDecision(config, plan))).not.toThrow();
      }),
      { seed: 11, numRuns: runs(3_000) },
    );
  });

  it('is explained as it is decided, in thousands of cases', () => {
    let longest = 0;
    fc.assert(
      fc.property(node, facts, world, results, (document, request, drawn, statuses) => {
        const config = compileTree(document);
        const real = planRoutes(config, request, stateOf(config, drawn, request));
        const explained = planRoutes(config, request, stateOf(config, drawn, request), {
          trace: true,
        });
        expect(explained.root).toEqual(real.root);
        expect(explained.sticky).toEqual(real.sticky);
        expect(explained.choices.map(withoutTrace)).toEqual(real.choices);
        const walked = walk(real, statuses);
        expect(follow(explained, statuses)).toEqual(walked);
        longest = Math.max(longest, walked.paths.length);
        for (const choice of explained.choices) expectTraceAgrees(choice);
      }),
      { seed: 12, numRuns: runs(10_000) },
    );
    expect(longest).toBeGreaterThan(3);
  });

  it('never asks a target with an open circuit while a healthy one is eligible', () => {
    let isAllOpenSeen = false;
    fc.assert(
      fc.property(node, facts, world, (document, request, drawn) => {
        const config = compileTree(document);
        const state = stateOf(config, drawn, request);
        const plan = planRoutes(config, request, state);
        const open = state.openTargets ?? new Set();
        for (const choice of plan.choices) {
          const chooser = findNode(config.root, choice.path);
          if (choice.mode === 'conditional' || chooser?.kind !== 'strategy') continue;
          const eligible = chooser.children.filter(
            (child) => isEligible(chooser, child) && !isOpen(child, open),
          );
          const chosen = chooser.children[choice.picked];
          if (chosen === undefined) throw new Error('nothing was chosen');
          expect(isEligible(chooser, chosen)).toBe(true);
          if (eligible.length > 0) expect(isOpen(chosen, open)).toBe(false);
          else isAllOpenSeen = true;
        }
        // A fallback lists several: none of them may be open either.
        for (const { path } of flattenPlan(plan)) {
          const parent = findNode(config.root, path.slice(0, path.lastIndexOf('.targets[')));
          if (parent?.kind !== 'strategy' || parent.mode !== 'fallback') continue;
          if (parent.children.some((child) => !isOpen(child, open)))
            expect(open.has(path)).toBe(false);
        }
      }),
      { seed: 13, numRuns: runs(3_000) },
    );
    expect(isAllOpenSeen).toBe(true);
  });
});

function withoutTrace({ conditions: _, scores: __, ...choice }: Choice): Choice {
  return choice;
}

function expectTraceAgrees(choice: Choice): void {
  if (choice.mode !== 'conditional') return;
  const firstMatch = choice.conditions?.find(({ matched }) => matched)?.index;
  expect(choice.condition).toBe(firstMatch);
}

function findNode(node: RouteNode, path: string): RouteNode | undefined {
  if (node.path === path) return node;
  if (node.kind === 'target') return undefined;
  for (const child of node.children) {
    const found = findNode(child, path);
    if (found !== undefined) return found;
  }
  return undefined;
}

function isEligible(parent: RouteNode, child: RouteNode): boolean {
  return parent.kind !== 'strategy' || !parent.excluded.has(child.index);
}

/** Said naively: a strategy is open when everything it could choose is. */
function isOpen(node: RouteNode, open: ReadonlySet<string>): boolean {
  if (node.kind === 'target') return open.has(node.path);
  return node.children
    .filter((child) => isEligible(node, child))
    .every((child) => isOpen(child, open));
}

const replayParts: ReplayParts = {
  limits: new LimitReplay([]),
  allowedModels: () => undefined,
  providerOf: (slug) => `id-of-${slug}`,
  useAt: () => ({ tokens: 0, costNanoUsd: 0 }),
};

/** The request as its records would tell of it: without parameters and headers, with the choices as they are described. */
function pastOf(
  config: CompiledConfig,
  plan: ReturnType<typeof planRoutes>,
  request: RoutingFacts,
  statuses: readonly number[],
): PastRequest {
  const walked = walk(plan, statuses);
  const visits: PastVisit[] = walked.paths.map((path, index) => ({
    target: {
      provider: 'x',
      providerSlug: config.targets.find((target) => target.path === path)?.provider?.slice(1),
      model: 'm',
    },
    path,
    status: statuses[(index + 1) % statuses.length] ?? 500,
    isCacheHit: false,
    tokens: 1,
    costNanoUsd: 1,
  }));
  if (walked.end === 'config.no_route') {
    const step = flattenPlan(plan).find(({ refusal }) => refusal !== undefined);
    visits.push({
      target: { provider: '', providerSlug: undefined, model: undefined },
      path: step?.path ?? '',
      status: 400,
      isCacheHit: false,
      tokens: 0,
      costNanoUsd: 0,
    });
  }
  const { choices } = JSON.parse(describeDecision(config, plan)) as { choices: Choice[] };
  return {
    atMs: 0,
    endedAtMs: 1,
    request: {
      organisationId: '',
      workspaceId: '',
      workspaceSlug: '',
      apiKeyId: '',
      apiKeySlug: '',
      endpoint: 'chatComplete',
      metadata: {},
      configSlug: undefined,
      promptSlug: undefined,
    },
    facts: { ...request, params: {}, headers: {} },
    knowsParams: false,
    knowsHeaders: false,
    withheldHeaders: new Set(),
    provider: undefined,
    choices: new Map(choices.map((choice) => [choice.path, choice])),
    visits,
    tokens: 1,
    wasRefused: false,
  };
}

describe('replaying', () => {
  it('changes nothing where the config is the one that held, whatever was drawn, measured or open then', () => {
    fc.assert(
      fc.property(node, facts, world, results, (document, request, drawn, statuses) => {
        const config = compileTree(document);
        const plan = planRoutes(config, request, stateOf(config, drawn, request));
        const past = pastOf(config, plan, request, statuses);
        // Of long decisions not every choice is kept.
        fc.pre(describeDecision(config, plan).includes('"more":') === false);
        const again = replayedConfig(config, compileTree(document));
        const { ways, refusedBy } = replayRequest(past, again, replayParts);
        expect(refusedBy).toBe(undefined);
        expect(ways).toHaveLength(1);
        expect(ways[0]).toEqual({
          share: 1,
          unknown: undefined,
          visits: past.visits.map((visit) => ({
            target: visit.target,
            past: visit,
            refusal: undefined,
          })),
        });
      }),
      { numRuns: 300 },
    );
  });
});
