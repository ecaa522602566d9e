import { randomBytes } from 'node:crypto';
import {
  configCaps,
  forwardedCallerSeal,
  headerPrefixes,
  jobTokenSeal,
  operations,
} from '@sluice/contracts';
import { lockDataDir } from '@sluice/data-dir';
import { ofSettings, writableFolder } from '@sluice/env';
import { knownChecks } from '@sluice/guardrails';
import { expectLogStoreWithin } from '@sluice/object-store';
import { createGuardedFetch, isWithinGap } from '@sluice/outbound';
import { config } from '@sluice/proto-stubs';
import { clientTls, createRpcClient } from '@sluice/rpc';
import { createPartnerWatch, httpPart, type Part, type ServiceTools } from '@sluice/service';
import { loadPublicKeys } from '@sluice/signed-files';
import { explainAgent } from './agents/explain-agent.ts';
import { shareAgents } from './agents/task-notes.ts';
import { createApp, createPartOf } from './app.ts';
import { createCallModel } from './calls/call-model.ts';
import { KeptSignatures } from './calls/kept-signatures.ts';
import { ReadOn } from './calls/read-on.ts';
import { createChildren } from './children/children.ts';
import { ConfigCompiler } from './compiled/config-compiler.ts';
import { PromptCompiler } from './compiled/prompt-compiler.ts';
import { createConfigSource } from './config-sync/create-config-source.ts';
import { Guardrails } from './guardrails/guardrails.ts';
import { createReadArrival } from './http/arrival.ts';
import { Identities } from './identity/tell-identity.ts';
import { LiveReplicas } from './limits/live-replicas.ts';
import { loadModelOverrides } from './load-model-overrides.ts';
import { explainMcp } from './mcp/explain-call.ts';
import { CallMeter } from './metering/call-meter.ts';
import {
  createCacheMetrics,
  createCallMetrics,
  createGatewayMetrics,
  createGuardrailMetrics,
  createLimitMetrics,
  createRoutingMetrics,
} from './metrics.ts';
import { avoidedCost } from './money/avoided-cost.ts';
import { estimateRequest } from './money/estimate-request.ts';
import { UseEstimates } from './money/estimate-use.ts';
import { likelyUse } from './money/likely-use.ts';
import { ObservedModels } from './money/observed-models.ts';
import { optInLabels } from './opt-in-labels.ts';
import { OwnerNotes } from './owners/owner-notes.ts';
import { accounting } from './parts/accounting.ts';
import { agentStages } from './parts/agents.ts';
import { airGap } from './parts/air-gap.ts';
import { createCache, createEmbedder } from './parts/cache.ts';
import { callersServer } from './parts/callers-server.ts';
import { circuitsPart } from './parts/circuits.ts';
import { contentPart } from './parts/content.ts';
import { createCounterClient } from './parts/counter-client.ts';
import { countersPart } from './parts/counters.ts';
import { grpcPart } from './parts/grpc.ts';
import { heldPart } from './parts/held.ts';
import { ledgerPart } from './parts/ledger.ts';
import { limitsPart } from './parts/limits.ts';
import { mcpPart } from './parts/mcp.ts';
import { mcpPortPart } from './parts/mcp-port.ts';
import { otlpPart } from './parts/otlp.ts';
import { ownerLedgerPart } from './parts/owner-ledger.ts';
import { ownersPart } from './parts/owners.ts';
import { pricesPart } from './parts/prices.ts';
import { realtimePart } from './parts/realtime.ts';
import { redisPart } from './parts/redis.ts';
import { replicaName } from './parts/replica-name.ts';
import { requestLogPart } from './parts/request-log.ts';
import { servingPart } from './parts/serving.ts';
import { storedPart } from './parts/stored.ts';
import { tokensPart } from './parts/tokens.ts';
import { upstreamPart } from './parts/upstream.ts';
import { workNotesPart } from './parts/work-notes.ts';
import { pipeline } from './pipeline/pipeline.ts';
import { createPipelines } from './pipeline/pipelines.ts';
import { authenticate, letIn } from './pipeline/stages/authenticate.ts';
import { authenticateFor } from './pipeline/stages/authenticate-for.ts';
import { enforceLimits } from './pipeline/stages/enforce-limits.ts';
import { createEnterJob } from './pipeline/stages/enter-job.ts';
import { findPrompt } from './pipeline/stages/find-prompt.ts';
import { readJsonRequest, readProxyRequest, readRequest } from './pipeline/stages/read-request.ts';
import { recordOutcome } from './pipeline/stages/record-outcome.ts';
import { answerRendered, renderRequest } from './pipeline/stages/render-request.ts';
import { resolveConfig } from './pipeline/stages/resolve-config.ts';
import { routeToTarget } from './pipeline/stages/route-to-target.ts';
import { usePrompt } from './pipeline/stages/use-prompt.ts';
import { keepStringsFast } from './redis/keep-strings-fast.ts';
import { readRedisPlace } from './redis/redis-settings.ts';
import { createAdminForwarder } from './routes/admin.ts';
import { createEstimate, createExplain, createTokenize } from './routes/explain.ts';
import type { Readiness } from './routes/health.ts';
import { listModels, tellModel } from './routes/models.ts';
import { UpstreamModels } from './routes/upstream-models.ts';
import { learn } from './routing/learn.ts';
import type { PlanDeps } from './routing/plan-request.ts';
import { HedgeBudget } from './routing/state/hedge-budget.ts';
import { Latencies } from './routing/state/latencies.ts';
import { StickyChildren } from './routing/state/sticky-children.ts';
import type { Env } from './settings.ts';
import { explainTools } from './tool-loop/explain-tools.ts';
import { runTools } from './tool-loop/run-tools.ts';
import { UntoldAnswers } from './tool-loop/untold-answers.ts';
import { CheckEmbedder } from './visit/embed-for-checks.ts';
import { createLadder } from './visit/ladder.ts';
import { askedOf } from './visit/target/asked-of.ts';
import { resolveTarget } from './visit/target/resolve-target.ts';

/** Builds every client once and hands it down. Takes the data folder first: nothing looks into it before. */
export async function wire(
  env: Env,
  { logger, metrics, logFd }: ServiceTools,
): Promise<readonly Part[]> {
  keepStringsFast();
  writableFolder('DATA_DIR', env.DATA_DIR, 0o700);
  const folder = await lockDataDir(env.DATA_DIR, { name: 'DATA_DIR' });
  const prefixes = ofSettings(() => headerPrefixes(env.HEADER_PREFIX, env.HEADER_PREFIX_ALIASES));
  // One life of one replica: sequences start at 1 in each.
  const replicaId = `${replicaName(env)}.${randomBytes(4).toString('hex')}`;
  const peer = {
    token: env.SERVICE_CLIENT_AUTH,
    tls: clientTls(env),
    allowInsecure: env.GRPC_ALLOW_INSECURE,
  };
  const partner = createPartnerWatch({
    role: 'gateway',
    partner: 'control-plane',
    gauge: 'sluice_config_refused',
    logger,
  });
  const controlPlane = createRpcClient(config.ConfigService, {
    address: env.CONTROL_PLANE_GRPC_URL,
    ...peer,
    handshake: partner.handshake,
  });
  const source = createConfigSource(controlPlane, replicaId, 3000);

  const factsKeys = loadPublicKeys('FACTS_PUBLIC_KEY_FILE', env.FACTS_PUBLIC_KEY_FILE);
  const modelOverrides = await loadModelOverrides(env.MODEL_FACTS_FILE, factsKeys);
  const redisPlace = readRedisPlace(env);
  const log = requestLogPart(env, logger, logFd);
  const otlp = otlpPart(env, { replicaId, logger });
  const upstream = upstreamPart(env, redisPlace, logger);
  expectLogStoreWithin(env, (origin) => isWithinGap(origin, upstream.hostRules));
  const content = contentPart(env, logger, otlp.takers);
  const requestMetrics = createGatewayMetrics(metrics, {
    msBuckets: env.PROMETHEUS_HISTOGRAM_BUCKETS,
    secondBuckets: env.PROMETHEUS_HTTP_DURATION_BUCKETS,
    optIn: optInLabels(env),
  });
  const { addUse } = requestMetrics;
  const ledger = ledgerPart(env, { replicaId, peer, logger, follow: otlp.follow, addUse });
  const checksFetch = createGuardedFetch({
    ...upstream.connecting,
    // Each request that a partner keeps waiting has one: others must not wait for theirs behind it.
    connectionsMax: 256,
  });
  const jwt = tokensPart(env, {
    source,
    fetch: env.JWT_ENABLED ? createGuardedFetch(upstream.connecting) : undefined,
    logger,
  });
  const identities = new Identities({ sign: source.signIdentity });
  const replicas = new LiveReplicas();
  const held = heldPart(env, {
    source,
    organisations: jwt.organisations,
    onHeartbeat: ({ gatewayIndex, liveGateways }) => replicas.note(gatewayIndex, liveGateways),
    logger,
  });
  const redis = redisPart(redisPlace, logger);
  const counters = createCounterClient(controlPlane, {
    replicaId,
    shared: redis.shared !== undefined,
  });
  const limits = limitsPart(env, {
    shared: redis.shared,
    replicas,
    sumCounters: counters.sum,
    notes: ledger.notes,
    logger,
  });
  const circuits = circuitsPart(redis.shared);
  const ownerLedger = ownerLedgerPart({
    peer,
    address: env.DATA_SERVICE_GRPC_URL,
    outbox: ledger.notes,
    metrics,
  });
  const owners = new OwnerNotes(redis.shared, ownerLedger.ownerLedger);
  const works = workNotesPart({ controlPlane, metrics, logger });

  const { recorder } = ledger;
  const { store } = held;
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
  const readArrival = createReadArrival(env.TRUSTED_PROXIES ?? []);
  const admin = createAdminForwarder({
    controlPlaneUrl: env.CONTROL_PLANE_URL ?? 'http://127.0.0.1:8788',
    prefixes,
    seal: forwardedCallerSeal(env.SERVICE_CLIENT_AUTH),
    held: store,
    readArrival,
    tls: peer.tls,
  });

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
      shared: redis.shared,
      recorder,
      limits: limits.limits,
      watch,
      prices,
      estimates,
      workNotes: works.workNotes,
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
  const configs = new ConfigCompiler({
    caps: {
      ...configCaps,
      rootTargetsMax: env.MAX_ROOT_CONFIG_TARGETS,
      conditionalRootTargetsMax: env.MAX_CONDITIONAL_ROOT_CONFIG_TARGETS,
      nestedTargetsMax: env.MAX_NESTED_CONFIG_TARGETS,
    },
    knownChecks,
  });
  const prompts = new PromptCompiler();
  const meter = new CallMeter({
    recorder,
    limits: limits.limits,
    watch,
    content: content.keeper,
    children,
    onEnded: createCallMetrics(metrics),
  });
  const enterJob = createEnterJob(jobTokenSeal(env.SERVICE_CLIENT_AUTH), store);
  const resolvesConfig = resolveConfig({
    strictParams: env.STRICT_PARAMS,
    blockInlineConfig: env.BLOCK_INLINE_CONFIG,
    configs,
    newer,
  });
  const stored = storedPart(env, { controlPlane, peer, prefixes, resolvesConfig, logger });
  const routing = {
    plan,
    owners,
    skipsTargetCheck: env.SKIP_DATAPLANE_CONFIG_CHECK,
    ladder,
    recorder,
    content: content.keeper,
    bounds,
    modelOverrides,
    metrics: routingMetrics,
  };
  const routes = routeToTarget(routing);
  const telling = {
    overrides: modelOverrides,
    prices,
    upstream: new UpstreamModels({ ask: pipeline([routes]), logger }),
  };
  const agents = agentStages(env, {
    guardrails,
    pools,
    hostRules,
    meter,
    shared: ofAgents,
    children,
    newer,
    store,
    identities,
    keyHeader: `${prefixes.mainSpelling.named}api-key`,
  });
  const stages = {
    recordOutcome: recordOutcome(recorder, logger),
    authenticate: authenticate(store, jwt.tokens, undefined, [enterJob]),
    authenticateForRender: authenticate(store, jwt.tokens, operations.promptRender.scopes),
    enforceLimits: enforceLimits(limits.limits, watch),
    resolveConfig: resolvesConfig,
    answerStored: stored.stage,
    tunesManaged: stored.tunes,
    keepResponses: stored.keeps,
    resumeKept: stored.resumes,
    bringFiles: stored.brings,
    readRequest,
    readProxyRequest,
    readJsonRequest,
    listOwnModels: listModels(telling),
    tellOwnModel: tellModel(telling),
    findPrompt: findPrompt(prompts, newer),
    renderRequest: renderRequest(prompts, newer),
    usePrompt: usePrompt(prompts, newer),
    answerRendered,
    routeToTarget: routes,
    ...agents.stages,
  };

  const deciding = {
    ...deadlines,
    bounds,
    authenticate: stages.authenticate,
    authenticateFor: (keyId: string) => authenticateFor(keyId, store, jwt.tokens),
    limits: limits.limits,
    resolveConfig: stages.resolveConfig,
    usePrompt: stages.usePrompt,
    showKept: stored.shows,
    bringFiles: stored.brings,
    plan,
    ladder,
  };

  const { serving, drain, underWay, streams } = servingPart(env, {
    logger,
    metrics: requestMetrics,
    prefixes,
    readArrival,
    requestLog: log.requestLog,
  });
  const mcp = mcpPart(env, {
    serving,
    letIn: (exchange) => letIn(exchange, store, jwt.tokens),
    store,
    source,
    pools,
    hostRules,
    shared: redis.shared,
    meter,
    guardrails,
    identities,
    fetch: checksFetch,
    replicaId,
  });
  const running = {
    caller: mcp.caller,
    sealer: mcp.sealer,
    untold: new UntoldAnswers(mcp.shared),
    addresses: { mcp: env.MCP_GATEWAY_BASE_URL, public: env.PUBLIC_URL },
    bounds: {
      roundsMax: env.TOOL_ROUNDS_MAX,
      callsMax: env.TOOL_CALLS_MAX,
      parallelMax: env.TOOL_CALLS_PARALLEL_MAX,
      timeoutMs: env.TOOL_RUNS_TIMEOUT,
    },
    ask: pipeline([stages.recordOutcome, stages.enforceLimits, stages.routeToTarget]),
  };
  const explaining = { ...deciding, tools: explainTools(running) };
  const realtime = realtimePart(env, {
    serving,
    stages,
    routing,
    ladder: laddering,
    accounting: accounted,
    limits: limits.limits,
    watch,
    guard: upstream.guard,
    store,
    tokens: jwt.tokens,
    shared: redis.shared,
  });
  const pipelines = createPipelines({ ...stages, runTools: runTools(running) });
  const readiness = (): Readiness => ({
    ready: store.connected || store.holdsAnything,
    draining: serving.isDraining(),
    controlPlane: store.connected ? 'connected' : partner.isRefused ? 'refused' : 'away',
    keyPepper: store.pepperDiffers ? 'different' : 'same',
    ledger: ledger.isRefused() ? 'refused' : 'taken',
  });
  const app = createApp({
    ...serving,
    mcp: mcp.serve,
    pipelines: {
      ...pipelines,
      realtime: realtime.pipelines,
      explain: createExplain(explaining),
      estimate: createEstimate(explaining),
      tokenize: createTokenize(explaining),
      explainMcp: explainMcp({ ...deciding, meter, access: mcp.access, whose: mcp.whose }),
      explainAgent: explainAgent({ ...deciding, ...agents.stages, parts: agents.parts }),
    },
    adminApi: env.ADMIN_API_ON_GATEWAY ? 'here' : 'elsewhere',
    forwardAdmin: admin.forward,
    readiness,
  });
  const isOfMcp = env.SERVER_MODE === 'mcp';
  const server = callersServer(
    env,
    createPartOf(app, env.SERVER_MODE, serving),
    isOfMcp ? undefined : realtime.serve,
  );

  // Each after those it needs; the first to stop is the last.
  return [
    { name: 'data-folder', stop: () => folder.release() },
    log.part,
    airGap(env, redisPlace, logger),
    priceFiles,
    otlp.part, // tells of what the two below have
    content.part, // takes what requests leave until nothing is left that makes any
    ledger.part, // takes records until nothing is left that makes any
    held.part,
    stored.part,
    works.part,
    ownerLedger.part,
    { name: 'control-plane', gauges: partner.gauges },
    jwt.part, // reports to the control plane what it refused
    // What is settled last is told, too.
    countersPart({ limits: limits.limits, client: counters, logger }),
    redis.part,
    limits.part,
    circuits.part,
    { name: 'admin', stop: () => admin.close() },
    { name: 'checks', stop: () => checksFetch.close() },
    upstream.part, // what still runs is cut here, and recorded
    // Readiness says no, and replies close their connections, before the port closes.
    {
      name: 'readiness',
      isReady: () => (store.connected || store.holdsAnything) && !store.pepperDiffers,
      retire: drain,
    },
    streams,
    realtime.part,
    mcp.part,
    ...grpcPart(env, { serving, run: pipelines.unified, readiness, underWay, metrics }),
    ...mcpPortPart(env, { answer: createPartOf(app, 'mcp', serving), cut: () => underWay.cut() }),
    httpPart({ server, host: env.HOST, port: env.PORT, cut: () => underWay.cut() }),
  ];
}
