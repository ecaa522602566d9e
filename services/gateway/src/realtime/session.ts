import { fromUnknown, GatewayError } from '@sluice/errors';
import { usage } from '@sluice/proto-stubs';
import { isReadSessionEvent, readSessionEvent } from '@sluice/providers';
import type { WebSocket } from 'ws';
import type { ModelExchange } from '../exchange/exchange.ts';
import { jsonObjectIn } from '../http/json-body.ts';
import { errorEvent } from './error-event.ts';
import { typeOfFrame } from './frame-type.ts';
import { ModelBinding } from './model-binding.ts';
import type { OpenedSession } from './open-session.ts';
import { Relay, type Side } from './relay.ts';
import type { SessionMeter } from './session-meter.ts';

const { Outcome } = usage;

/** An event that is accounted for is seldom larger than some kB; a larger one passes unread. */
const readBytesMax = 4 * 1024 * 1024;
/** Responses that are being made at once; vendors make one. */
const begunMax = 64;
/** What one side may have waiting before the other is asked to pause. */
const waitingBytesMax = 256 * 1024;
const policyViolation = 1008;

/** Why a session is over, where it was not its caller or its provider who closed it. */
export type EndReason = 'draining' | 'expired' | 'idle';

const endWords: Readonly<Record<EndReason, string>> = {
  draining: 'gateway.draining',
  expired: 'the session has lasted as long as it may',
  idle: 'nothing was said for too long',
};

/** One session: its frames pass, and what they tell is accounted for. */
export class Session {
  readonly exchange: ModelExchange;
  readonly relay: Relay;
  readonly openedAt = performance.now();
  /** Of the registry: what it saw last, and when. */
  seenMessages = 0;
  seenAt = this.openedAt;
  lookedAt = this.openedAt;
  readonly #meter: SessionMeter;
  /** When each response began that is being made. */
  readonly #begun = new Map<string, number>();
  #model: string | undefined;
  #transcriptionModel: string | undefined;
  /** Said to the caller, and the reason of what is cut. */
  #endedBy: GatewayError | undefined;

  /** @param onOver once, when both sides are closed or closing, and all is accounted for */
  constructor(
    caller: WebSocket,
    { upstream, meter, call }: OpenedSession,
    exchange: ModelExchange,
    onOver: () => void,
  ) {
    this.exchange = exchange;
    this.#meter = meter;
    meter.onRefused = (error) => this.refuse(error);
    const { target } = call;
    const binding = target.saved?.limitsModels === true ? new ModelBinding(target) : undefined;
    this.relay = new Relay(
      caller,
      upstream,
      { waitingBytesMax },
      {
        fromCaller: binding && ((frame) => this.#mayPass(binding, frame)),
        fromUpstream: (frame) => this.#read(frame),
        closed: (by) => {
          this.#recordCut(by);
          meter.end().finally(onOver);
        },
      },
    );
  }

  /** Nothing more may be asked: the caller is told, and the session closed. */
  refuse(error: GatewayError): void {
    if (this.#endedBy !== undefined || this.relay.isOver) return;
    this.#endedBy = error;
    this.relay.tell(errorEvent(error, this.exchange.subject.operation));
    this.relay.end({ code: policyViolation, reason: error.code });
  }

  end(reason: EndReason): void {
    if (this.#endedBy !== undefined || this.relay.isOver) return;
    this.#endedBy = new GatewayError(
      reason === 'draining' ? 'gateway.draining' : 'request.aborted',
    );
    this.relay.end({ code: 1001, reason: endWords[reason] });
  }

  #mayPass(binding: ModelBinding, frame: Buffer): boolean {
    try {
      binding.check(frame);
      return true;
    } catch (error) {
      this.relay.tell(errorEvent(fromUnknown(error), this.exchange.subject.operation));
      return false;
    }
  }

  /** Frames that cannot be read have passed by now, and mean nothing here. */
  #read(frame: Buffer): void {
    const type = typeOfFrame(frame);
    if (type === undefined || !isReadSessionEvent(type) || frame.length > readBytesMax) return;
    const body = jsonObjectIn(frame);
    const event = body === undefined ? undefined : readSessionEvent(type, body);
    if (event === undefined) return;
    const now = performance.now();
    switch (event.kind) {
      case 'begun':
        if (this.#begun.size < begunMax) this.#begun.set(event.id, now);
        return;
      case 'used': {
        const startedAt = this.#begun.get(event.id) ?? now;
        this.#begun.delete(event.id);
        const { hasSucceeded, facts } = event;
        const model = type.startsWith('response.') ? this.#model : this.#transcriptionModel;
        this.#meter.used({
          type,
          startedAt,
          facts: facts.model === undefined && model !== undefined ? { ...facts, model } : facts,
          outcome: hasSucceeded ? Outcome.SUCCESS : Outcome.UPSTREAM_ERROR,
          status: hasSucceeded ? 200 : 500,
          errorCode: hasSucceeded ? '' : 'upstream.error',
        });
        return;
      }
      case 'session':
        this.#model = event.model ?? this.#model;
        this.#transcriptionModel = event.transcriptionModel ?? this.#transcriptionModel;
        this.#meter.told({ type, startedAt: now });
        return;
      case 'error':
        this.#meter.told({ type, startedAt: now }, new GatewayError('upstream.error'));
    }
  }

  /** Responses that nobody will hear the end of: made, and paid for, as far as that came. */
  #recordCut(by: Side): void {
    const error =
      this.#endedBy ??
      new GatewayError(by === 'caller' ? 'request.aborted' : 'upstream.stream_cut');
    const isCallers = this.#endedBy === undefined && by === 'caller';
    for (const startedAt of this.#begun.values())
      this.#meter.used({
        type: 'response.done',
        startedAt,
        facts: this.#model === undefined ? {} : { model: this.#model },
        outcome: isCallers ? Outcome.CALLER_GONE : Outcome.PARTIAL,
        status: 200,
        errorCode: error.code,
      });
    this.#begun.clear();
  }
}
