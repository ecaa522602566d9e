import type { ResolvedTarget, TargetResult } from '@sluice/engine';
import { fromUnknown, GatewayError } from '@sluice/errors';
import type { HostRules } from '@sluice/outbound';
import type { Logger } from '@sluice/telemetry';
import type { CacheFill, ReplyCache } from '../cache/reply-cache.ts';
import { prepareOutgoing } from '../calls/prepare/prepare-call.ts';
import { addGatewayHeaders } from '../calls/reply-headers.ts';
import { type CallDeps, callTarget, endsRequest } from '../calls/retry-loop.ts';
import type { ModelExchange } from '../exchange/exchange.ts';
import { canResend, type PreparedCall } from '../exchange/prepared-call.ts';
import type { Reply } from '../exchange/reply.ts';
import type { Target } from '../exchange/target.ts';
import { Visit } from '../exchange/visit.ts';
import { deniedReply } from '../guardrails/guardrail-replies.ts';
import type { Guardrails } from '../guardrails/guardrails.ts';
import type { HookRun } from '../guardrails/hook-results.ts';
import { outputChecks } from '../guardrails/output-checks.ts';
import { inTurn, largeBytes } from '../http/large-work.ts';
import { credentialOf } from './credential-of.ts';
import { addDroppedHeader, refuseDropped } from './dropped-params.ts';
import { sentBody, servedBody, shapedBody } from './sent-body.ts';
import { resolveTarget } from './target/resolve-target.ts';
import { checkSentModels } from './target/served-model.ts';
import { TargetChecks } from './target-hooks-run.ts';

export interface VisitDeps extends CallDeps {
  hostRules: HostRules;
  /** Refuse what a provider's format cannot carry, whatever config and caller say. */
  strictParams: boolean;
  guardrails: Guardrails;
  cache: ReplyCache;
  logger: Logger;
}

/** What asking one target came to: an answer, or the error that stands for it. */
export interface TargetAnswer extends TargetResult {
  reply: Reply | undefined;
  error: GatewayError | undefined;
}

/**
 * Asks one target of the plan, all in order: who and where, the body as it
 * wants it, checks, cache, limits, calls. Never throws; what is refused before
 * any call leaves a record of its own.
 */
export async function visitTarget(
  exchange: ModelExchange,
  planned: ResolvedTarget,
  deps: VisitDeps,
): Promise<TargetAnswer> {
  const visit = new Visit(exchange, planned);
  exchange.visits.push(visit);
  try {
    const target = resolveTarget(exchange, planned);
    visit.target = target;
    return await ask(visit, target, deps);
  } catch (caught) {
    const error = fromUnknown(caught);
    exchange.progress.refusals++;
    exchange.progress.tries++;
    await deps.recorder.refuse(exchange, error, { path: planned.path, visit }).catch(() => {
      // The disk refuses; a refusal cost nothing, and the caller learns of it all the same.
    });
    return { status: error.status, stops: endsRequest(error), reply: undefined, error };
  }
}

async function ask(visit: Visit, target: Target, deps: VisitDeps): Promise<TargetAnswer> {
  const { exchange } = visit;
  let shaped = shapedBody(exchange, target);
  const checks = new TargetChecks(visit, target, shaped ?? servedBody(exchange, target), deps);
  const before = checks.before();
  if (before !== undefined) {
    const run = await before;
    if (run.denied) return denied(visit, target, run, deps);
    shaped = run.request ?? shaped;
  }
  const prepare = () => {
    checkSentModels(exchange, target, sentBody(exchange, target, shaped));
    const outgoing = prepareOutgoing(exchange, target, shaped, deps.hostRules);
    refuseDropped(exchange, target, outgoing, deps);
    const looking =
      target.planned.cache === undefined ? undefined : lookUp(exchange, target, outgoing, deps);
    return { outgoing, looking };
  };
  const large = largeRequest(exchange);
  const { outgoing, looking } =
    large === undefined ? prepare() : await inTurn(large.owner, large.bytes, prepare);
  const found = looking instanceof Promise ? await looking : looking;
  if (found !== undefined) visit.cacheStatus = found.status;
  if (found?.reply !== undefined)
    return fromCache(visit, target, outgoing, found.reply, checks, deps);
  try {
    return await call(visit, target, outgoing, checks, found?.fill, deps);
  } finally {
    found?.fill?.release();
  }
}

/** Whose it is, when work on the request's body has to wait for its turn. */
export function largeRequest({ subject: { body }, bundle }: ModelExchange) {
  if (body === undefined || body.length < largeBytes) return undefined;
  return { owner: bundle?.source.workspaceId ?? '', bytes: body.length };
}

/** Refused before any call: an answer all the same, since checks explain themselves. */
async function denied(
  visit: Visit,
  target: Target,
  run: HookRun,
  deps: VisitDeps,
): Promise<TargetAnswer> {
  const { exchange } = visit;
  exchange.progress.refusals++;
  exchange.progress.tries++;
  await deps.recorder.refuse(exchange, new GatewayError('guardrail.denied'), {
    path: target.path,
    visit,
  });
  const reply = deniedReply(
    exchange.subject.operation.id,
    exchange.arrival.requestIdText,
    run.results,
    [],
  );
  return finished(visit, target, reply, false);
}

async function call(
  visit: Visit,
  target: Target,
  outgoing: PreparedCall,
  checks: TargetChecks,
  fill: CacheFill | undefined,
  deps: VisitDeps,
): Promise<TargetAnswer> {
  const { exchange } = visit;
  const reserving = exchange.limits?.reserveTarget(
    {
      provider: target.entry.id,
      providerSlug: target.saved?.slug,
      // A counter is kept for each: its name must have a bound.
      model: target.servedModel === '' ? undefined : target.servedModel.slice(0, 1024),
    },
    target.saved,
  );
  const reserved = reserving instanceof Promise ? await reserving : reserving;
  if (reserved !== undefined) visit.limitStates = reserved.states;
  const result = await callTarget(
    visit,
    { target, outgoing, counters: reserved?.counters ?? [], inspect: checks.inspector(fill) },
    deps,
  );
  const { error } = result;
  let { reply } = result;
  const stops = endsRequest(error) || !canResend(outgoing);
  if (reply === undefined) return { status: result.status, stops, reply, error };
  if (reply.kind === 'stream') {
    const { wasWhole } = reply;
    // The checks of a stream come after it and can refuse nothing: it must not pass for a checked answer.
    if (fill !== undefined && reply.status === 200 && !checks.checksOutput)
      reply = fill.keepStream(reply, wasWhole);
    reply = checks.onStream(reply);
  }
  addDroppedHeader(reply.headers, outgoing);
  return finished(visit, target, reply, stops);
}

function finished(visit: Visit, target: Target, reply: Reply, stops: boolean): TargetAnswer {
  addGatewayHeaders(reply.headers, target, visit.retryCount, visit.cacheStatus);
  return { status: reply.status, stops, reply, error: undefined };
}

function lookUp(exchange: ModelExchange, target: Target, outgoing: PreparedCall, deps: VisitDeps) {
  const { bundle } = exchange;
  const { caller } = exchange.arrival;
  const { operation } = exchange.subject;
  // Pass-through is not ours to repeat, and a caller who is not tracked leaves nothing behind.
  if (
    operation.body === 'raw' ||
    outgoing.translation === undefined ||
    !caller.debug ||
    bundle === undefined
  )
    return undefined;
  return deps.cache.lookUp({
    rule: target.planned.cache,
    endpoint: operation.id,
    organisationId: bundle.source.organisationId,
    workspaceId: bundle.source.workspaceId,
    credential: credentialOf(target, outgoing),
    provider: target.entry.id,
    origin: outgoing.origin,
    path: outgoing.path,
    method: outgoing.method,
    sentJson: outgoing.sentJson,
    model: target.servedModel,
    metadata: exchange.metadata,
    namespace: caller.cacheNamespace,
    upstreamHeaders: outgoing.headers,
    forwardsCallersHeaders: caller.forwardHeaders !== undefined,
    checkedBy: outputChecks(target.planned.hooks),
    // Not every format says so in the body.
    wantsStream: outgoing.context.stream,
    forceRefresh: caller.cacheForceRefresh,
    signal: exchange.arrival.signal,
    strictOpenAiCompliance: target.strictOpenAiCompliance,
  });
}

/** A kept answer. Its output was checked when it was kept; what the input's checks found is told with it. */
async function fromCache(
  visit: Visit,
  target: Target,
  outgoing: PreparedCall,
  kept: Reply,
  checks: TargetChecks,
  deps: VisitDeps,
): Promise<TargetAnswer> {
  const reply = kept.kind === 'body' ? checks.onKeptBody(kept) : checks.onStream(kept, false);
  visit.exchange.progress.tries++;
  await deps.recorder.answerFromCache(visit, target, reply.status);
  addDroppedHeader(reply.headers, outgoing);
  return finished(visit, target, reply, false);
}
