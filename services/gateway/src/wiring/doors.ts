import { forwardedCallerSeal } from '@sluice/contracts';
import { explainAgent } from '../agents/explain-agent.ts';
import { createApp, createPartOf } from '../app.ts';
import { createReadArrival } from '../http/arrival.ts';
import { explainMcp } from '../mcp/explain-call.ts';
import { callersServer } from '../parts/callers-server.ts';
import { mcpPart } from '../parts/mcp.ts';
import { realtimePart } from '../parts/realtime.ts';
import { servingPart } from '../parts/serving.ts';
import { pipeline } from '../pipeline/pipeline.ts';
import { createPipelines } from '../pipeline/pipelines.ts';
import { letIn, letInAgain } from '../pipeline/stages/authenticate.ts';
import { authenticateFor } from '../pipeline/stages/authenticate-for.ts';
import { createAdminForwarder } from '../routes/admin.ts';
import { createEstimate, createExplain, createTokenize } from '../routes/explain.ts';
import type { Readiness } from '../routes/health.ts';
import type { Env } from '../settings.ts';
import { explainTools } from '../tool-loop/explain-tools.ts';
import { runTools } from '../tool-loop/run-tools.ts';
import { UntoldAnswers } from '../tool-loop/untold-answers.ts';
import type { Calls } from './calls.ts';
import type { Foundations } from './foundations.ts';
import type { Stages } from './stages.ts';

/** The ways in: HTTP, WebSockets, MCP, the admin API passed on, and what is told without a call. */
export function wireDoors(env: Env, base: Foundations, calls: Calls, staged: Stages) {
  const {
    prefixes,
    replicaId,
    certificates,
    peer,
    partner,
    source,
    log,
    upstream,
    requestMetrics,
    ledger,
    checksFetch,
    jwt,
    identities,
    redis,
    limits,
    stored,
    logger,
    store,
  } = base;
  const { plan, deadlines, bounds, accounted, guardrails, watch, laddering, ladder, meter } = calls;
  const { stages, agents, routing } = staged;
  const { hostRules, pools } = upstream;
  const readArrival = createReadArrival(env.TRUSTED_PROXIES ?? []);
  const admin = createAdminForwarder({
    controlPlaneUrl: env.CONTROL_PLANE_URL ?? 'http://127.0.0.1:8788',
    prefixes,
    seal: forwardedCallerSeal(env.SERVICE_CLIENT_AUTH),
    held: store,
    readArrival,
    tls: peer.tls,
  });

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
    letInAgain: (exchange) => letInAgain(exchange, store, jwt.tokens),
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
    askAgain: pipeline([
      stages.recordOutcome,
      stages.authenticateAgain, // minutes may have passed since
      stages.enforceLimits,
      stages.resolveConfig,
      stages.routeToTarget,
    ]),
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
    certificates,
    createPartOf(app, env.SERVER_MODE, serving),
    isOfMcp ? undefined : realtime.serve,
  );

  return {
    admin,
    app,
    server,
    serving,
    drain,
    underWay,
    streams,
    mcp,
    realtime,
    pipelines,
    readiness,
  };
}
