import { usage } from '@sluice/proto-stubs';
import type { UsageRecord } from '@sluice/usage';
import { clipped } from '../exchange/clipped.ts';
import type { EndedAttempt, PreparedCall, RecordedParts } from '../exchange/prepared-call.ts';
import type { Used } from '../exchange/reservation.ts';
import { addCounts } from './add-counts.ts';
import { addReply } from './add-reply.ts';
import { replySummary } from './reply-summary.ts';
import { type UsageRecorder, withMember } from './usage-recorder.ts';

const { Outcome } = usage;

/**
 * The one record of an answer that several targets told parts of: that of the
 * first, with the tokens and the cost of all, and the parts in its decision.
 */
export class RecordOfParts implements RecordedParts {
  readonly #recorder: UsageRecorder;
  readonly #parts: object[] = [];
  #first: { record: UsageRecord; ended: EndedAttempt; least: Used | undefined } | undefined;
  #told: PreparedCall | undefined;
  /** Somebody answered, and nobody knows for how much. */
  #lacksPrice = false;
  #isClosed = false;

  constructor(recorder: UsageRecorder) {
    this.#recorder = recorder;
  }

  get isOpen(): boolean {
    return this.#first !== undefined && !this.#isClosed;
  }

  begin(record: UsageRecord, ended: EndedAttempt, least: Used | undefined): void {
    this.#first = { record, ended, least };
    this.#note(ended);
  }

  isTold(call: PreparedCall): void {
    this.#told = call;
  }

  add(ended: EndedAttempt): Promise<void> {
    const record = this.#first?.record;
    if (record === undefined || this.#isClosed) return Promise.resolve();
    this.#note(ended);
    const { facts, bill, price, call, outcome } = ended;
    if (bill !== undefined) addReply(record, bill, price);
    addCounts(record, call.reservation);
    if (this.#told !== call || ended.isContinued || !isLast(outcome)) return Promise.resolve();
    record.errorCode = ended.errorCode;
    record.failureCause = ended.failureCause ?? '';
    record.finishReason = clipped(facts?.finishReason ?? record.finishReason);
    return this.close(outcome);
  }

  close(outcome: usage.Outcome, errorCode?: string): Promise<void> {
    if (this.#first === undefined || this.#isClosed) return Promise.resolve();
    this.#isClosed = true;
    const { record, ended, least } = this.#first;
    const { requester, notes } = ended.call;
    record.outcome = outcome;
    if (outcome === Outcome.SUCCESS || errorCode !== undefined) {
      record.errorCode = errorCode ?? '';
      record.failureCause = '';
    }
    if (this.#lacksPrice) record.costKnown = false;
    requester.progress.addUse(record);
    const now = performance.now();
    record.latencyMs = now - requester.arrival.startedAt;
    record.attemptMs = now - ended.startedAt;
    record.entryMs = now - notes.startedAt;
    record.decisionJson = withMember(
      record.decisionJson,
      `"parts":${JSON.stringify(this.#parts.slice(0, partsMax))}`,
    );
    const note = ended.call.reservation?.noteEnd(least);
    const stored = this.#recorder.storeUse(record, requester, note).catch(() => {
      // The disk refuses: the begin entry stands for the attempt, as `lost`, after the next start.
    });
    try {
      this.#recorder.flush();
    } catch {
      // As above.
    }
    notes.summary = replySummary(record);
    return stored;
  }

  #note({ call, bill, price, outcome, errorCode }: EndedAttempt): void {
    const { target } = call;
    const hasAnswered = bill?.facts.usage !== undefined || isLast(outcome);
    if (hasAnswered && price === undefined) this.#lacksPrice = true;
    this.#parts.push({
      path: target.path,
      provider: target.entry.id,
      model: clipped(target.servedModel),
      outcome: usage.Outcome[outcome].toLowerCase(),
      ...(errorCode !== '' && { error: errorCode }),
      ...(bill?.facts.usage !== undefined && {
        input_tokens: bill.facts.usage.inputTokens,
        output_tokens: bill.facts.usage.outputTokens,
      }),
      ...(price !== undefined && { cost_nano_usd: price.cost.totalNanoUsd }),
    });
  }
}

/** What failed before it told anything leaves it to the next, and costs nothing. */
function isLast(outcome: usage.Outcome): boolean {
  return (
    outcome === Outcome.SUCCESS ||
    outcome === Outcome.DENIED ||
    outcome === Outcome.PARTIAL ||
    outcome === Outcome.CALLER_GONE
  );
}

const partsMax = 50;
