import { jobTokenSeal, operations } from '@sluice/contracts';
import { PromptCompiler } from '../compiled/prompt-compiler.ts';
import { agentStages } from '../parts/agents.ts';
import { pipeline } from '../pipeline/pipeline.ts';
import { authenticate, authenticateAgain } from '../pipeline/stages/authenticate.ts';
import { enforceLimits } from '../pipeline/stages/enforce-limits.ts';
import { createEnterJob } from '../pipeline/stages/enter-job.ts';
import { findPrompt } from '../pipeline/stages/find-prompt.ts';
import { readJsonRequest, readProxyRequest, readRequest } from '../pipeline/stages/read-request.ts';
import { recordOutcome } from '../pipeline/stages/record-outcome.ts';
import { answerRendered, renderRequest } from '../pipeline/stages/render-request.ts';
import { routeToTarget } from '../pipeline/stages/route-to-target.ts';
import { usePrompt } from '../pipeline/stages/use-prompt.ts';
import { listModels, tellModel } from '../routes/models.ts';
import { UpstreamModels } from '../routes/upstream-models.ts';
import type { Env } from '../settings.ts';
import type { Calls } from './calls.ts';
import type { Foundations } from './foundations.ts';

/** The stages of which pipelines are made. */
export function wireStages(env: Env, base: Foundations, calls: Calls) {
  const {
    prefixes,
    modelOverrides,
    content,
    jwt,
    identities,
    limits,
    owners,
    resolvesConfig,
    stored,
    logger,
    store,
  } = base;
  const {
    prices,
    plan,
    bounds,
    routingMetrics,
    ofAgents,
    children,
    guardrails,
    watch,
    ladder,
    meter,
  } = calls;
  const { recorder } = base.ledger;
  const { newer } = store;
  const { hostRules, pools } = base.upstream;
  const prompts = new PromptCompiler();
  const enterJob = createEnterJob(jobTokenSeal(env.SERVICE_CLIENT_AUTH), store);
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
    authenticateAgain: authenticateAgain(store, jwt.tokens),
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
  return { stages, agents, routing };
}

export type Stages = ReturnType<typeof wireStages>;
