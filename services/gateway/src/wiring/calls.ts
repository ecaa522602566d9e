import { shareAgents } from '../agents/task-notes.ts';
import { createCallModel } from '../calls/call-model.ts';
import { KeptSignatures } from '../calls/kept-signatures.ts';
import { ReadOn } from '../calls/read-on.ts';
import { createChildren } from '../children/children.ts';
import { Guardrails } from '../guardrails/guardrails.ts';
import { CallMeter } from '../metering/call-meter.ts';
import {
  createCacheMetrics,
  createCallMetrics,
  createGuardrailMetrics,
  createLimitMetrics,
  createRoutingMetrics,
} from '../metrics.ts';
import { avoidedCost } from '../money/avoided-cost.ts';
import { estimateRequest } from '../money/estimate-request.ts';
import { UseEstimates } from '../money/estimate-use.ts';
import { likelyUse } from '../money/likely-use.ts';
import { ObservedModels } from '../money/observed-models.ts';
import { accounting } from '../parts/accounting.ts';
import { createCache, createEmbedder } from '../parts/cache.ts';
import { ownersPart } from '../parts/owners.ts';
import { pricesPart } from '../parts/prices.ts';
import { learn } from '../routing/learn.ts';
import type { PlanDeps } from '../routing/plan-request.ts';
import { HedgeBudget } from '../routing/state/hedge-budget.ts';
import { Latencies } from '../routing/state/latencies.ts';
import { StickyChildren } from '../routing/state/sticky-children.ts';
import type { Env } from '../settings.ts';
import { CheckEmbedder } from '../visit/embed-for-checks.ts';
import { createLadder } from '../visit/ladder.ts';
import { askedOf } from '../visit/targets/asked-of.ts';
import { resolveTarget } from '../visit/targets/resolve-target.ts';
import type { Foundations } from './foundations.ts';

/** All that stands between a plan and an answer: who is called, how it is judged, counted, kept and priced. */
export function wireCalls(env: Env, base: Foundations) {
  const {
    factsKeys,
    modelOverrides,
    log,
    upstream,
    content,
    ledger,
    checksFetch,
    redis,
    limits,
    circuits,
    owners,
    ownerLedger,
    works,
    stored,
    logger,
    metrics,
    store,
  } = base;
  const { recorder } = ledger;
  const { newer } = store;
  const { breakers } = circuits;
  const { hostRules, pools } = upstream;
  const { prices, priceFiles } = pricesPart(env, factsKeys, logger);
  const observed = new ObservedModels();
  const estimates = new UseEstimates(observed, modelOverrides);
  const latencies = new Latencies();
  const plan: PlanDeps = {
    breakers,
    latencies,
    sticky: new StickyChildren({ store: redis.shared }),
    estimateUse: (exchange, planned) => {
      const asked = askedOf(exchange, planned);
      const target = resolveTarget(asked, planned);
      return likelyUse(asked.subject, target, { estimates, prices });
    },
  };
  const deadlines = {
    requestTimeoutMs: env.REQUEST_TIMEOUT,
    firstByteTimeoutMs: env.STREAM_FIRST_BYTE_TIMEOUT,
    streamIdleTimeoutMs: env.STREAM_IDLE_TIMEOUT,
  };
  const bounds = {
    attemptsMax: env.ATTEMPTS_PER_REQUEST_MAX,
    routingTimeoutMs: env.ROUTING_TIMEOUT,
  };
  const routingMetrics = createRoutingMetrics(metrics);
  const ofAgents = shareAgents(redis.shared);
  const children = createChildren(env.SERVICE_CLIENT_AUTH, ofAgents);
  const accounted = accounting({ estimates, observed, prices, recorder, children });
  const calling = {
    hostRules,
    passesVendorSecrets: env.PASS_VENDOR_SECRETS,
    modelOverrides,
    keptSignatures: new KeptSignatures(),
    pools,
    authoriser: upstream.authoriser,
    listeners: [learn({ breakers, latencies }, deadlines), ...accounted],
    options: { ...deadlines, replyBytesMax: env.RESPONSE_BODY_BYTES_MAX },
    bounds,
    hedgeBudget: new HedgeBudget(),
    readOn: new ReadOn({ countMax: env.READ_ON_MAX, timeoutMs: env.READ_ON_TIMEOUT }),
    metrics: routingMetrics,
  };
  const guardrailMetrics = createGuardrailMetrics(metrics);
  const cacheMetrics = createCacheMetrics(metrics);
  const embedder = createEmbedder(env, {
    callModel: createCallModel(calling),
    logger,
    onEmbedded: cacheMetrics.asked,
  });
  const guardrails = new Guardrails({
    logger,
    fetch: checksFetch,
    onFeedback: env.GUARDRAIL_FEEDBACK ? ledger.feedback : undefined,
    onCheckError: guardrailMetrics.errored,
    onAsyncResult: guardrailMetrics.ranAside,
  });
  const watch = { metrics: createLimitMetrics(metrics), open: limits.open };
  const laddering = {
    ...calling,
    ...ownersPart({
      owners,
      ownerLedger: ownerLedger.ownerLedger,
      shared: redis.shared,
      recorder,
      limits: limits.limits,
      watch,
      prices,
      estimates,
      workNotes: works.workNotes,
      logger,
    }),
    newer,
    readStored: (workspaceId: string, id: string) => stored.register.content(workspaceId, id),
    strictParams: env.STRICT_PARAMS,
    guardrails,
    onLateHook: ledger.lateHook,
    logger,
    requestLog: log.requestLog,
    cache: createCache(env, redis.sharedCache),
    embedder,
    checkEmbedder: new CheckEmbedder(embedder),
    similarityMin: env.SEMANTIC_CACHE_SIMILARITY_THRESHOLD,
    onShadowHit: cacheMetrics.shadowHit,
    avoidedCost: avoidedCost(estimates, prices),
    recorder,
    estimate: estimateRequest(estimates, prices),
  };
  const ladder = createLadder(laddering);
  const meter = new CallMeter({
    recorder,
    limits: limits.limits,
    watch,
    content: content.keeper,
    children,
    onEnded: createCallMetrics(metrics),
  });
  return {
    prices,
    priceFiles,
    estimates,
    plan,
    deadlines,
    bounds,
    routingMetrics,
    ofAgents,
    children,
    accounted,
    guardrails,
    watch,
    laddering,
    ladder,
    meter,
  };
}

export type Calls = ReturnType<typeof wireCalls>;
