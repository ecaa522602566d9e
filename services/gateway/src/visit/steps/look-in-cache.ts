import type { CacheLookup, Delivery, ReplyCache } from '../../cache/reply-cache.ts';
import { hooksOf } from '../../compiled/enforced-guardrails.ts';
import type { Reply } from '../../exchange/reply.ts';
import type { ModelCall } from '../../exchange/subject.ts';
import type { Target } from '../../exchange/target.ts';
import { outputChecks } from '../../guardrails/output-checks.ts';
import { inTurn } from '../../http/large-work.ts';
import type { UsageRecorder } from '../../usage/usage-recorder.ts';
import { credentialOf } from '../credential-of.ts';
import type { Step, TargetAnswer } from '../step.ts';
import { callOf, type TargetVisit, targetOf } from '../target-visit.ts';

export interface LookInCacheParts {
  cache: ReplyCache;
  recorder: UsageRecorder;
  /** What a kept answer would have cost, asked for now, in nano-USD; 0 = no price is known. */
  avoidedCost: (subject: ModelCall, target: Target, kept: Delivery) => number;
}

/** A kept answer is the answer. Otherwise this request leads, and equal ones wait for it. */
export function lookInCache({ cache, ...parts }: LookInCacheParts): Step {
  return {
    isNeeded: ({ cache: rule }) => rule !== undefined,
    async run(visit, next) {
      const { body } = visit.exchange.subject;
      const owner = visit.exchange.bundle?.source.workspaceId ?? '';
      const startedAt = performance.now();
      const looking = await inTurn(owner, body?.length ?? 0, () => lookUp(visit, cache));
      visit.cacheMs = performance.now() - startedAt;
      visit.exchange.progress.cacheMs += visit.cacheMs;
      if (looking === undefined) return next(visit);
      visit.cacheStatus = looking.status;
      if (looking.reply !== undefined) return answerKept(visit, looking, looking.reply, parts);
      visit.fill = looking.fill;
      try {
        return await next(visit);
      } finally {
        looking.fill?.release();
      }
    },
  };
}

function lookUp(
  visit: TargetVisit,
  cache: ReplyCache,
): CacheLookup | Promise<CacheLookup> | undefined {
  const { bundle, arrival, subject, metadata } = visit.exchange;
  const { caller } = arrival;
  const { operation } = subject;
  const target = targetOf(visit);
  const call = callOf(visit);
  // Pass-through is not ours to repeat, and a caller who is not tracked leaves nothing behind.
  if (
    operation.body === 'raw' ||
    call.translation === undefined ||
    !caller.debug ||
    bundle === undefined
  )
    return undefined;
  return cache.lookUp({
    rule: target.planned.cache,
    endpoint: operation.id,
    organisationId: bundle.source.organisationId,
    workspaceId: bundle.source.workspaceId,
    credential: credentialOf(target, call),
    provider: target.entry.id,
    origin: call.origin,
    path: call.path,
    method: call.method,
    sentJson: call.sentJson,
    model: target.servedModel,
    metadata,
    namespace: caller.cacheNamespace,
    upstreamHeaders: call.headers,
    forwardsCallersHeaders: caller.forwardHeaders !== undefined,
    checkedBy: outputChecks(hooksOf(target.planned, bundle.enforced)),
    // Not every format says so in the body.
    wantsStream: call.context.stream,
    forceRefresh: caller.cacheForceRefresh,
    signal: arrival.signal,
    strictOpenAiCompliance: target.strictOpenAiCompliance,
  });
}

/** Its output was checked when it was kept; what the input's checks found is told with it. */
async function answerKept(
  visit: TargetVisit,
  { kept }: CacheLookup,
  found: Reply,
  { recorder, avoidedCost }: Omit<LookInCacheParts, 'cache'>,
): Promise<TargetAnswer> {
  const { hooks } = visit;
  let reply = found;
  if (hooks !== undefined)
    reply = found.kind === 'body' ? hooks.onKeptBody(found) : hooks.onStream(found, false);
  visit.exchange.limits?.noteAnswered();
  visit.exchange.progress.tries++;
  const target = targetOf(visit);
  const saved = kept === undefined ? 0 : avoidedCost(visit.exchange.subject, target, kept);
  await recorder.answerFromCache(visit, target, reply.status, saved);
  return { status: reply.status, stops: false, reply, error: undefined };
}
