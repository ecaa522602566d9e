import type { GatewayError } from '@sluice/errors';
import { usage } from '@sluice/proto-stubs';
import { emptyRecord, RecordEncoder, type UsageRecord } from '@sluice/usage';
import type { FoundPrompt } from '../compiled/prompt-compiler.ts';
import { clipped } from '../exchange/clipped.ts';
import type { ServerEvent } from '../exchange/event.ts';
import type { Visit } from '../exchange/exchange.ts';
import { outcomeOf } from '../exchange/outcome-of.ts';
import type { Requester } from '../exchange/requester.ts';
import type { CountsOfRecord } from '../exchange/reservation.ts';
import type { Subject } from '../exchange/subject.ts';
import type { Target } from '../exchange/target.ts';
import { isCacheHit, type VisitNotes } from '../exchange/visit.ts';
import { addClient } from './add-client.ts';
import { addCounts, noteRefusal } from './add-counts.ts';
import type { Outbox, OutboxNote } from './outbox.ts';
import { replySummary } from './reply-summary.ts';
import { SequenceNumbers } from './sequence-numbers.ts';
import type { RecordFollower } from './stored-record.ts';
import { uuidV7 } from './uuid.ts';

const { Outcome } = usage;

/** Who writes the records. */
export interface RecordedBy {
  readonly replicaId: string;
  readonly gatewayVersion: string;
  /** Undefined = nobody does. */
  readonly follow?: RecordFollower | undefined;
  /** Adds up what calls of models used; undefined = nobody does. */
  readonly addUse?: ((record: UsageRecord, requester: WhoUsed) => void) | undefined;
}

/** What sums tell apart of who asks, beside what the record says. */
export type WhoUsed = Pick<Requester, 'key' | 'config' | 'metadata'>;

/** Writes the ledger's side of requests: a begin and an end for each attempt, one record for each refusal. */
export class UsageRecorder {
  readonly #outbox: Outbox;
  readonly #replicaId: string;
  readonly #gatewayVersion: string;
  readonly #follow: RecordFollower | undefined;
  readonly #addUse: RecordedBy['addUse'];
  readonly #encoder = new RecordEncoder();
  readonly numbers = new SequenceNumbers();

  constructor(outbox: Outbox, { replicaId, gatewayVersion, follow, addUse }: RecordedBy) {
    this.#outbox = outbox;
    this.#replicaId = replicaId;
    this.#gatewayVersion = gatewayVersion;
    this.#follow = follow;
    this.#addUse = addUse;
  }

  /**
   * From here on exactly one record of this id follows.
   * @param lost what it says should this process die
   * @param note what is to be settled then
   * @throws when it cannot be noted: then it is to be taken back
   */
  begin(record: UsageRecord, lost: LostUse, note?: OutboxNote): BegunAttempt {
    record.sequence = this.numbers.open();
    const opening = this.#encoder.opening(record);
    // Said of the record itself for as long as it is written: a copy would cost as much as the writing.
    sayLost(record, lost);
    const payload = this.#encoder.encode(record, opening);
    sayLost(record, nothingLost);
    return { opening, written: this.#outbox.begin(record.id, payload, note) };
  }

  /** An attempt that could not be noted is not made. */
  takeBack(record: UsageRecord): void {
    this.numbers.giveBack(record.sequence);
  }

  /** What room is left belongs to what costs money. */
  get isFull(): boolean {
    return this.#outbox.isFull;
  }

  /** A request, or one target of it, that never got as far as an attempt. */
  async refuse(requester: Requester, error: GatewayError, at?: Refused): Promise<void> {
    // Refusals cost none.
    if (this.isFull) return;
    const target = at?.visit?.target;
    const record =
      target === undefined
        ? this.#blank(requester, at?.visit)
        : this.blankFor(requester, at?.visit, target);
    if (target === undefined) record.model = modelOf(requester.subject);
    if (at !== undefined) record.optionPath = at.path;
    if (at?.visit !== undefined) {
      at.visit.entry ??= { id: record.id, preProcessingMs: 0 };
      at.visit.recordedAs = record;
    } else record.logFormat = '';
    record.outcome = outcomeOf(error);
    record.statusCode = error.status;
    record.errorCode = error.code;
    addCounts(record, at?.visit?.reservation);
    noteRefusal(record, error);
    record.failureCause = error.failureCause ?? '';
    record.costKnown = true;
    addUncalled(record, requester, at?.visit);
    return this.store(record);
  }

  /** An answer from the cache: nobody was called, nothing was spent. */
  async answerFromCache(
    visit: Visit,
    target: Target,
    status: number,
    avoidedCostNanoUsd: number,
  ): Promise<void> {
    const { exchange } = visit;
    const record = this.blankFor(exchange, visit, target);
    record.outcome = Outcome.SUCCESS;
    record.statusCode = status;
    record.costKnown = true;
    record.avoidedCostNanoUsd = avoidedCostNanoUsd;
    addCounts(record, visit.reservation);
    record.cacheType = visit.cacheSimilarity === undefined ? 'simple' : 'semantic';
    visit.entry = { id: record.id, preProcessingMs: 0 };
    visit.recordedAs = record;
    addUncalled(record, exchange, visit);
    visit.summary = replySummary(record);
    return this.store(record);
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

  /**
   * @param note what is to be settled with it, should this process die before it is
   * @param opening what of it was written when its attempt began
   */
  store(record: UsageRecord, note?: OutboxNote, opening?: Buffer): Promise<void> {
    if (record.sequence === 0) record.sequence = this.numbers.take();
    else this.numbers.close(record.sequence);
    const bytes = this.#encoder.encode(record, opening);
    this.#follow?.addRecord(record, bytes);
    return this.#outbox.end(record.id, bytes, note);
  }

  /** The same for who goes on whether or not it could be stored: never rejects. */
  keep(record: UsageRecord, note?: OutboxNote, opening?: Buffer): Promise<void> {
    return this.#outbox.settled(this.store(record, note, opening));
  }

  /** `store` for a call of a model: what it used is added up as it stands in its record. */
  storeUse(
    record: UsageRecord,
    requester: WhoUsed,
    note?: OutboxNote,
    opening?: Buffer,
  ): Promise<void> {
    this.#addUse?.(record, requester);
    return this.store(record, note, opening);
  }

  /** `keep`, likewise. */
  keepUse(
    record: UsageRecord,
    requester: WhoUsed,
    note?: OutboxNote,
    opening?: Buffer,
  ): Promise<void> {
    return this.#outbox.settled(this.storeUse(record, requester, note, opening));
  }

  /** Writes what was stored, now. @throws when the disk refuses */
  flush(): void {
    this.#outbox.flush();
  }

  /** Who asks, and when: what every record has. */
  #ofRequest({ arrival, key, bundle, metadata }: WhoAsks): UsageRecord {
    const { caller } = arrival;
    const record = emptyRecord();
    record.id = uuidV7(Date.now());
    record.requestId = arrival.requestId;
    record.traceId = arrival.traceId;
    record.spanId = caller.spanId;
    record.parentSpanId = caller.parentSpanId;
    record.spanName = caller.spanName;
    record.replicaId = this.#replicaId;
    record.gatewayVersion = this.#gatewayVersion;
    record.createdAtMs = arrival.startedAtMs;
    record.organisationId = key?.source.organisationId ?? '';
    record.workspaceId = key?.source.workspaceId ?? '';
    record.workspaceSlug = bundle?.source.workspaceSlug ?? '';
    record.apiKeyId = key?.source.id ?? '';
    record.userId = key?.source.userId ?? '';
    record.method = arrival.method;
    record.bundleHash = bundle?.source.hash ?? '';
    record.metadata = metadata;
    addClient(record, arrival.headers);
    return record;
  }

  /** A record of a call of a server or an agent, as far as it is known before it is made. */
  blankOfEvent(requester: WhoAsks, event: ServerEvent): UsageRecord {
    const record = this.#ofRequest(requester);
    record.requestUrl = clipped(event.url);
    record.endpoint = event.mode;
    record.strategyMode = event.mode;
    record.cacheStatus = 'DISABLED';
    record.provider = event.kind;
    record.providerSlug = event.server.slug;
    record.model = event.server.id;
    record.rpcMethod = clipped(event.method);
    record.rpcId = clipped(event.rpcId);
    record.capabilityName = clipped(event.capability);
    // How it came to this server.
    if (event.mergedSlug !== undefined)
      record.decisionJson = JSON.stringify({ merged_server: event.mergedSlug });
    return record;
  }

  #blank(requester: Requester, notes: VisitNotes | undefined): UsageRecord {
    const { config, subject } = requester;
    const record = this.#ofRequest(requester);
    record.requestUrl = clipped(subject.pathname);
    record.endpoint = subject.operation.id;
    record.isProxyCall = subject.operation.body === 'raw';
    record.stream = subject.kind === 'model-call' && subject.wantsStream;
    record.configId = config?.saved?.id ?? '';
    record.configSlug = config?.saved?.slug ?? '';
    record.configVersionId = config?.saved?.versionId ?? '';
    record.strategyMode = config?.compiled.strategyMode ?? 'single';
    record.cacheStatus = notes?.cacheStatus ?? 'DISABLED';
    record.decisionJson = decisionOf(requester, notes);
    record.logFormat = requester.contentFormat;
    record.requestParsingMs = requester.progress.readingMs;
    record.cacheProcessingMs = notes?.cacheMs ?? 0;
    if (subject.kind === 'model-call' && subject.prompt !== undefined) {
      record.promptId = subject.prompt.id;
      record.promptSlug = subject.prompt.slug;
      record.promptVersionId = subject.prompt.versionId;
    }
    return record;
  }

  /** A record of one target, as far as it is known before anything came of it. */
  blankFor(requester: Requester, notes: VisitNotes | undefined, target: Target): UsageRecord {
    const record = this.#blank(requester, notes);
    record.provider = target.entry.id;
    record.providerSlug = target.saved?.slug ?? '';
    record.model = clipped(target.servedModel);
    record.optionPath = target.path;
    return record;
  }
}

/** What a record tells of its request, whatever it asks for. */
export type WhoAsks = Pick<Requester, 'arrival' | 'key' | 'bundle' | 'metadata'>;

/** What the record of an attempt says should nobody be left to say more. */
export interface LostUse {
  readonly prompt: GuessedPrompt | undefined;
  /** What that takes of the limits. */
  readonly counts: CountsOfRecord | undefined;
}

/** What an attempt takes whatever becomes of it. */
export interface GuessedPrompt {
  readonly inputTokens: number;
  /** Undefined = no price is known. */
  readonly costNanoUsd: number | undefined;
}

export interface BegunAttempt {
  /** What of its record is written already. */
  readonly opening: Buffer;
  /** Resolves when it is noted. */
  readonly written: Promise<void>;
}

const nothingLost: LostUse = { prompt: undefined, counts: undefined };
const noCounts: CountsOfRecord['reserved'] = new Map();

/** Its prompt was read. */
function sayLost(record: UsageRecord, { prompt, counts }: LostUse): void {
  record.usageEstimated = prompt !== undefined;
  record.inputTokens = prompt?.inputTokens ?? 0;
  record.costKnown = prompt?.costNanoUsd !== undefined;
  record.costNanoUsd = prompt?.costNanoUsd ?? 0;
  record.inputCostNanoUsd = record.costNanoUsd;
  record.countersReserved = counts?.reserved ?? noCounts;
  record.countersSettled = counts?.settled ?? noCounts;
}

/** Times of what was answered or refused without a call. */
function addUncalled(
  record: UsageRecord,
  { arrival, progress }: Requester,
  visit: Visit | undefined,
): void {
  const now = performance.now();
  record.latencyMs = now - arrival.startedAt;
  record.gatewayMs = record.latencyMs;
  record.entryMs = now - (visit?.startedAt ?? arrival.startedAt);
  record.preProcessingMs = Math.max(
    0,
    record.latencyMs - progress.readingMs - record.cacheProcessingMs,
  );
}

/** The choices of the plan, what checks said of this target, and what ended the request before its plan did. */
export function decisionOf(
  { decisionJson, progress, subject }: Requester,
  notes: VisitNotes | undefined,
): string {
  const { stoppedBy, tries } = progress;
  let json = withVerdicts(decisionJson, notes?.hookVerdicts ?? []);
  if (subject.kind === 'model-call' && subject.prompt !== undefined)
    json = withMember(json, `"prompt":${JSON.stringify(namedPrompt(subject.prompt))}`);
  if (notes?.cacheSimilarity !== undefined)
    json = withMember(json, `"cache":${JSON.stringify(similarAnswer(notes))}`);
  if (subject.kind === 'model-call' && subject.toolRound !== undefined)
    json = withMember(json, `"tools":{"round":${subject.toolRound}}`);
  if (stoppedBy !== undefined)
    json = withMember(json, `"stopped":{"by":"${stoppedBy}","tries":${tries}}`);
  return json;
}

/** Of a question in other words: how near it is, and whether its answer was given or is only told of. */
function similarAnswer({ cacheSimilarity, cacheStatus }: VisitNotes) {
  return { similarity: cacheSimilarity, given: isCacheHit(cacheStatus) };
}

/** @param verdicts each a `HookVerdict` as JSON */
export function withVerdicts(json: string, verdicts: readonly string[]): string {
  return verdicts.length === 0
    ? json
    : withMember(json, `"hooks":[${verdicts.slice(0, hooksMax).join()}]`);
}

export function withMember(json: string, member: string): string {
  return json === '' ? `{${member}}` : `${json.slice(0, -1)},${member}}`;
}

const hooksMax = 50;

function namedPrompt({ id, slug, version, versionId }: FoundPrompt) {
  return { id, slug, version, versionId };
}

function modelOf(subject: Subject): string {
  return subject.kind === 'model-call' ? subject.model : '';
}

/** Where a request was refused before anybody was called; the target when it got so far. */
export interface Refused {
  path: string;
  /** Undefined where the target was never asked. */
  visit: Visit | undefined;
}
