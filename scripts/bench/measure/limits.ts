import type { JsonObject } from '@sluice/contracts';
import {
  type CompiledPolicy,
  compileRatePolicy,
  measureRequest,
  PolicyIndex,
  type RequestFacts,
} from '@sluice/engine';
import { longRequest } from '../canned.ts';
import type { Figure } from '../figure.ts';
import type { Subject } from '../subject.ts';
import { targets } from '../targets.ts';
import { timeWork } from '../time-work.ts';
import { median, type Workbench } from '../workbench.ts';
import { compareKinds } from './compare-kinds.ts';

/** What limits cost: finding and estimating by themselves, and whole requests beside those that nothing limits. */
export async function measureLimits(bench: Workbench): Promise<Figure[]> {
  const figures = [measureMatching(bench.quick), measureEstimate(bench.quick)];
  for (const subject of bench.subjects)
    if (subject.openLimitedWorkspaces !== undefined)
      figures.push(...(await measureRequests(bench, subject)));
  return figures;
}

const manyPolicies = 10_000;

function measureMatching(quick: boolean): Figure {
  const policies = Array.from({ length: manyPolicies }, (_, number) =>
    compileRatePolicy(
      {
        id: `policy-${number}`,
        name: '',
        workspaceId: 'workspace',
        conditions: [{ key: 'metadata.team', values: [`team-${number}`], excludes: [] }],
        groupBy: ['metadata._user'],
      },
      { type: 'requests', unit: 'rpm', value: 1000, rules: undefined },
    ),
  ).filter((policy): policy is CompiledPolicy => policy !== undefined);
  const index = new PolicyIndex(policies, 'request');
  let asked = 0;
  const rounds = timeWork(quick, () => {
    // Each another user: of none is anything remembered.
    asked += 1;
    return index.match(factsOf({ team: 'team-7777', _user: `user-${asked}` }));
  });
  return {
    subject: 'engine',
    figure: `policies that apply, one of ${manyPolicies.toLocaleString('en')}`,
    unit: 'µs',
    measured: median(rounds),
    rounds,
    judged: 'measured',
    target: targets.matchUs,
  };
}

function factsOf(metadata: Record<string, string>): RequestFacts {
  return {
    organisationId: 'organisation',
    workspaceId: 'workspace',
    workspaceSlug: 'bench',
    apiKeyId: 'key',
    apiKeySlug: 'bench-key',
    endpoint: 'chatComplete',
    metadata,
    configSlug: undefined,
    promptSlug: undefined,
  };
}

function measureEstimate(quick: boolean): Figure {
  const bytes = Buffer.byteLength(longRequest);
  const json = JSON.parse(longRequest) as JsonObject;
  const rounds = timeWork(quick, () => measureRequest(json, bytes, 'openai'));
  return {
    subject: 'engine',
    figure: 'estimate of a 10 kB request',
    unit: 'µs',
    measured: median(rounds),
    rounds,
    judged: 'measured',
    target: targets.estimateUs,
    note: `${bytes} bytes`,
  };
}

async function measureRequests(bench: Workbench, subject: Subject): Promise<Figure[]> {
  const places = await subject.openLimitedWorkspaces!();
  const kinds = [
    { figure: 'CPU per unary request, no limits', headers: places.without },
    {
      figure: 'CPU per unary request, a rate limit and a budget',
      headers: places.rateAndBudget,
      target: targets.limitedCpuRatio,
    },
    { figure: 'CPU per unary request, ten policies', headers: places.ten },
  ];
  return compareKinds(bench, subject, kinds, 'beside a request that nothing limits');
}
