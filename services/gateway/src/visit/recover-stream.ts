import { type PlanStep, type ResolvedTarget, targetsAfter } from '@sluice/engine';
import { usage } from '@sluice/proto-stubs';
import {
  type ContinuationWay,
  factsOfModel,
  type JsonObject,
  type ModelOverrides,
  SplicedStream,
  type Translation,
} from '@sluice/providers';
import { type RequestBounds, stopOf } from '../calls/request-bounds.ts';
import type { ModelExchange } from '../exchange/exchange.ts';
import type { PreparedCall, RecoverableStream, StreamRecovery } from '../exchange/prepared-call.ts';
import { discard, type StreamReply } from '../exchange/reply.ts';
import { isCallerGone } from '../http/caller-gone.ts';
import { RecordOfParts } from '../usage/record-of-parts.ts';
import { resolveTarget } from './targets/resolve-target.ts';
import { type VisitParts, visitTarget } from './visit-target.ts';

const { Outcome } = usage;

export interface RecoverParts extends VisitParts {
  bounds: RequestBounds;
  /** Absent = what our table says of models holds. */
  modelOverrides?: ModelOverrides | undefined;
  metrics: {
    /** Another target was asked for the rest of a stream. */
    continued(): void;
  };
}

/**
 * Has a stream that breaks off continued by the targets that the plan would
 * have asked next. Each is visited like any other, with its own parameters,
 * checks, limits and circuits, for the caller's request with what was told.
 */
export class RecoverStream implements StreamRecovery {
  readonly parts: RecordOfParts;
  readonly #exchange: ModelExchange;
  readonly #root: PlanStep;
  readonly #parts: RecoverParts;
  /** Those that may still be asked; undefined until the first cut. */
  #targets: ResolvedTarget[] | undefined;
  /** The checks of the target that began judge all of it, whoever tells the rest. */
  #isJudged = false;
  /** Under way: what calls are made from here on are to tell the rest of it. */
  #rest: { splice: SplicedStream; way: ContinuationWay } | undefined;

  constructor(exchange: ModelExchange, root: PlanStep, parts: RecoverParts) {
    this.#exchange = exchange;
    this.#root = root;
    this.#parts = parts;
    this.parts = new RecordOfParts(parts.recorder);
  }

  get isAsking(): boolean {
    return this.#rest !== undefined;
  }

  open(call: PreparedCall, translation: Translation): RecoverableStream | undefined {
    const { context, sentJson, requester } = call;
    if (this.#rest !== undefined) {
      const { splice, way } = this.#rest;
      call.isJudged = this.#isJudged;
      this.parts.isTold(call);
      return { splice, reader: splice.openNext(translation, context, way) };
    }
    const splice = SplicedStream.of(translation, context.request);
    if (splice === undefined) return undefined;
    this.#isJudged = call.isJudged;
    const { holdBytes } = requester.arrival;
    return { splice, reader: splice.openFirst(translation, context, sentJson, holdBytes) };
  }

  askForRest(body: JsonObject): JsonObject | undefined {
    return this.#rest?.splice.continuedRequest(body, this.#rest.way);
  }

  lacks(splice: SplicedStream, { target }: PreparedCall): 'end' | 'more' | undefined {
    if (this.#exchange.arrival.signal.aborted) return undefined;
    this.#targets ??= targetsAfter(this.#root, target.planned);
    const lacks = splice.lacks();
    if (lacks !== 'more') return lacks;
    if (this.#targets.length === 0) return undefined;
    // Until the rest is told: the call that broke off is over in a moment.
    this.#exchange.limits?.hold();
    return lacks;
  }

  async next(splice: SplicedStream): Promise<StreamReply | undefined> {
    try {
      return (await this.#askOthers(splice)) ?? (await this.#giveUp());
    } finally {
      this.#exchange.limits?.release();
    }
  }

  async #askOthers(splice: SplicedStream): Promise<StreamReply | undefined> {
    const cutAt = performance.now();
    for (;;) {
      const planned = this.#targets?.shift();
      if (planned === undefined) return undefined;
      const ways = splice.waysToAsk(this.#takesPrefill(planned));
      for (const way of ways) {
        const { progress, arrival } = this.#exchange;
        if (arrival.signal.aborted || stopOf(progress, cutAt, this.#parts.bounds) !== undefined)
          return undefined;
        this.#rest = { splice, way };
        this.#parts.metrics.continued();
        const { reply, status, stops } = await visitTarget(
          this.#exchange,
          askedForRest(planned),
          this.#parts,
        );
        if (reply?.kind === 'stream' && status === 200) return reply;
        discard(reply);
        if (stops) return undefined;
        // Only that the answer is begun for it may be what a model refuses.
        if (status !== 400) break;
      }
    }
  }

  async #giveUp(): Promise<undefined> {
    const isGone = isCallerGone(this.#exchange.arrival.signal);
    await this.parts.close(isGone ? Outcome.CALLER_GONE : Outcome.PARTIAL);
  }

  #takesPrefill(planned: ResolvedTarget): boolean {
    try {
      const { model } = resolveTarget(this.#exchange, planned);
      return factsOfModel(model, this.#parts.modelOverrides)?.prefill === true;
    } catch {
      // The visit will say why it cannot be asked.
      return false;
    }
  }
}

const variants = new WeakMap<ResolvedTarget, ResolvedTarget>();

/**
 * The target without what is for whole answers: a part is neither kept nor
 * looked up, is not asked for twice at once, and the checks of the output are
 * those of the target that began, which see all of it.
 */
function askedForRest(planned: ResolvedTarget): ResolvedTarget {
  let variant = variants.get(planned);
  if (variant === undefined) {
    const before = planned.hooks?.beforeRequest ?? [];
    const hooks = before.length === 0 ? undefined : { beforeRequest: before, afterRequest: [] };
    variant = { ...planned, cache: undefined, hedge: undefined, hooks, recoversStreams: true };
    variants.set(planned, variant);
  }
  return variant;
}
