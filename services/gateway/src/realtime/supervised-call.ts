import { setTimeout as delay } from 'node:timers/promises';
import { fromUnknown, GatewayError } from '@sluice/errors';
import type { Logger } from '@sluice/telemetry';
import type { WebSocket } from 'ws';
import type { ModelExchange } from '../exchange/exchange.ts';
import type { EndReason, LiveSession } from './live-session.ts';
import { SessionEvents } from './session-events.ts';
import type { SessionGuards } from './session-guards.ts';
import type { SessionMeter } from './session-meter.ts';
import type { SessionTalk } from './session-talk.ts';
import { isTranslation, TranslatedCall } from './translated-time.ts';
import { withdrawal } from './withdrawal.ts';

/** A call as its provider has it, and what can be done about it. */
export interface CallAtProvider {
  readonly id: string;
  /** Opens a sideband, paused. @throws GatewayError; `upstream.error` with 404 where there is no such call */
  readonly listen: () => Promise<WebSocket>;
  /** @returns the status @throws GatewayError where there is none */
  readonly hangUp: (timeoutMs: number) => Promise<number>;
}

export interface SupervisionBounds {
  /** Until the sideband is open, first and after each loss. */
  readonly connectTimeoutMs: number;
  /** Of a translation: so much of it is one request. */
  readonly stretchMs: number;
}

export interface SupervisedParts {
  readonly call: CallAtProvider;
  readonly meter: SessionMeter;
  readonly exchange: ModelExchange;
  readonly bounds: SupervisionBounds;
  readonly logger: Logger;
  readonly guards: SessionGuards | undefined;
  /** Undefined = its bodies are not kept. */
  readonly talk: SessionTalk | undefined;
  /** Once, when the call is over and all of it is accounted for. */
  readonly onOver: () => void;
  /** Of what the caller says, as the call was asked for: a sideband is not told how its session began. */
  readonly transcriptionModel: string | undefined;
  /** Another gateway heard it before, since then (Unix ms). */
  readonly heardSinceMs?: number | undefined;
  /** Whether an event is this gateway's to account for. */
  readonly isFirst?: ((event: string) => Promise<boolean>) | undefined;
}

/** Waits before the sideband is tried again; a call that cannot be heard after these is hung up. */
const reopenWaitsMs = [100, 200, 400, 800, 1600] as const;
/** So many losses in one call: what cannot be kept open is not metered by being opened. */
const lossesMax = 20;
/** From the decision to hang up: within two seconds a provider that answers at all has done it. */
const hangUpTimeoutMs = 900;
const hangUpWaitsMs = [0, 100, 1000, 5000, 15_000] as const;
const missedMax = 2;

/**
 * A call whose sound goes past us, heard by a sideband of our own: each event is counted as one of a session over a
 * WebSocket, and when nothing more may be asked, or it cannot be heard any more, the provider is told to hang up.
 */
export class SupervisedCall implements LiveSession {
  readonly exchange: ModelExchange;
  readonly isCall = true;
  readonly openedAt: number = performance.now();
  messages = 0;
  seenMessages = 0;
  seenAt = performance.now();
  lookedAt = performance.now();
  readonly #call: CallAtProvider;
  readonly #meter: SessionMeter;
  readonly #events: SessionEvents;
  readonly #bounds: SupervisionBounds;
  readonly #logger: Logger;
  readonly #onOver: () => void;
  readonly #isTakenOver: boolean;
  readonly #translated: TranslatedCall | undefined;
  #socket: WebSocket | undefined;
  #missed = 0;
  #losses = 0;
  #isOver = false;
  /** Why it is being hung up. */
  #endedBy: GatewayError | undefined;

  constructor(parts: SupervisedParts) {
    const { call, meter, exchange, bounds, logger, guards, talk } = parts;
    const { onOver, heardSinceMs, isFirst } = parts;
    this.#call = call;
    this.#meter = meter;
    this.exchange = exchange;
    this.#bounds = bounds;
    this.#logger = logger;
    this.#onOver = onOver;
    this.#isTakenOver = heardSinceMs !== undefined;
    if (heardSinceMs !== undefined)
      this.openedAt = performance.now() - Math.max(0, Date.now() - heardSinceMs);
    this.#events = new SessionEvents(meter, {
      guards,
      talk,
      isBesideCall: true,
      isFirst,
      transcriptionModel: parts.transcriptionModel,
    });
    if (isTranslation(exchange.subject)) {
      const { stretchMs } = bounds;
      const beganAt = this.openedAt;
      this.#translated = new TranslatedCall(meter, { stretchMs, beganAt, isFirst });
    }
    this.#events.onDenied = (error, { itemId }) => {
      meter.told({ type: 'guardrail.denied', startedAt: performance.now() }, error);
      const socket = this.#socket;
      if (socket?.readyState !== socket?.OPEN) return;
      for (const event of withdrawal(itemId)) socket?.send(JSON.stringify(event));
    };
    meter.onRefused = (error) => this.refuse(error);
  }

  /** Begins to listen: the provider may know the call a moment later than it says so. */
  begin(): void {
    void this.#listen(!this.#isTakenOver);
  }

  refuse(error: GatewayError): void {
    if (this.#isOver || this.#endedBy !== undefined) return;
    this.#endedBy = error;
    void this.#hangUp(error);
  }

  end(reason: EndReason): void {
    this.refuse(
      new GatewayError(reason === 'draining' ? 'gateway.draining' : 'request.aborted', {
        message: `The call was hung up: ${reason}.`,
      }),
    );
  }

  /** Whoever placed the call did not hear that it was placed. */
  abandon(): void {
    this.refuse(new GatewayError('request.aborted'));
  }

  cut(): void {
    this.#over();
  }

  /** Another gateway hears it: what is under way is told, and counted, there. */
  letGo(): void {
    this.#over(true);
  }

  look(): void {
    const socket = this.#socket;
    if (socket === undefined || socket.readyState !== socket.OPEN) return;
    if (this.#missed >= missedMax) socket.terminate();
    else socket.ping(() => {});
    this.#missed++;
  }

  async #listen(isFirst: boolean): Promise<void> {
    const deadline = performance.now() + this.#bounds.connectTimeoutMs;
    for (const waitMs of [0, ...reopenWaitsMs]) {
      if (waitMs > 0) await delay(waitMs, undefined, { ref: false });
      if (this.#isOver) return;
      try {
        const socket = await this.#call.listen();
        if (this.#isOver) socket.terminate();
        else this.#hear(socket);
        return;
      } catch (caught) {
        const { status } = fromUnknown(caught);
        // One that was heard before and is not known any more has ended.
        if (!isFirst && (status === 404 || status === 410)) return this.#over();
      }
      if (performance.now() >= deadline) break;
    }
    this.refuse(
      new GatewayError('upstream.stream_cut', {
        message: 'The call could not be heard any more, and was hung up.',
      }),
    );
  }

  #hear(socket: WebSocket): void {
    this.#socket = socket;
    this.#missed = 0;
    socket.on('message', (data: Buffer, isBinary) => {
      this.messages++;
      this.#missed = 0;
      if (!isBinary) this.#events.read(data);
    });
    socket.on('pong', () => {
      this.#missed = 0;
    });
    // It is followed by a close.
    socket.on('error', () => {});
    socket.once('close', () => {
      this.#socket = undefined;
      if (this.#isOver) return;
      // What is being hung up is not listened to again: it closes so when that is done.
      if (this.#endedBy !== undefined) return this.#over();
      if (++this.#losses > lossesMax) return this.refuse(new GatewayError('upstream.stream_cut'));
      void this.#listen(false);
    });
    socket.resume();
    if (socket.readyState !== socket.OPEN) socket.emit('close', 1006, Buffer.alloc(0));
  }

  /** It goes on being heard, and counted, until the provider has taken it. */
  async #hangUp(reason: GatewayError): Promise<void> {
    this.#meter.told({ type: 'call.hangup', startedAt: performance.now() }, reason);
    let why: unknown;
    for (const waitMs of hangUpWaitsMs) {
      if (waitMs > 0) await delay(waitMs, undefined, { ref: false });
      if (this.#isOver) return;
      try {
        const status = await this.#call.hangUp(hangUpTimeoutMs);
        // It had ended by itself.
        if (status < 300 || status === 404 || status === 410) return this.#over();
        why = new GatewayError('upstream.error', { status });
      } catch (caught) {
        why = caught;
      }
    }
    this.#logger.error(
      { err: why, call_id: this.#call.id, workspace_id: this.exchange.key?.source.workspaceId },
      'a call could not be hung up, and is not metered any more',
    );
    this.#over();
  }

  #over(isHeardElsewhere = false): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const socket = this.#socket;
    if (socket?.readyState === socket?.OPEN) socket?.close(1000);
    setTimeout(() => socket?.terminate(), closingMs).unref();
    if (isHeardElsewhere) {
      this.#events.end();
      this.#translated?.letGo();
    } else {
      this.#events.cut(this.#endedBy ?? new GatewayError('upstream.stream_cut'), false);
      this.#translated?.end();
    }
    this.#meter.end().finally(this.#onOver);
  }
}

const closingMs = 1000;
