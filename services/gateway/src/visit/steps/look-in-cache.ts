import type {
  CacheLookup,
  CacheRequest,
  Delivery,
  ReplyCache,
  SemanticAsk,
} from '../../cache/reply-cache.ts';
import { sentBody } from '../../calls/prepare/sent-body.ts';
import type { CompiledBundle } from '../../compiled/compiled-bundle.ts';
import { hooksOf } from '../../compiled/enforced-guardrails.ts';
import type { Reply } from '../../exchange/reply.ts';
import type { ModelCall } from '../../exchange/subject.ts';
import type { Target } from '../../exchange/target.ts';
import { outputChecks } from '../../guardrails/output-checks.ts';
import { inTurn } from '../../http/large-work.ts';
import { isReadDifferently } from '../../http/repeated-members.ts';
import type { UsageRecorder } from '../../usage/usage-recorder.ts';
import { credentialOf } from '../credential-of.ts';
import type { QuestionEmbedder } from '../embed-question.ts';
import type { Step, TargetAnswer } from '../step.ts';
import { callOf, type TargetVisit, targetOf } from '../target-visit.ts';

export interface LookInCacheParts {
  cache: ReplyCache;
  recorder: UsageRecorder;
  embedder: QuestionEmbedder;
  /** Where a config does not say from which cosine on two questions are one. */
  similarityMin: number;
  onShadowHit: () => void;
  /** What a kept answer would have cost, asked for now, in nano-USD; 0 = no price is known. */
  avoidedCost: (subject: ModelCall, target: Target, kept: Delivery) => number;
}

/** A kept answer is the answer. Otherwise this request leads, and equal ones wait for it. */
export function lookInCache(parts: LookInCacheParts): Step {
  return {
    isNeeded: ({ cache: rule }) => rule !== undefined,
    async run(visit, next) {
      const { body } = visit.exchange.subject;
      const owner = visit.exchange.bundle?.source.workspaceId ?? '';
      const startedAt = performance.now();
      const looking = await inTurn(owner, body?.length ?? 0, () => lookUp(visit, parts));
      visit.cacheMs = performance.now() - startedAt;
      visit.exchange.progress.cacheMs += visit.cacheMs;
      if (looking === undefined) return next(visit);
      visit.cacheStatus = looking.status;
      visit.cacheSimilarity = looking.similarity;
      if (looking.reply !== undefined) return answerKept(visit, looking, looking.reply, parts);
      if (looking.similarity !== undefined) parts.onShadowHit();
      visit.fill = looking.fill;
      try {
        return await next(visit);
      } finally {
        looking.fill?.release();
      }
    },
    async judge(visit) {
      const request = cacheRequest(visit, parts);
      visit.judgedCache = request && (await parts.cache.judge(request));
    },
  };
}

function lookUp(
  visit: TargetVisit,
  parts: LookInCacheParts,
): CacheLookup | Promise<CacheLookup> | undefined {
  const request = cacheRequest(visit, parts);
  return request && parts.cache.lookUp(request);
}

/** Undefined where nothing is looked up. */
function cacheRequest(visit: TargetVisit, parts: LookInCacheParts): CacheRequest | undefined {
  const { bundle, arrival, subject, metadata } = visit.exchange;
  const { caller } = arrival;
  const { operation } = subject;
  const target = targetOf(visit);
  const call = callOf(visit);
  // Pass-through is not ours to repeat, and a caller who is not tracked leaves nothing behind.
  if (
    operation.body === 'raw' ||
    subject.isUnread === true ||
    // What tools say is of now, and their calls have effects.
    subject.toolRound !== undefined ||
    call.translation === undefined ||
    !caller.debug ||
    bundle === undefined ||
    // The provider may read another question in it than we do.
    (subject.form === undefined && subject.body !== undefined && isReadDifferently(subject.body))
  )
    return undefined;
  return {
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
    generation: generationOf(bundle, caller.cacheNamespace),
    maxAgeCapS: bundle.source.cacheMaxAgeS,
    checkedBy: outputChecks(hooksOf(target.planned, bundle.enforced)),
    // Not every format says so in the body.
    wantsStream: call.context.stream,
    forceRefresh: caller.cacheForceRefresh,
    signal: arrival.signal,
    strictOpenAiCompliance: target.strictOpenAiCompliance,
    semantic: semanticAsk(visit, target, parts),
  };
}

/** Changes when the namespace is emptied, or the workspace. */
function generationOf({ cacheGenerations }: CompiledBundle, namespace = ''): string {
  const ofAll = cacheGenerations.get('') ?? '';
  const own = namespace === '' ? undefined : cacheGenerations.get(namespace);
  return own === undefined ? ofAll : `${ofAll}/${own}`;
}

function semanticAsk(
  { exchange, shaped }: TargetVisit,
  target: Target,
  parts: Pick<LookInCacheParts, 'embedder' | 'similarityMin'>,
): SemanticAsk | undefined {
  const rule = target.planned.cache?.semantic;
  if (rule === undefined) return undefined;
  const embedder = parts.embedder.embedderOf(rule.embedding, target.path);
  return {
    threshold: rule.threshold ?? parts.similarityMin,
    isShadow: rule.isShadow,
    askedJson: sentBody(exchange, target, shaped),
    bodyBytes: exchange.subject.body?.length ?? 0,
    embedder: embedder.name,
    embed: (text) => parts.embedder.embed(exchange, embedder, text),
  };
}

/** Its output was checked when it was kept; what the input's checks found is told with it. */
async function answerKept(
  visit: TargetVisit,
  { kept }: CacheLookup,
  found: Reply,
  { recorder, avoidedCost }: LookInCacheParts,
): Promise<TargetAnswer> {
  const { hooks } = visit;
  let reply = found;
  if (hooks !== undefined)
    reply = found.kind === 'body' ? hooks.onUncheckedBody(found) : hooks.onStream(found, undefined);
  visit.exchange.limits?.noteAnswered();
  visit.exchange.progress.tries++;
  const target = targetOf(visit);
  const saved = kept === undefined ? 0 : avoidedCost(visit.exchange.subject, target, kept);
  await recorder.answerFromCache(visit, target, reply.status, saved);
  return { status: reply.status, stops: false, reply, error: undefined };
}
