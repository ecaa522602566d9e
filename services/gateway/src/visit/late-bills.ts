import { createHash } from 'node:crypto';
import type { JsonObject, ObjectOperationId, ReplyUnits } from '@sluice/contracts';
import { usage } from '@sluice/proto-stubs';
import {
  backgroundTierOf,
  bytesSaidIn,
  passThroughTranslation,
  type ReplyFacts,
  type UnifiedRow,
} from '@sluice/providers';
import type { Bill, PricedReply } from '../exchange/bill.ts';
import { clipped } from '../exchange/clipped.ts';
import type { Reservation } from '../exchange/reservation.ts';
import { limitFactsOf, type Target } from '../exchange/target.ts';
import type { LimitStore } from '../limits/limit-store.ts';
import { type LimitWatchers, RequestLimits, unheard } from '../limits/request-limits.ts';
import { askedModel } from '../owners/asked-model.ts';
import type { BillClaims, BilledObject } from '../owners/bill-claims.ts';
import { type Counted, type EndedWork, endedWorkIn } from '../owners/ended-work.ts';
import { addCounts } from '../usage/add-counts.ts';
import { addReply } from '../usage/add-reply.ts';
import type { UsageRecorder } from '../usage/usage-recorder.ts';
import { callOf, type TargetVisit, targetOf } from './target-visit.ts';

const { Outcome } = usage;

export interface LateBillParts {
  recorder: UsageRecorder;
  limits: LimitStore;
  watch: LimitWatchers;
  claims: BillClaims;
  /** Whether a provider may have counted so. */
  arePossible: (units: ReplyUnits) => boolean;
  /** What work that told such facts is charged by. */
  bill: (row: Pick<UnifiedRow, 'facts'>, target: Target) => Bill;
  /** What a reply with such facts costs; undefined = no price is known. */
  price: (facts: ReplyFacts, target: Target, atMs: number) => PricedReply | undefined;
}

/**
 * Bills work that went on after its answer – responses in the background, runs,
 * videos, fine-tunes – when a provider first says that it has ended, whoever asked: one record,
 * whose id is made of the object's, and counted where its caller is limited.
 */
export class LateBills {
  readonly #parts: LateBillParts;

  constructor(parts: LateBillParts) {
    this.#parts = parts;
  }

  /** Hears a document that a reply told. Undefined = there is nothing to bill. Never rejects. */
  hear(visit: TargetVisit, document: Record<string, unknown>): Promise<void> | undefined {
    const work = endedWorkIn(document);
    if (work === undefined || isForeign(visit)) return undefined;
    return this.#bill(visit, work, document).catch(() => {
      // The disk refuses: what cannot be recorded is not counted either.
    });
  }

  async #bill(
    visit: TargetVisit,
    work: EndedWork,
    document: Readonly<Record<string, unknown>>,
  ): Promise<void> {
    const { claims, recorder } = this.#parts;
    const { startedAtMs } = visit.exchange.arrival;
    if (isForgotten(work.completedAtMs || work.createdAtMs, startedAtMs)) return;
    const told = factsOf(work, callOf(visit).context, this.#parts.arePossible);
    // Where nothing can be recorded, nothing is counted: who looks later bills it.
    if (told === undefined || recorder.isFull) return;
    const object = billedObject(visit, { id: work.id, kind: work.kind });
    if (!(await claims.take(object))) return;
    try {
      await this.#record(visit, work, document, told);
    } catch (error) {
      await claims.release(object);
      throw error;
    }
    await claims.keep(object);
  }

  async #record(
    visit: TargetVisit,
    work: EndedWork,
    document: Readonly<Record<string, unknown>>,
    told: ReplyFacts,
  ): Promise<void> {
    const { recorder, price } = this.#parts;
    const { exchange } = visit;
    const { origin } = callOf(visit);
    const organisationId = exchange.key?.source.organisationId ?? '';
    const { startedAtMs } = exchange.arrival;
    const createdAtMs = plausible(work.createdAtMs, startedAtMs);
    const asked = exchange.subject.named?.own?.model ?? '';
    const served = withModel(targetOf(visit), askedModel(asked, told.model ?? ''));
    const bill =
      'units' in work.used
        ? countedBill(told, work.used)
        : this.#parts.bill({ facts: told }, served);
    const facts = withTier(bill.facts, askedTierOf(visit, document));
    // By the prices of when it was made, whenever somebody looks.
    const priced = price(facts, served, createdAtMs);
    const record = recorder.blankFor(exchange, visit, served);
    record.createdAtMs = createdAtMs;
    record.id = idOf(`${organisationId}\n${origin}\n${work.id}`, createdAtMs);
    // A further record of the request that found it ended.
    record.attempt = exchange.progress.attempts + 1;
    if (visit.entry !== undefined) record.entryId = visit.entry.id;
    record.endpoint = endpoints[work.kind];
    record.outcome = Outcome.SUCCESS;
    record.statusCode = 200;
    record.finishReason = clipped(work.status);
    record.responseModel = clipped(facts.model ?? '');
    record.latencyMs = Math.max(0, work.completedAtMs - work.createdAtMs);
    record.logFormat = '';
    addReply(record, { ...bill, facts }, priced);
    const { inputTokens = 0, outputTokens = 0 } = facts.usage ?? {};
    const tokens = inputTokens + outputTokens;
    const used = { tokens, costNanoUsd: priced?.cost.totalNanoUsd ?? 0 };
    await this.count(visit, served, used, (held) => addCounts(record, held));
    await recorder.storeUse(record, exchange);
  }

  /** Counted where its caller is limited, as no further request. A limit that is spent refuses nothing: the work is done. */
  async count(
    { exchange }: TargetVisit,
    target: Target,
    used: { tokens: number; costNanoUsd: number },
    note: (held: Reservation) => void,
  ): Promise<void> {
    if (RequestLimits.areNone(exchange)) return;
    const { limits, watch } = this.#parts;
    const counted = RequestLimits.of(limits, exchange, unheard(watch.open));
    try {
      await counted.postDone(limitFactsOf(target), target.saved, used, note);
    } catch {
      // It cannot be asked: the record says all the same what was used.
    }
  }
}

/** As it is known by who bills it. */
export function billedObject(
  visit: TargetVisit,
  { id, kind }: Pick<BilledObject, 'id' | 'kind'>,
): BilledObject {
  const { organisationId = '', workspaceId = '' } = visit.exchange.key?.source ?? {};
  return { organisationId, workspaceId, kind, origin: callOf(visit).origin, id };
}

/** An id in a vendor's own words may say how long a video is: who made it up would say what he pays. */
function isForeign(visit: TargetVisit): boolean {
  const { named } = visit.exchange.subject;
  return callOf(visit).work !== undefined && named !== undefined && named.own === undefined;
}

/** By which the work is begun. */
const endpoints: Readonly<Record<EndedWork['kind'], ObjectOperationId | 'createModelResponse'>> = {
  response: 'createModelResponse',
  run: 'createRun',
  video: 'createVideo',
  'fine-tuning job': 'createFinetune',
};

function factsOf(
  { used }: EndedWork,
  context: Parameters<ReturnType<typeof passThroughTranslation>['decode']>[1],
  arePossible: LateBillParts['arePossible'],
): ReplyFacts | undefined {
  if ('units' in used) {
    // What cannot be true is no ground for a price.
    const units = arePossible(used.units) ? used.units : {};
    return { units, ...(used.model === '' ? {} : { model: used.model }) };
  }
  try {
    const bytes = Buffer.from(JSON.stringify(used.document));
    const head = { status: 200, headers: {} };
    const { facts } = translations[used.format].decode(bytes, context, head);
    return { ...facts, saidBytes: bytesSaidIn(used.document as JsonObject) };
  } catch {
    // Not the format after all: nothing is told.
    return undefined;
  }
}

/** What a response was asked to be made within: by the document that tells of it, the request that made it, or what is remembered of that. */
function askedTierOf(
  visit: TargetVisit,
  document: Readonly<Record<string, unknown>>,
): string | undefined {
  return (
    backgroundTierOf(document as JsonObject) ??
    backgroundTierOf(callOf(visit).sentJson) ??
    visit.exchange.subject.named?.own?.tier
  );
}

function withTier(facts: ReplyFacts, tier: string | undefined): ReplyFacts {
  const { servedTier = 'standard' } = facts;
  return tier === undefined || servedTier !== 'standard' ? facts : { ...facts, servedTier: tier };
}

function countedBill(facts: ReplyFacts, { isEstimated }: Counted): Bill {
  const isImplausible = facts.units !== undefined && Object.keys(facts.units).length === 0;
  return { facts, isEstimated, isImplausible };
}

const translations = {
  'openai-responses': passThroughTranslation('openai-responses'),
  'openai-chat': passThroughTranslation('openai-chat'),
};

/** The call that found it ended named no model. */
function withModel(target: Target, model: string): Target {
  return target.servedModel === '' ? { ...target, servedModel: model } : target;
}

const dayMs = 24 * 60 * 60_000;
/** Before that no time is one, to the ledger either. */
const timesSinceMs = Date.UTC(2020, 0);
/** As long as claims are kept. */
const rememberedMs = 60 * dayMs;

/** When it began: the same at every gateway that hears of it. What cannot be true is not believed. */
export function plausible(ms: number, nowMs: number): number {
  return ms > timesSinceMs && ms < nowMs + dayMs ? ms : nowMs;
}

/** It ended so long ago that nothing tells whether it was billed: it was, if it was ours. */
export function isForgotten(endedAtMs: number, nowMs: number): boolean {
  return endedAtMs > timesSinceMs && endedAtMs < nowMs - rememberedMs;
}

/** As a UUIDv7 of that time, so that two records of one object are one. */
export function idOf(text: string, ms: number): Buffer {
  const id = createHash('sha256').update(text).digest().subarray(0, 16);
  id.writeUIntBE(ms, 0, 6);
  id[6] = 0x70 | ((id[6] ?? 0) & 0x0f);
  id[8] = 0x80 | ((id[8] ?? 0) & 0x3f);
  return id;
}
