import { GatewayError } from '@sluice/errors';
import { type BegunRecord, mayHaveUsed } from '@sluice/usage';
import { clipped } from '../exchange/clipped.ts';
import {
  type AttemptListener,
  type EndedAttempt,
  type OutcomeListener,
  operationOf,
  type PreparedCall,
} from '../exchange/prepared-call.ts';
import type { Requester } from '../exchange/requester.ts';
import type { Used } from '../exchange/reservation.ts';
import type { VisitNotes } from '../exchange/visit.ts';
import { addCounts } from './add-counts.ts';
import { addReply } from './add-reply.ts';
import { replySummary } from './reply-summary.ts';
import { decisionOf, type GuessedPrompt, type UsageRecorder } from './usage-recorder.ts';

/**
 * Notes each attempt before it is made, and what it came to: from the one to
 * the other its record is `lost`, should this process die. An attempt that
 * cannot be noted is not made: `gateway.ledger_full`. What was used already is no more refused
 * than the end of an attempt is.
 */
export function recordAttempt(
  recorder: UsageRecorder,
  promptOf: (call: PreparedCall) => GuessedPrompt | undefined,
): AttemptListener {
  return ({ call, retryCount }) => {
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
    const { reservation, isUsed } = call;
    const prompt = promptOf(call);
    const least = prompt && usedBy(prompt);
    const counts = least === undefined ? undefined : reservation?.countsWith(least);
    const note = reservation?.noteBegin(least);
    const refuse = (error: unknown): GatewayError => {
      recorder.takeBack(record);
      reservation?.noteEnd(least);
      return new GatewayError('gateway.ledger_full', { cause: error });
    };
    try {
      const { written, opening } = recorder.begin(record, { prompt, counts }, note);
      const hears: OutcomeListener = (ended) => finish(record, ended, recorder, least, opening);
      if (isUsed !== true) return { written, hears, refuse };
      // Its record tells whoever waits that the disk refuses.
      written.catch(() => {});
      return hears;
    } catch (error) {
      if (isUsed !== true) throw refuse(error);
      recorder.takeBack(record);
      record.sequence = 0;
      return (ended) => finish(record, ended, recorder, least, undefined);
    }
  };
}

/** What was done for the first call of a target, reading the request and looking into the cache apart. */
function beforeCall({ arrival, progress }: Requester, { startedAt, cacheMs }: VisitNotes): number {
  const since = progress.tries === 0 ? arrival.startedAt + progress.readingMs : startedAt;
  return performance.now() - since - cacheMs;
}

function usedBy({ inputTokens, costNanoUsd = 0 }: GuessedPrompt): Used {
  return { tokens: inputTokens, costNanoUsd };
}

function finish(
  record: BegunRecord,
  ended: EndedAttempt,
  recorder: UsageRecorder,
  least: Used | undefined,
  opening: Buffer | undefined,
): Promise<void> {
  const { facts, bill, price } = ended;
  const { requester, notes } = ended.call;
  const arrivedAt = requester.arrival.startedAt;
  record.outcome = ended.outcome;
  record.statusCode = ended.status;
  record.errorCode = ended.errorCode;
  notes.recordedAs = record;
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
  if (bill?.isBilledApart === true) record.costKnown = true;
  else if (bill !== undefined) addReply(record, bill, price);
  // What nobody worked for is free as well.
  else record.costKnown = isFree(ended.call) || !ended.wasSent || !mayHaveUsed(ended);
  addCounts(record, ended.call.reservation);
  const { recovery } = ended.call;
  if (ended.isContinued && recovery !== undefined) {
    recovery.parts.begin(record, ended, least);
    return Promise.resolve();
  }
  requester.progress.addUse(record);
  // When the disk refuses, the begin entry stands for the attempt, as `lost`, after the next start.
  const note = ended.call.reservation?.noteEnd(least);
  const stored = recorder.keepUse(record, requester, note, opening);
  if (ended.isUrgent) writeNow(recorder);
  // A cancelled second call must not stand for the one that answered.
  if (ended.errorCode !== 'request.superseded') {
    notes.failureCause = ended.failureCause;
    notes.summary = replySummary(record);
  }
  return stored;
}

/**
 * Looking is free: what is looked at has a record of its own, where it was paid for. So is what ends
 * or deletes something, and a model of which nothing is charged where its provider tells of no use.
 */
function isFree(call: PreparedCall): boolean {
  const { about, repeat, uses } = operationOf(call);
  return repeat !== 'fresh' || (about === 'model' && uses === 'nothing');
}

function writeNow(recorder: UsageRecorder): void {
  try {
    recorder.flush();
  } catch {
    // The disk refuses: as above.
  }
}
