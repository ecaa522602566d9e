import type { HeaderSpelling } from '@sluice/contracts';
import {
  type BreakerPhase,
  type CacheRule,
  type Choice,
  flattenPlan,
  type PlannedVisit,
  type PlanStep,
  type ResolvedTarget,
  type RoutePlan,
  walkPlan,
} from '@sluice/engine';
import { fromUnknown, GatewayError } from '@sluice/errors';
import type { JudgedLookup } from '../../cache/reply-cache.ts';
import type { RequestBounds } from '../../calls/request-bounds.ts';
import { endsRequest } from '../../calls/retry-loop.ts';
import type { ModelExchange } from '../../exchange/exchange.ts';
import type { LimitCheck, LimitVerdict } from '../../exchange/limits.ts';
import type { Target } from '../../exchange/target.ts';
import { spelledError } from '../../http/header-names.ts';
import { type PlanDeps, planRequest, type UseAndCost } from '../../routing/plan-request.ts';
import type { Ladder } from '../../visit/ladder.ts';
import { TargetVisit } from '../../visit/target-visit.ts';
import { explainedLimits } from './explain-limits.ts';
import {
  type ExplainedAmounts,
  type ExplainedLimit,
  type ExplainedStep,
  type Explanation,
  explainedFault,
} from './explanation.ts';

export interface ExplainPlanDeps {
  plan: PlanDeps;
  ladder: Ladder;
  requestTimeoutMs: number;
  firstByteTimeoutMs: number;
  streamIdleTimeoutMs: number;
  bounds: RequestBounds;
}

export interface ExplainedPlan {
  steps: ExplainedStep[];
  leftOut: number;
  attempts: NonNullable<Explanation['attempts']>;
  choices: readonly Choice[];
  /** Limits of the targets shown. */
  limits: ExplainedLimit[];
  /** The request's own, as the first target meets them whose limits would be asked; undefined = none is. */
  ownChecks: readonly LimitCheck[] | undefined;
  /** What the request would end with when none of its targets can be called. */
  refusal: GatewayError | undefined;
}

const stepsMax = 100;

/** A target as far as it can be judged without calling it. */
interface Judged {
  /** Undefined for a place of the plan that is no target. */
  visit: TargetVisit | undefined;
  /** Why it would not be called. */
  fault: GatewayError | undefined;
}

/** The plan of a request by the planner of real ones; nothing is remembered of it. */
export async function explainPlan(
  exchange: ModelExchange,
  spelling: HeaderSpelling,
  deps: ExplainPlanDeps,
): Promise<ExplainedPlan> {
  const plan = await planRequest(exchange, deps.plan, { trace: true, dryRun: true });
  const visits = flattenPlan(plan);
  const shown = visits.slice(0, stepsMax);
  const targets = targetsByPath(plan.root);
  const judged = new Map<string, Judged>();
  for (const [path, verdict] of await Promise.all(
    shown.map(
      async (visit) =>
        [visit.path, await judge(exchange, targets.get(visit.path) ?? visit, deps)] as const,
    ),
  ))
    judged.set(path, verdict);
  const circuits = circuitsOf(exchange, deps);
  return {
    steps: shown.map(({ path }, index) => {
      const planned = targets.get(path);
      const { visit, fault } = judged.get(path) ?? unjudged;
      const target = visit?.target;
      return {
        step: index,
        path,
        name: planned?.name ?? null,
        ...whoAndWhere(target, visit?.base),
        reached_when: reachedWhen(path, shown),
        reasons: reasonsOf(path, plan.choices),
        ...(fault === undefined
          ? {}
          : { unavailable: explainedFault(spelledError(fault, spelling)) }),
        circuit: circuits.get(path) ?? 'closed',
        estimate: target === undefined ? null : estimate(exchange, target, deps),
        guardrails: visit?.judgedHooks ?? null,
        ...(planned === undefined ? noRules : rules(exchange, planned, visit, deps)),
      };
    }),
    leftOut: visits.length - shown.length,
    attempts: {
      max: deps.bounds.attemptsMax,
      planned: visits.reduce((sum, { path }) => sum + callsAt(targets.get(path)), 0),
      routing_timeout_ms: deps.bounds.routingTimeoutMs,
    },
    choices: plan.choices,
    limits: shown.flatMap(({ path }) =>
      explainedLimits(judged.get(path)?.visit?.limitVerdict?.ofTarget ?? [], path),
    ),
    ownChecks: firstVerdict(shown, judged)?.own,
    refusal: await refusalOf(
      plan,
      async (target) => judged.get(target.path) ?? (await judge(exchange, target, deps)),
    ),
  };
}

/** How often a target would be called if nothing succeeded and everything were slow. */
function callsAt(planned: ResolvedTarget | undefined): number {
  if (planned === undefined) return 0;
  return (1 + (planned.retry?.attempts ?? 0)) * (planned.hedge === undefined ? 1 : 2);
}

const unjudged: Judged = { visit: undefined, fault: undefined };

function targetsByPath(
  step: PlanStep,
  found = new Map<string, ResolvedTarget>(),
): Map<string, ResolvedTarget> {
  if (step.kind === 'target') found.set(step.target.path, step.target);
  else if (step.kind === 'fallback') for (const option of step.steps) targetsByPath(option, found);
  return found;
}

function reachedWhen(path: string, visits: readonly PlannedVisit[]): ExplainedStep['reached_when'] {
  return visits.flatMap((visit) =>
    visit.next.flatMap((next) => (next.path === path ? [{ after: visit.path, on: next.on }] : [])),
  );
}

function reasonsOf(path: string, choices: readonly Choice[]): string[] {
  return choices.flatMap((choice) =>
    path === choice.path || path.startsWith(`${choice.path}.`) ? [choice.reason] : [],
  );
}

/** Circuits of which something is known; those of configs that are not saved have no memory. */
function circuitsOf(exchange: ModelExchange, deps: ExplainPlanDeps): Map<string, BreakerPhase> {
  const configId = exchange.config?.saved?.id;
  const known = configId === undefined ? [] : deps.plan.breakers.list(configId);
  return new Map(known.map(({ path, phase }) => [path, phase]));
}

/** By the steps of a real visit, none of which does anything. */
async function judge(
  exchange: ModelExchange,
  planned: ResolvedTarget | PlannedVisit,
  { ladder }: ExplainPlanDeps,
): Promise<Judged> {
  if (!('index' in planned)) return { ...unjudged, fault: noRoute(planned) };
  const visit = new TargetVisit(exchange, planned);
  try {
    await ladder.judge(visit);
    return { visit, fault: undefined };
  } catch (caught) {
    return { visit, fault: fromUnknown(caught) };
  }
}

function firstVerdict(
  shown: readonly PlannedVisit[],
  judged: ReadonlyMap<string, Judged>,
): LimitVerdict | undefined {
  for (const { path } of shown) {
    const verdict = judged.get(path)?.visit?.limitVerdict;
    if (verdict !== undefined) return verdict;
  }
  return undefined;
}

/** As walking the plan says it. */
function noRoute({ path, refusal }: PlannedVisit): GatewayError {
  return new GatewayError('config.no_route', { message: refusal, field: path });
}

/** Walks the plan as a request would, until a target that would be called. */
async function refusalOf(
  plan: RoutePlan,
  judgeTarget: (target: ResolvedTarget) => Promise<Judged>,
): Promise<GatewayError | undefined> {
  try {
    const walk = walkPlan<{ status: number; stops: boolean; fault: GatewayError }>(plan.root);
    let step = walk.next();
    // What the request holds of its own limits it keeps: those refuse the first who asks, or targets.
    let holds = false;
    while (step.done !== true) {
      const { fault, visit } = await judgeTarget(step.value);
      if (fault === undefined) return undefined;
      const stops = endsRequest(fault) || (!holds && visit?.limitVerdict?.endsRequest === true);
      holds ||= visit?.limitVerdict !== undefined && visit.limitVerdict.refusal === undefined;
      step = walk.next({ status: fault.status, stops, fault });
    }
    return step.value.fault;
  } catch (caught) {
    return fromUnknown(caught);
  }
}

/** Also of an address that may not be called: the caller wants to know which. */
function hostIn(url: string | undefined): string | null {
  return url !== undefined && URL.canParse(url) ? new URL(url).host : null;
}

function whoAndWhere(
  target: Target | undefined,
  base: URL | undefined,
): Pick<ExplainedStep, 'provider' | 'provider_slug' | 'model' | 'host'> {
  return {
    provider: target?.entry.id ?? null,
    provider_slug: target?.saved?.slug ?? null,
    model: target === undefined || target.servedModel === '' ? null : target.servedModel,
    // Without what an address may carry beside: user, password, query.
    host: base?.host ?? hostIn(target?.customHost?.url),
  };
}

function estimate(
  exchange: ModelExchange,
  { planned }: Target,
  deps: ExplainPlanDeps,
): ExplainedStep['estimate'] {
  const { low, high, price, unpricedUnits, ...likely } = deps.plan.estimateUse(exchange, planned);
  return {
    ...amounts(likely),
    low: amounts(low),
    high: amounts(high),
    price: price ?? null,
    ...(unpricedUnits.length === 0 ? {} : { unpriced_units: unpricedUnits }),
  };
}

function amounts({ inputTokens, outputTokens, costNanoUsd }: UseAndCost): ExplainedAmounts {
  return {
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    cost_nano_usd: costNanoUsd ?? null,
  };
}

function explainedCache({ maxAgeS, semantic }: CacheRule, judged: JudgedLookup | undefined) {
  return {
    mode: semantic === undefined ? 'simple' : 'semantic',
    max_age_s: judged?.maxAgeS ?? maxAgeS ?? null,
    would_be: judged?.status ?? null,
    age_s: judged?.ageS ?? null,
    key: judged?.key ?? null,
    semantic:
      semantic === undefined
        ? null
        : {
            threshold: semantic.threshold ?? null,
            shadow: semantic.isShadow,
            embedding: semantic.embedding ?? null,
            question: judged?.question ?? null,
          },
  };
}

/** Of a place without a target. */
const noRules = { retry: null, cache: null, hedge: null, timeouts: null };

function rules(
  { arrival: { caller } }: ModelExchange,
  planned: ResolvedTarget,
  visit: TargetVisit | undefined,
  deps: ExplainPlanDeps,
): Pick<ExplainedStep, 'retry' | 'cache' | 'hedge' | 'timeouts'> {
  const { retry, cache, hedge } = planned;
  return {
    retry:
      retry === undefined
        ? null
        : {
            attempts: retry.attempts,
            on_status_codes: [...retry.statusCodes],
            use_retry_after_headers: retry.usesWaitHints,
          },
    // A caller who is not tracked leaves nothing behind, and finds nothing.
    cache:
      cache === undefined || !caller.debug
        ? null
        : {
            ...explainedCache(cache, visit?.judgedCache),
            namespace: caller.cacheNamespace ?? null,
            force_refresh: caller.cacheForceRefresh,
          },
    hedge:
      hedge === undefined
        ? null
        : { delay_ms: hedge.delayMs, budget_percentage: hedge.budgetPercentage },
    timeouts: {
      request_ms: caller.requestTimeoutMs ?? planned.requestTimeoutMs ?? deps.requestTimeoutMs,
      first_byte_ms: planned.firstByteTimeoutMs ?? deps.firstByteTimeoutMs,
      idle_ms: planned.idleTimeoutMs ?? deps.streamIdleTimeoutMs,
    },
  };
}
