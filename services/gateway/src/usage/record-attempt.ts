import { noUsage } from '@sluice/contracts';
import type { Counter } from '@sluice/engine';
import { GatewayError } from '@sluice/errors';
import { type Cost, costOfReply, lookUpRates, priceBookVersion, type Rates } from '@sluice/pricing';
import { usage } from '@sluice/proto-stubs';
import type { ReplyFacts, ReplyUnits, Usage } from '@sluice/providers';
import { emptyRecord, RecordEncoder, type UsageRecord } from '@sluice/usage';
import type { Exchange } from '../exchange/exchange.ts';
import type { Target } from '../exchange/target.ts';
import type { Visit } from '../exchange/visit.ts';
import type { Outbox } from './outbox.ts';
import { uuidV7 } from './uuid.ts';

const { Outcome } = usage;

/** Writes the ledger's side of requests: a begin and an end for each attempt, one record for each refusal. */
export class UsageRecorder {
  private readonly outbox: Outbox;
  private readonly replicaId: string;
  private readonly encoder = new RecordEncoder();
  private readonly rates = new Map<string, Rates | undefined>();
  private sequence = 0;

  constructor(outbox: Outbox, replicaId: string) {
    this.outbox = outbox;
    this.replicaId = replicaId;
    setInterval(() => this.rates.clear(), ratesTtlMs).unref();
  }

  /** @throws GatewayError `gateway.ledger_full` when the attempt cannot be noted; it must not be made then. */
  async beginAttempt(
    visit: Visit,
    target: Target,
    retryCount: number,
    observer: AttemptObserver | undefined,
  ): Promise<AttemptRecord> {
    const record = this.blankFor(visit, target);
    record.attempt = visit.exchange.progress.attempts;
    record.retryCount = retryCount;
    try {
      await this.outbox.begin(record.id, this.encoder.encode(record));
    } catch (error) {
      throw new GatewayError('gateway.ledger_full', { cause: error });
    }
    return new AttemptRecord(this, record, visit, target, observer);
  }

  /** A request, or one target of it, that never got as far as an attempt. */
  async refuse(exchange: Exchange, error: GatewayError, at?: Refused): Promise<void> {
    // What room is left belongs to attempts, which cost money; refusals cost none.
    if (this.outbox.isFull) return;
    const record =
      at?.visit?.target === undefined
        ? this.blank(exchange, at?.visit)
        : this.blankFor(at.visit, at.visit.target);
    if (at?.visit?.target === undefined) record.model = modelOf(exchange);
    if (at !== undefined) record.optionPath = at.path;
    record.outcome =
      error.code === 'request.aborted'
        ? Outcome.CALLER_GONE
        : error.status >= 500
          ? Outcome.GATEWAY_ERROR
          : Outcome.DENIED;
    record.statusCode = error.status;
    record.errorCode = error.code;
    record.latencyMs = performance.now() - exchange.arrival.startedAt;
    record.gatewayMs = record.latencyMs;
    return this.outbox.end(record.id, this.encoder.encode(record));
  }

  /** An answer from the cache: nobody was called, nothing was spent. */
  async answerFromCache(visit: Visit, target: Target, status: number): Promise<void> {
    const { exchange } = visit;
    const record = this.blankFor(visit, target);
    record.outcome = Outcome.SUCCESS;
    record.statusCode = status;
    record.latencyMs = performance.now() - exchange.arrival.startedAt;
    record.gatewayMs = record.latencyMs;
    visit.summary = {
      provider: record.provider,
      model: record.model,
      inputTokens: 0,
      outputTokens: 0,
      costNanoUsd: 0,
      upstreamMs: 0,
    };
    return this.outbox.end(record.id, this.encoder.encode(record));
  }

  /** What turns the begin of an attempt that died with the process into its record. */
  static lostSuffix(): Uint8Array {
    const suffix = new RecordEncoder().encode({
      ...emptyRecord(),
      outcome: Outcome.LOST,
      errorCode: 'gateway.lost',
    });
    return Buffer.from(suffix);
  }

  store(record: UsageRecord): Promise<void> {
    return this.outbox.end(record.id, this.encoder.encode(record));
  }

  /** Writes what was stored, now. @throws when the disk refuses */
  flush(): void {
    this.outbox.flush();
  }

  price(
    target: Target,
    model: string,
    { tokens, units }: Counted,
    atMs: number,
  ): { cost: Cost; layer: string } | undefined {
    const custom = target.saved?.models.get(target.servedModel);
    const key = `${target.saved?.slug ?? ''}|${target.entry.id}|${model}|${custom?.requestTokenPrice ?? ''}|${custom?.responseTokenPrice ?? ''}`;
    let rates = this.rates.get(key);
    if (rates === undefined && !this.rates.has(key)) {
      rates = lookUpRates({
        provider: target.entry.id,
        model,
        atMs,
        custom:
          custom === undefined ||
          (custom.requestTokenPrice === '' && custom.responseTokenPrice === '')
            ? undefined
            : {
                requestTokenCents: custom.requestTokenPrice,
                responseTokenCents: custom.responseTokenPrice,
              },
      });
      if (this.rates.size >= ratesMax) this.rates.clear();
      this.rates.set(key, rates);
    }
    if (rates === undefined) return undefined;
    const imageTokens = units?.inputImageTokens;
    const counted =
      tokens === undefined || imageTokens === undefined
        ? tokens
        : { ...tokens, inputImageTokens: imageTokens };
    const cost = costOfReply(rates, counted, units);
    return cost === undefined ? undefined : { cost, layer: rates.layer };
  }

  /** What so many tokens would cost at a target, in nano-USD; undefined = no price is known. */
  estimateCost(
    target: Target,
    tokens: { inputTokens: number; outputTokens: number },
  ): number | undefined {
    const counted = { tokens: { ...noUsage, ...tokens }, units: undefined };
    return this.price(target, target.servedModel, counted, Date.now())?.cost.totalNanoUsd;
  }

  private blank(exchange: Exchange, visit: Visit | undefined): UsageRecord {
    const { key, bundle, config, subject } = exchange;
    const { caller } = exchange.arrival;
    const record = emptyRecord();
    record.id = uuidV7(Date.now());
    record.requestId = exchange.arrival.requestId;
    record.traceId = exchange.arrival.traceId;
    record.spanId = caller.spanId;
    record.parentSpanId = caller.parentSpanId;
    record.spanName = caller.spanName;
    record.replicaId = this.replicaId;
    record.sequence = ++this.sequence;
    record.createdAtMs = exchange.arrival.startedAtMs;
    record.organisationId = key?.source.organisationId ?? '';
    record.workspaceId = key?.source.workspaceId ?? '';
    record.workspaceSlug = bundle?.source.workspaceSlug ?? '';
    record.apiKeyId = key?.source.id ?? '';
    record.userId = key?.source.userId ?? '';
    record.method = exchange.arrival.method;
    record.requestUrl = clipped(exchange.subject.pathname);
    record.endpoint = exchange.subject.operation.id;
    record.isProxyCall = exchange.subject.operation.body === 'raw';
    record.stream = subject.kind === 'model-call' && subject.wantsStream;
    record.configId = config?.saved?.id ?? '';
    record.configSlug = config?.saved?.slug ?? '';
    record.configVersionId = config?.saved?.versionId ?? '';
    record.strategyMode = config?.compiled.strategyMode ?? 'single';
    record.bundleHash = bundle?.source.hash ?? '';
    record.cacheStatus = visit?.cacheStatus ?? 'DISABLED';
    record.metadata = exchange.metadata;
    record.decisionJson = decisionOf(exchange, visit);
    return record;
  }

  private blankFor(visit: Visit, target: Target): UsageRecord {
    const record = this.blank(visit.exchange, visit);
    record.provider = target.entry.id;
    record.providerSlug = target.saved?.slug ?? '';
    record.model = clipped(target.servedModel);
    record.optionPath = target.path;
    return record;
  }
}

/** The choices of the plan, what checks said of this target, and what ended the request before its plan did. */
function decisionOf({ decisionJson, progress }: Exchange, visit: Visit | undefined): string {
  const { stoppedBy, tries } = progress;
  const hookVerdicts = visit?.hookVerdicts ?? [];
  let json = decisionJson;
  if (hookVerdicts.length > 0)
    json = withMember(json, `"hooks":${JSON.stringify(hookVerdicts.slice(0, hooksMax))}`);
  if (stoppedBy !== undefined)
    json = withMember(json, `"stopped":{"by":"${stoppedBy}","tries":${tries}}`);
  return json;
}

function withMember(json: string, member: string): string {
  return json === '' ? `{${member}}` : `${json.slice(0, -1)},${member}}`;
}

const hooksMax = 50;

function modelOf({ subject }: Exchange): string {
  return subject.kind === 'model-call' ? subject.model : '';
}

/** Where a request was refused before anybody was called; the target when it got so far. */
export interface Refused {
  path: string;
  /** Undefined where the target was never asked. */
  visit: Visit | undefined;
}

/** Learns what each call came to, for circuits and averages. `firstByteMs` 0 = nothing arrived. */
export type AttemptObserver = (
  outcome: usage.Outcome,
  status: number,
  errorCode: string,
  firstByteMs: number,
) => void;

/** What of a reply costs money. */
interface Counted {
  tokens: Usage | undefined;
  units: ReplyUnits | undefined;
}

const ratesMax = 10_000;
const ratesTtlMs = 5 * 60_000;

/** The record of one attempt between its begin and its one end. */
export class AttemptRecord {
  private readonly recorder: UsageRecorder;
  private readonly record: UsageRecord;
  private readonly visit: Visit;
  private readonly target: Target;
  private readonly startedAt = performance.now();
  /** Counters of the target, to be settled with the tokens. */
  counters: readonly Counter[] = [];
  private isDone = false;
  private readonly observer: AttemptObserver | undefined;

  constructor(
    recorder: UsageRecorder,
    record: UsageRecord,
    visit: Visit,
    target: Target,
    observer: AttemptObserver | undefined,
  ) {
    this.recorder = recorder;
    this.record = record;
    this.visit = visit;
    this.target = target;
    this.observer = observer;
  }

  get hasFirstByte(): boolean {
    return this.record.timeToFirstByteMs !== 0;
  }

  /** What is left of a time that began with the attempt. */
  remainingMs(timeoutMs: number): number {
    return Math.max(0, timeoutMs - (performance.now() - this.startedAt));
  }

  firstByte(): void {
    if (this.record.timeToFirstByteMs === 0)
      this.record.timeToFirstByteMs = performance.now() - this.startedAt;
  }

  /**
   * Stores the record at once and settles the limits: for streams, where the
   * next bytes follow without a pause. Only the first call of either counts.
   */
  finishNow(
    outcome: usage.Outcome,
    status: number,
    errorCode: string,
    facts: ReplyFacts | undefined,
  ): void {
    if (this.isDone) return;
    void this.finish(outcome, status, errorCode, facts);
    try {
      this.recorder.flush();
    } catch {
      // The disk refuses: the begin entry stands for the attempt, as `lost`, after the next start.
    }
  }

  /** Stores the record and settles the limits; resolves when it is written, which the answer must wait for. */
  finish(
    outcome: usage.Outcome,
    status: number,
    errorCode: string,
    facts: ReplyFacts | undefined,
  ): Promise<void> {
    if (this.isDone) return Promise.resolve();
    this.isDone = true;
    const { record, visit } = this;
    const { exchange } = visit;
    const now = performance.now();
    record.outcome = outcome;
    record.statusCode = status;
    record.errorCode = errorCode;
    record.latencyMs = now - exchange.arrival.startedAt;
    record.gatewayMs = this.startedAt - exchange.arrival.startedAt;
    this.observer?.(outcome, status, errorCode, record.timeToFirstByteMs);
    if (visit.hookVerdicts.length > 0) record.decisionJson = decisionOf(exchange, visit);
    record.finishReason = clipped(facts?.finishReason ?? '');
    record.responseModel = clipped(facts?.model ?? '');
    const tokens = facts?.usage;
    const units = facts?.units;
    if (tokens !== undefined) this.countTokens(tokens);
    if (units !== undefined) this.countUnits(units);
    if (tokens !== undefined || units !== undefined) this.charge({ tokens, units });
    const stored = this.recorder.store(record).catch(() => {
      // The disk refuses: the begin entry stands for the attempt, as `lost`, after the next start.
    });
    // A cancelled second call must not stand for the one that answered.
    if (errorCode !== 'request.superseded')
      visit.summary = {
        provider: record.provider,
        model: record.model,
        inputTokens: record.inputTokens,
        outputTokens: record.outputTokens,
        costNanoUsd: record.costNanoUsd,
        upstreamMs: now - this.startedAt,
      };
    if (tokens !== undefined)
      exchange.limits?.settle(this.counters, tokens.inputTokens + tokens.outputTokens);
    return stored;
  }

  private countTokens(tokens: Usage): void {
    const { record } = this;
    record.usageReported = true;
    record.inputTokens = tokens.inputTokens;
    record.outputTokens = tokens.outputTokens;
    record.cacheReadTokens = tokens.cacheReadTokens;
    record.cacheWriteTokens = tokens.cacheWriteTokens;
    record.cacheWrite1hTokens = tokens.cacheWrite1hTokens;
    record.reasoningTokens = tokens.reasoningTokens;
    record.inputAudioTokens = tokens.inputAudioTokens;
    record.outputAudioTokens = tokens.outputAudioTokens;
  }

  private countUnits(units: ReplyUnits): void {
    const { record } = this;
    record.images = wholeCount(units.images);
    record.searchUnits = wholeCount(units.searchUnits);
    record.pages = wholeCount(units.pages);
    record.audioSeconds = Math.min(Math.max(units.audioSeconds ?? 0, 0), countMax);
    record.characters = wholeCount(units.characters);
  }

  private charge(counted: Counted): void {
    const { record } = this;
    // The model that answered is the one that was paid for, unless the price book only knows the one asked for.
    const priced =
      (record.responseModel === ''
        ? undefined
        : this.recorder.price(this.target, record.responseModel, counted, record.createdAtMs)) ??
      this.recorder.price(this.target, record.model, counted, record.createdAtMs);
    if (priced === undefined) return;
    record.costKnown = true;
    record.costNanoUsd = priced.cost.totalNanoUsd;
    record.inputCostNanoUsd = priced.cost.inputNanoUsd;
    record.outputCostNanoUsd = priced.cost.outputNanoUsd;
    record.priceLayer = priced.layer;
    record.priceBookVersion = priceBookVersion;
  }
}

/** A vendor's count of what comes in wholes; the record has no place for parts of one. */
function wholeCount(count: number | undefined): number {
  return count === undefined || !(count > 0) ? 0 : Math.min(Math.round(count), countMax);
}

const countMax = 2 ** 50;

/**
 * Callers and upstreams send names of any length; a record must stay small
 * enough for every queue it passes, or it would hold up all that follow it.
 */
function clipped(text: string): string {
  return text.length <= textLengthMax ? text : text.slice(0, textLengthMax);
}

const textLengthMax = 2048;
