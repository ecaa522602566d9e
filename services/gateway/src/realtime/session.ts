import { fromUnknown, GatewayError } from '@sluice/errors';
import type { Said } from '@sluice/providers';
import type { WebSocket } from 'ws';
import type { ModelExchange } from '../exchange/exchange.ts';
import { errorEvent } from './error-event.ts';
import type { EndReason, LiveSession } from './live-session.ts';
import { ModelBinding } from './model-binding.ts';
import type { OpenedSession } from './open-session.ts';
import { refuseKeptIds } from './refuse-kept-ids.ts';
import { Relay, type Side } from './relay.ts';
import { SessionEvents } from './session-events.ts';
import type { SessionGuards } from './session-guards.ts';
import type { SessionObjects } from './session-objects.ts';
import { isTranslation, TranslatedTime } from './translated-time.ts';
import { withdrawal } from './withdrawal.ts';

/** What one side may have waiting before the other is asked to pause. */
const waitingBytesMax = 256 * 1024;
const policyViolation = 1008;

const endWords: Readonly<Record<EndReason, string>> = {
  draining: 'gateway.draining',
  expired: 'the session has lasted as long as it may',
  idle: 'nothing was said for too long',
};

/** @throws GatewayError why a frame of the caller's must not go on */
type FrameCheck = (frame: Buffer) => void;

/** One session: its frames pass, and what they tell is accounted for. */
export class Session implements LiveSession {
  readonly exchange: ModelExchange;
  readonly relay: Relay;
  readonly openedAt = performance.now();
  /** Of the registry: what it saw last, and when. */
  seenMessages = 0;
  seenAt = this.openedAt;
  lookedAt = this.openedAt;
  readonly #events: SessionEvents | undefined;
  readonly #translated: TranslatedTime | undefined;
  readonly #objects: SessionObjects | undefined;
  /** Said to the caller, and the reason of what is cut. */
  #endedBy: GatewayError | undefined;

  /** @param onOver once, when both sides are closed or closing, and all is accounted for */
  constructor(
    caller: WebSocket,
    { upstream, meter, call, isMetered, guards, objects, talk, stretchMs }: OpenedSession,
    exchange: ModelExchange,
    onOver: () => void,
  ) {
    this.exchange = exchange;
    this.#objects = objects;
    // What is said in a call is counted beside it.
    this.#events = isMetered ? new SessionEvents(meter, { guards, talk }) : undefined;
    if (this.#events !== undefined)
      this.#events.onDenied = (error, said) => this.#deny(error, said);
    meter.onRefused = (error) => this.refuse(error);
    const { target } = call;
    if (isMetered && isTranslation(exchange.subject))
      this.#translated = new TranslatedTime(meter, { stretchMs });
    const translated = this.#translated;
    const binding =
      target.saved?.limitsModels === true ? new ModelBinding(target, !isMetered) : undefined;
    const checks: FrameCheck[] = [];
    if (binding !== undefined) checks.push((frame) => binding.check(frame));
    if (this.#isOfResponses) checks.push(refuseKeptIds);
    this.relay = new Relay(
      caller,
      upstream,
      { waitingBytesMax },
      {
        fromCaller:
          checks.length === 0 &&
          objects === undefined &&
          guards?.hearsCaller !== true &&
          this.#events === undefined
            ? undefined
            : (frame) => {
                translated?.heard(frame);
                return this.#mayPass(frame, checks, guards);
              },
        fromUpstream: (frame) => {
          objects?.hear(frame);
          this.#events?.read(frame);
        },
        closed: (by) => {
          this.#recordCut(by);
          translated?.end();
          meter.end().finally(onOver);
        },
      },
    );
  }

  get messages(): number {
    return this.relay.messages;
  }

  look(): void {
    this.relay.look();
  }

  cut(): void {
    this.relay.cut();
  }

  get #isOfResponses(): boolean {
    return this.exchange.subject.operation.id === 'responseSession';
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

  #mayPass(
    frame: Buffer,
    checks: readonly FrameCheck[],
    guards: SessionGuards | undefined,
  ): boolean | Promise<boolean> {
    try {
      for (const check of checks) check(frame);
    } catch (error) {
      return this.#told(fromUnknown(error));
    }
    const named = this.#objects?.judge(frame);
    if (named instanceof GatewayError) return this.#told(named);
    return named === undefined
      ? this.#judged(frame, guards)
      : named.then((error) =>
          error === undefined ? this.#judged(frame, guards) : this.#told(error),
        );
  }

  #judged(frame: Buffer, guards: SessionGuards | undefined): boolean | Promise<boolean> {
    const judged = guards?.judgeFrame(frame);
    if (judged === undefined) return this.#asked(frame);
    if (!(judged instanceof Promise)) return this.#told(judged);
    // Who only looks on keeps nobody waiting.
    if (guards?.holdsCaller !== true) return this.#asked(frame);
    return judged.then((error) => (error === undefined ? this.#asked(frame) : this.#told(error)));
  }

  /** @returns true: it goes on */
  #asked(frame: Buffer): true {
    this.#events?.said(frame, this.#isOfResponses);
    return true;
  }

  /** @returns false: what it is about does not go on */
  #told(error: GatewayError): false {
    this.relay.tell(errorEvent(error, this.exchange.subject.operation));
    return false;
  }

  /** What was said already is not gone on with, nor remembered. */
  #deny(error: GatewayError, { itemId }: Said): void {
    if (this.#isOfResponses) {
      // Its responses cannot be cancelled by an event.
      this.refuse(error);
      return;
    }
    for (const event of withdrawal(itemId)) this.relay.ask(JSON.stringify(event));
    this.#told(error);
  }

  /** What nobody will hear the end of: made, and paid for, as far as that came. */
  #recordCut(by: Side): void {
    const error =
      this.#endedBy ??
      new GatewayError(by === 'caller' ? 'request.aborted' : 'upstream.stream_cut');
    this.#events?.cut(error, this.#endedBy === undefined && by === 'caller');
  }
}
