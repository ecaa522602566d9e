import { GatewayError } from '@sluice/errors';
import type { UsageRecord } from '@sluice/usage';
import type { AttemptListener, EndedAttempt } from '../exchange/attempt.ts';
import { clipped } from '../exchange/clipped.ts';
import type { PreparedCall } from '../exchange/prepared-call.ts';
import type { Requester } from '../exchange/requester.ts';
import type { Reservation, Used } from '../exchange/reservation.ts';
import type { VisitNotes } from '../exchange/visit.ts';
import { addCounts } from './add-counts.ts';
import { addReply } from './add-reply.ts';
import { replySummary } from './reply-summary.ts';
import { decisionOf, type UsageRecorder } from './usage-recorder.ts';

/**
 * Notes each attempt before it is made, and what it came to: from the one to
 * the other its record is `lost`, should this process die. An attempt that
 * cannot be noted is not made: `gateway.ledger_full`.
 */
export function recordAttempt(
  recorder: UsageRecorder,
  promptOf: (call: PreparedCall) => GuessedPrompt | undefined,
): AttemptListener {
  return async ({ call, retryCount }) => {
    const { requester, target, notes, recovery } = call;
    // What tells the rest of an answer is noted with its beginning.
    if (recovery?.parts.isOpen === true) return (ended) => recovery.parts.add(ended);
    const record = recorder.blankFor(requester, notes, target);
    record.attempt = requester.progress.attempts;
    record.retryCount = retryCount;
    if (notes.entry === undefined)
      notes.entry = { id: record.id, preProcessingMs: beforeCall(requester, notes) };
    else record.entryId = notes.entry.id;
    record.preProcessingMs = notes.entry.preProcessingMs;
    if (requester.progress.preProcessingMs === 0)
      requester.progress.preProcessingMs = record.preProcessingMs;
    const { reservation } = call;
    const prompt = promptOf(call);
    const least = prompt && usedBy(prompt);
    try {
      const lost = asLost(record, prompt, reservation);
      await recorder.begin(record, lost, reservation?.noteBegin(least));
    } catch (error) {
      reservation?.noteEnd(least);
      throw new GatewayError('gateway.ledger_full', { cause: error });
    }
    return (ended) => finish(record, ended, recorder, least);
  };
}

/** What was done for the first call of a target, reading the request and looking into the cache apart. */
function beforeCall({ arrival, progress }: Requester, { startedAt, cacheMs }: VisitNotes): number {
  const since = progress.tries === 0 ? arrival.startedAt + progress.readingMs : startedAt;
  return performance.now() - since - cacheMs;
}

/** What an attempt takes whatever becomes of it, should nobody be left to say more. */
export interface GuessedPrompt {
  readonly inputTokens: number;
  /** Undefined = no price is known. */
  readonly costNanoUsd: number | undefined;
}

function usedBy({ inputTokens, costNanoUsd = 0 }: GuessedPrompt): Used {
  return { tokens: inputTokens, costNanoUsd };
}

/** The record as it stands for an attempt that dies with this process: its prompt was read. */
function asLost(
  record: UsageRecord,
  prompt: GuessedPrompt | undefined,
  reservation: Reservation | undefined,
): UsageRecord {
  if (prompt === undefined) return record;
  const { costNanoUsd = 0 } = prompt;
  const counts = reservation?.countsWith(usedBy(prompt));
  return {
    ...record,
    countersReserved: counts?.reserved ?? record.countersReserved,
    countersSettled: counts?.settled ?? record.countersSettled,
    inputTokens: prompt.inputTokens,
    usageEstimated: true,
    costKnown: prompt.costNanoUsd !== undefined,
    costNanoUsd,
    inputCostNanoUsd: costNanoUsd,
  };
}

function finish(
  record: UsageRecord,
  ended: EndedAttempt,
  recorder: UsageRecorder,
  least: Used | undefined,
): Promise<void> {
  const { facts, bill, price } = ended;
  const { requester, notes } = ended.call;
  const arrivedAt = requester.arrival.startedAt;
  record.outcome = ended.outcome;
  record.statusCode = ended.status;
  record.errorCode = ended.errorCode;
  record.failureCause = ended.failureCause ?? '';
  record.latencyMs = ended.endedAt - arrivedAt;
  record.gatewayMs = ended.startedAt - arrivedAt;
  record.timeToFirstByteMs = ended.firstByteMs;
  record.attemptMs = ended.endedAt - ended.startedAt;
  record.entryMs = ended.endedAt - notes.startedAt;
  if (ended.readAt !== 0) record.responseParsingMs = ended.endedAt - ended.readAt;
  if (notes.hookVerdicts.length > 0) record.decisionJson = decisionOf(requester, notes);
  record.finishReason = clipped(facts?.finishReason ?? '');
  record.responseModel = clipped(facts?.model ?? '');
  if (bill !== undefined) addReply(record, bill, price);
  addCounts(record, ended.call.reservation);
  const { recovery } = ended.call;
  if (ended.isContinued && recovery !== undefined) {
    recovery.parts.begin(record, ended, least);
    return Promise.resolve();
  }
  // When the disk refuses, the begin entry stands for the attempt, as `lost`, after the next start.
  const note = ended.call.reservation?.noteEnd(least);
  const stored = recorder.store(record, note).catch(() => {});
  if (ended.isUrgent) writeNow(recorder);
  // A cancelled second call must not stand for the one that answered.
  if (ended.errorCode !== 'request.superseded') {
    notes.failureCause = ended.failureCause;
    notes.summary = replySummary(record);
  }
  return stored;
}

function writeNow(recorder: UsageRecorder): void {
  try {
    recorder.flush();
  } catch {
    // The disk refuses: as above.
  }
}
