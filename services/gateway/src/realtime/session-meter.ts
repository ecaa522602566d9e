import { type FailureCause, fromUnknown, GatewayError } from '@sluice/errors';
import { usage } from '@sluice/proto-stubs';
import type { ReplyFacts } from '@sluice/providers';
import { uuidText } from '@sluice/usage';
import { OngoingAttempt } from '../calls/ongoing-attempt.ts';
import type { ContentKeeper } from '../content/content-keeper.ts';
import { type ModelExchange, Visit } from '../exchange/exchange.ts';
import type { AttemptListener, PreparedCall } from '../exchange/prepared-call.ts';
import { Progress } from '../exchange/progress.ts';
import type { Reservation } from '../exchange/reservation.ts';
import { limitFactsOf } from '../exchange/target.ts';
import type { LimitStore } from '../limits/limit-store.ts';
import { limitError } from '../limits/refusal.ts';
import { type LimitWatchers, RequestLimits } from '../limits/request-limits.ts';
import type { EstimateRequest } from '../money/estimate-request.ts';
import type { UsageRecorder } from '../usage/usage-recorder.ts';
import { uuidV7 } from '../usage/uuid.ts';

const { Outcome } = usage;

export interface MeterParts {
  readonly limits: LimitStore;
  readonly watch: LimitWatchers;
  /** Those of any call that is billed. */
  readonly listeners: readonly AttemptListener[];
  readonly recorder: UsageRecorder;
  readonly estimate: EstimateRequest;
  /** Undefined = no bodies are kept. */
  readonly content: ContentKeeper | undefined;
  /** Hears of each event that was paid for. */
  readonly onMetered: (exchange: ModelExchange, status: number, errorCode: string) => void;
}

/** One event of a session that leaves a record. */
export interface LoggedEvent {
  /** As its vendor calls it. */
  readonly type: string;
  /** `performance.now()` when what it tells of began. */
  readonly startedAt: number;
  /** For its log, where bodies of this session are kept. */
  readonly content?: EventContent | undefined;
}

export interface EventContent {
  /** What led to it, as JSON; undefined = nothing that is known. */
  readonly request?: Buffer | undefined;
  /** The event as it came; undefined = none told it. */
  readonly response?: Buffer | undefined;
}

/** An event that is paid for. */
export interface UsedEvent extends LoggedEvent {
  readonly facts: ReplyFacts;
  readonly outcome: usage.Outcome;
  readonly status: number;
  /** Empty = no error. */
  readonly errorCode: string;
  readonly failureCause?: FailureCause;
  /** What guardrails thought of what was said, once they know: each a `HookVerdict` as JSON. Never rejects. */
  readonly verdicts?: Promise<readonly string[]>;
  /** Whether it is this gateway's to account for. Never rejects. Undefined = it is. */
  readonly isFirst?: (() => Promise<boolean>) | undefined;
}

/** Records of what is only told, not paid for: a vendor, or a caller, that makes thousands fills no ledger. */
const toldMax = 1000;
/** Events that wait for the disk or for Redis; a session that has more is ended, once those are counted that come until then. */
const waitingMax = 1000;
/** Of those, what is kept for their logs: of the others only that they happened. */
const contentWaitingMax = 16;

/**
 * What a session uses, event by event: each is a request of its own to limits,
 * bills and records, under the trace of the session. It holds what the next event
 * needs before that comes, so that what was used is counted whatever the limits say by then.
 */
export class SessionMeter {
  readonly #call: PreparedCall;
  readonly #exchange: ModelExchange;
  readonly #parts: MeterParts;
  #held: { limits: RequestLimits; reservation: Reservation | undefined } | undefined;
  #queue: Promise<void> = Promise.resolve();
  #waiting = 0;
  #told = 0;
  /** Why nothing more may be asked: a limit, or the ledger; heard once. */
  onRefused: ((error: GatewayError) => void) | undefined;

  constructor(call: PreparedCall, exchange: ModelExchange, parts: MeterParts) {
    this.#call = call;
    this.#exchange = exchange;
    this.#parts = parts;
  }

  /** @throws GatewayError 429, 412, 503 of a limit */
  async begin(): Promise<void> {
    await this.#hold();
  }

  /** The session was not opened: nothing was used. */
  giveUp(): void {
    this.#held?.limits.close();
    this.#held = undefined;
  }

  /** Something was paid for. */
  used(event: UsedEvent): void {
    if (this.#waiting >= waitingMax) this.onRefused?.(new GatewayError('overloaded'));
    const content = this.#waiting < contentWaitingMax ? event.content : undefined;
    this.#waiting++;
    this.#queue = this.#queue.then(async () => {
      try {
        await this.#meter({ ...event, content });
      } catch (error) {
        this.onRefused?.(fromUnknown(error));
      } finally {
        this.#waiting--;
      }
    });
  }

  /** Something is told that costs nothing. */
  told(event: LoggedEvent, error?: GatewayError): void {
    if (this.#told++ >= toldMax || this.#parts.recorder.isFull) return;
    const { recorder } = this.#parts;
    const exchange = this.#exchangeOf(event);
    const visit = new Visit(exchange, this.#call.target.planned);
    const record = recorder.blankFor(exchange, visit, this.#call.target);
    record.outcome = error === undefined ? Outcome.SUCCESS : Outcome.UPSTREAM_ERROR;
    record.statusCode = error === undefined ? 200 : 500;
    record.errorCode = error?.code ?? '';
    record.costKnown = true;
    visit.entry = { id: record.id, preProcessingMs: 0 };
    this.#keep(visit, record.statusCode, event);
    recorder.store(record).catch(() => {
      // The disk refuses: nothing was spent.
    });
  }

  /** All that was used is counted and recorded. */
  async end(): Promise<void> {
    await this.#queue;
    this.giveUp();
  }

  async #meter(event: UsedEvent): Promise<void> {
    const { listeners, onMetered } = this.#parts;
    if ((await event.isFirst?.()) === false) return;
    const requester = this.#exchangeOf(event);
    const held = this.#held;
    this.#held = undefined;
    requester.limits = held?.limits;
    const notes = new Visit(requester, this.#call.target.planned);
    notes.target = this.#call.target;
    notes.hookVerdicts = (await event.verdicts) ?? [];
    requester.visits.push(notes);
    const call = {
      ...this.#call,
      requester,
      notes,
      reservation: held?.reservation,
      isUsed: true,
    };
    const attempt = new OngoingAttempt(call, 0);
    try {
      await attempt.begin(listeners);
      attempt.startedAt = event.startedAt;
      requester.progress.attempts++;
      const { outcome, status, errorCode, facts, failureCause } = event;
      await attempt.finish(outcome, status, errorCode, facts, failureCause);
      this.#keep(notes, status, event);
      onMetered(requester, status, errorCode);
    } finally {
      held?.limits.close();
    }
    // A hold that is taken before would find the counter as it was.
    if (held !== undefined)
      await this.#parts.limits.settled?.(requester.key?.source.organisationId ?? '');
    // What was used is recorded; nothing more may be that perhaps could not.
    if (this.#parts.recorder.isFull) throw new GatewayError('gateway.ledger_full');
    await this.#hold();
  }

  /** Takes what an event needs. @throws GatewayError of a limit that is spent */
  async #hold(): Promise<void> {
    const exchange = this.#exchange;
    if (RequestLimits.areNone(exchange)) return;
    const { limits: store, watch, estimate } = this.#parts;
    const limits = RequestLimits.of(store, exchange, watch);
    try {
      limits.refuseSpent();
      const { target } = this.#call;
      const reservation = await limits.reserve(limitFactsOf(target), target.saved, () =>
        estimate(exchange.subject, target, undefined),
      );
      const refused = reservation?.refusedBy;
      if (refused !== undefined) throw limitError(refused, Date.now());
      this.#held = { limits, reservation };
    } catch (error) {
      limits.close();
      throw error;
    }
  }

  #keep(visit: Visit, status: number, { content }: LoggedEvent): void {
    if (content === undefined) return;
    visit.loggedRequest = content.request;
    const headers = { 'content-type': 'application/json' };
    const body = content.response ?? nothing;
    this.#parts.content?.keepReply(visit, { kind: 'body', status, headers, body });
  }

  /** A request of its own, as it were: the session's, at its own time, under its own name. */
  #exchangeOf({ type, startedAt, content }: LoggedEvent): ModelExchange {
    const { arrival, metadata } = this.#exchange;
    const startedAtMs = Math.round(Date.now() - (performance.now() - startedAt));
    const requestId = uuidV7(startedAtMs);
    return {
      ...this.#exchange,
      arrival: {
        ...arrival,
        requestId,
        requestIdText: uuidText(requestId),
        startedAt,
        startedAtMs,
        caller: {
          ...arrival.caller,
          spanId: '',
          parentSpanId: arrival.caller.spanId || arrival.caller.parentSpanId,
          spanName: type,
        },
      },
      metadata: { ...metadata, _realtime_event_type: type, _category: 'realtime' },
      contentFormat: (content && this.#parts.content?.formatFor(this.#exchange)) ?? '',
      progress: new Progress(),
      visits: [],
    };
  }
}

const nothing = Buffer.alloc(0);
