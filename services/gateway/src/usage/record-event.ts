import { type FailureCause, GatewayError } from '@sluice/errors';
import { usage } from '@sluice/proto-stubs';
import type { BegunRecord } from '@sluice/usage';
import { clipped } from '../exchange/clipped.ts';
import type { ServerEvent } from '../exchange/event.ts';
import type { EventRequester } from '../exchange/event-requester.ts';
import type { Reservation, Used } from '../exchange/reservation.ts';
import { addCounts, noteRefusal } from './add-counts.ts';
import {
  type BegunAttempt,
  type GuessedPrompt,
  type UsageRecorder,
  withMember,
  withVerdicts,
} from './usage-recorder.ts';

const { Outcome } = usage;

/** How an event ended, in the words of the ledger. */
export type EventOutcome =
  /** The server answered; of a tool, also that it failed. */
  | 'success'
  /** It answered with an error of the protocol, or of HTTP. */
  | 'upstream_error'
  /** No answer: unreachable, reset, timed out. */
  | 'upstream_failure'
  /** A stream ended without its answer. */
  | 'partial'
  | 'caller_gone'
  /** Refused by the gateway, after it had begun. */
  | 'denied'
  | 'gateway_error';

/** How the call travels, as far as it is known when it begins. */
export interface EventWay {
  /** What the caller showed: "api_key", "jwt", "oauth". */
  readonly authType?: string | undefined;
  /** "http", "sse". */
  readonly transportClient?: string | undefined;
  readonly isStream?: boolean | undefined;
}

/** What is told of an event when it is over. All is optional but how it ended. */
export interface EventFacts {
  readonly outcome: EventOutcome;
  /** What callers are told; 200 of a success, 500 of what failed. */
  readonly status?: number | undefined;
  readonly errorCode?: string | undefined;
  readonly failureCause?: FailureCause | undefined;
  readonly toolFailed?: boolean | undefined;
  /** Only where content may be kept. */
  readonly toolError?: string | undefined;
  readonly rpcErrorCode?: number | undefined;
  readonly upstreamStatus?: number | undefined;
  /** Names the session, and is no way into it. */
  readonly sessionId?: string | undefined;
  readonly protocolVersion?: string | undefined;
  readonly upstreamProtocolVersion?: string | undefined;
  readonly transportUpstream?: string | undefined;
  readonly tokenRefreshed?: boolean | undefined;
  readonly taskId?: string | undefined;
  readonly contextId?: string | undefined;
  readonly taskState?: string | undefined;
  /** What its checks came to: each a `HookVerdict` as JSON. */
  readonly hookVerdicts?: readonly string[] | undefined;
  /** After the call began. */
  readonly firstByteMs?: number | undefined;
}

/** What a call used, for its record. */
export interface EventUse {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costNanoUsd: number;
  readonly inputCostNanoUsd: number;
  readonly outputCostNanoUsd: number;
  /** Somebody set a price. */
  readonly isPriced: boolean;
  readonly source: 'reported' | 'estimated' | 'missing' | 'none';
  readonly isImplausible: boolean;
  /** JSON: of what was reported, what is billed elsewhere. Absent = nothing is. */
  readonly billing?: string | undefined;
}

export interface RecordedEvent {
  /** Of the record: by it content is found. */
  readonly id: Buffer;
  /** To be awaited before the call is made; where it rejects, the call is not to be made. */
  readonly written: Promise<void>;
  /** Instead of `end` where it could not be written: what is told of that. */
  refuse(cause: unknown): GatewayError;
  /**
   * Writes the record; a second time does nothing. Resolves when it is stored, and never rejects:
   * when the disk refuses, the begin stands for it, as `lost`, after the next start.
   * @param contentFormat the layout its content is kept in; empty = it is not
   */
  end(facts: EventFacts, use: EventUse, contentFormat: string): Promise<void>;
}

export interface EventBegin {
  readonly event: ServerEvent;
  readonly way: EventWay;
  readonly reservation: Reservation | undefined;
  /** What it uses whatever becomes of it. */
  readonly least: GuessedPrompt;
}

/**
 * Notes a call of a tool – or whatever else an MCP server is asked – before it is made: once that is written it has exactly one
 * record, `lost` should this process die.
 * @throws GatewayError `gateway.ledger_full`: then it is not to be made
 */
export const recordToolCall = recordEvent;

/** The same for a call of an agent. */
export const recordAgentCall = recordEvent;

function recordEvent(
  recorder: UsageRecorder,
  requester: EventRequester,
  { event, way, reservation, least }: EventBegin,
): RecordedEvent {
  const startedAt = performance.now();
  const record = recorder.blankOfEvent(requester, event);
  record.attempt = 1;
  record.stream = way.isStream === true;
  record.transportClient = way.transportClient ?? '';
  record.authType = way.authType ?? '';
  record.preProcessingMs = startedAt - requester.arrival.startedAt;
  const used: Used = { tokens: least.inputTokens, costNanoUsd: least.costNanoUsd ?? 0 };
  const note = reservation?.noteBegin(used);
  const refuse = (cause: unknown): GatewayError => {
    recorder.takeBack(record);
    reservation?.noteEnd(used);
    return new GatewayError('gateway.ledger_full', { cause });
  };
  let begun: BegunAttempt;
  try {
    const counts = reservation?.countsWith(used);
    begun = recorder.begin(record, { prompt: least, counts }, note);
  } catch (cause) {
    throw refuse(cause);
  }
  const { written, opening } = begun;
  let isOver = false;
  return {
    id: record.id,
    written,
    refuse,
    end(facts, use, contentFormat) {
      if (isOver) return Promise.resolve();
      isOver = true;
      addFacts(record, facts);
      addUse(record, use);
      const now = performance.now();
      record.latencyMs = now - requester.arrival.startedAt;
      record.gatewayMs = startedAt - requester.arrival.startedAt;
      record.attemptMs = now - startedAt;
      record.entryMs = record.latencyMs;
      record.timeToFirstByteMs = facts.firstByteMs ?? 0;
      record.logFormat = contentFormat;
      addCounts(record, reservation);
      return recorder.keep(record, reservation?.noteEnd(used), opening);
    },
  };
}

/** Why a call was not made: an error of ours, or its protocol's by a code of its own. */
export interface Refusal {
  readonly code: string;
  readonly status: number;
  readonly failureCause?: FailureCause | undefined;
  readonly headers?: GatewayError['headers'];
}

/** A call that was refused before it was made: its one record. */
export async function recordRefusedEvent(
  recorder: UsageRecorder,
  requester: EventRequester,
  event: ServerEvent,
  error: Refusal,
  way: EventWay = {},
): Promise<void> {
  if (recorder.isFull) return;
  const record = recorder.blankOfEvent(requester, event);
  record.transportClient = way.transportClient ?? '';
  record.authType = way.authType ?? '';
  record.outcome =
    error.code === 'request.aborted'
      ? Outcome.CALLER_GONE
      : error.status >= 500
        ? Outcome.GATEWAY_ERROR
        : Outcome.DENIED;
  record.statusCode = error.status;
  record.errorCode = error.code;
  record.failureCause = error.failureCause ?? '';
  noteRefusal(record, { headers: error.headers });
  record.costKnown = true;
  record.latencyMs = performance.now() - requester.arrival.startedAt;
  record.gatewayMs = record.latencyMs;
  record.entryMs = record.latencyMs;
  record.preProcessingMs = record.latencyMs;
  await recorder.store(record);
}

const outcomes: Readonly<Record<EventOutcome, usage.Outcome>> = {
  success: Outcome.SUCCESS,
  upstream_error: Outcome.UPSTREAM_ERROR,
  upstream_failure: Outcome.UPSTREAM_FAILURE,
  partial: Outcome.PARTIAL,
  caller_gone: Outcome.CALLER_GONE,
  denied: Outcome.DENIED,
  gateway_error: Outcome.GATEWAY_ERROR,
};

function addFacts(record: BegunRecord, facts: EventFacts): void {
  record.outcome = outcomes[facts.outcome];
  record.statusCode = facts.status ?? (facts.outcome === 'success' ? 200 : 500);
  record.errorCode = facts.errorCode ?? '';
  record.failureCause = facts.failureCause ?? '';
  record.toolFailed = facts.toolFailed === true;
  record.toolError = short(facts.toolError);
  record.rpcErrorCode = int32(facts.rpcErrorCode);
  record.upstreamStatus = facts.upstreamStatus ?? 0;
  record.sessionId = short(facts.sessionId);
  record.protocolVersion = short(facts.protocolVersion);
  record.upstreamProtocolVersion = short(facts.upstreamProtocolVersion);
  record.transportUpstream = facts.transportUpstream ?? '';
  record.upstreamTokenRefreshed = facts.tokenRefreshed === true;
  record.taskId = short(facts.taskId);
  record.contextId = short(facts.contextId);
  record.taskState = short(facts.taskState, wordMax);
  record.decisionJson = withVerdicts(record.decisionJson, facts.hookVerdicts ?? []);
}

function addUse(record: BegunRecord, use: EventUse): void {
  record.inputTokens = use.inputTokens;
  record.outputTokens = use.outputTokens;
  record.usageReported = use.source === 'reported';
  record.usageEstimated = use.source === 'estimated';
  record.usageMissing = use.source === 'missing';
  record.usageImplausible = use.isImplausible;
  // What has no price costs nothing: a tool is nobody's model.
  record.costKnown = true;
  record.costNanoUsd = use.costNanoUsd;
  record.inputCostNanoUsd = use.inputCostNanoUsd;
  record.outputCostNanoUsd = use.outputCostNanoUsd;
  record.priceLayer = use.isPriced ? 'server' : '';
  if (use.billing !== undefined)
    record.decisionJson = withMember(record.decisionJson, `"bill":${use.billing}`);
}

/** Servers name these; who has millions of them fills a dictionary. */
const wordMax = 64;
const shortMax = 256;

function short(text = '', max = shortMax): string {
  return clipped(text.length <= max ? text : text.slice(0, max));
}

function int32(code = 0): number {
  return Number.isInteger(code) && Math.abs(code) < 2 ** 31 ? code : 0;
}
