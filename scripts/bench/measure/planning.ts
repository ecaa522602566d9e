import { type ConfigNode, parseConfigDocument, storedConfigCaps } from '@sluice/contracts';
import {
  type CompiledConfig,
  compileConfig,
  planRoutes,
  type RoutingFacts,
  type RoutingState,
} from '@sluice/engine';
import type { Figure } from '../figure.ts';
import { targets } from '../targets.ts';
import { timeWork } from '../time-work.ts';
import { median } from '../workbench.ts';

/** What planning a request costs, in this process: nothing is sent. */
export function measurePlanning(quick: boolean): Figure[] {
  const typical = compile(typicalDocument);
  const wide = compile(wideDocument);
  const text = JSON.stringify(typicalDocument);
  const judged = { judged: 'measured', target: targets.planUs } as const;
  return [
    figure(
      'plan, typical',
      timeWork(quick, () => planRoutes(typical, facts, state)),
      {
        ...judged,
        note: `${typical.targets.length} targets, 3 strategies`,
      },
    ),
    figure(
      'plan, 1,000 targets, 10 open',
      timeWork(quick, () => planRoutes(wide, facts, someOpen)),
      {
        ...judged,
        note: 'load balance',
      },
    ),
    figure(
      'parse and compile an inline config',
      timeWork(quick, () => compile(JSON.parse(text))),
      { note: `${text.length} characters` },
    ),
  ];
}

function figure(name: string, rounds: number[], more: Partial<Figure>): Figure {
  return { subject: 'engine', figure: name, unit: 'µs', measured: median(rounds), rounds, ...more };
}

function compile(document: unknown): CompiledConfig {
  const parsed = parseConfigDocument(document, 'ignore', storedConfigCaps);
  if (!parsed.ok) throw new Error(parsed.faults.join('; '));
  return compileConfig(parsed.config as ConfigNode);
}

const typicalDocument = {
  retry: { attempts: 2 },
  strategy: {
    mode: 'conditional',
    conditions: [
      // biome-ignore lint/suspicious/noThenProperty: `then` is the published name of the field.
      { query: { 'metadata.tier': { $eq: 'free' }, 'params.stream': true }, then: 'shared' },
      {
        query: {
          $or: [
            { 'metadata.tier': { $in: ['pro', 'team'] } },
            { 'params.model': { $regex: '^gpt-4' } },
          ],
        },
        // biome-ignore lint/suspicious/noThenProperty: as above.
        then: 'own',
      },
    ],
    default: 'shared',
  },
  targets: [
    {
      name: 'own',
      strategy: { mode: 'fallback', on_status_codes: [429, 500, 503] },
      targets: [
        { provider: '@openai-prod', request_timeout: 20_000 },
        {
          strategy: { mode: 'loadbalance' },
          targets: [
            { provider: '@azure-eu', weight: 2, override_params: { model: 'gpt-4o' } },
            { provider: '@azure-us', weight: 1, override_params: { model: 'gpt-4o' } },
          ],
        },
      ],
    },
    { name: 'shared', provider: '@shared', cache: { mode: 'simple', max_age: 600 } },
  ],
};

const wideDocument = {
  strategy: {
    mode: 'loadbalance',
    cb_config: { failure_threshold: 5, cooldown_interval: 30_000 },
  },
  targets: Array.from({ length: 1_000 }, (_, index) => ({
    provider: `@provider-${index}`,
    weight: 1 + (index % 3),
  })),
};

const facts: RoutingFacts = {
  scope: 'bench',
  metadata: { _user: 'user-17', tier: 'team', region: 'eu' },
  params: { model: 'gpt-4o-mini', temperature: 0.2, stream: false, messages: [] },
  headers: { host: 'gateway', 'content-type': 'application/json', 'user-agent': 'bench' },
  pathname: '/v1/chat/completions',
};

const state: RoutingState = {
  nowMs: 1_750_000_000_000,
  random: Math.random,
  openTargets: undefined,
  latencyMs: () => undefined,
  costNanoUsd: () => undefined,
  stickyChild: () => undefined,
};
const someOpen: RoutingState = {
  ...state,
  openTargets: new Set(Array.from({ length: 10 }, (_, index) => `config.targets[${index * 97}]`)),
};
