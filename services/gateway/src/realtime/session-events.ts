import { GatewayError } from '@sluice/errors';
import { usage } from '@sluice/proto-stubs';
import { isReadSessionEvent, readSessionEvent } from '@sluice/providers';
import { jsonObjectIn } from '../http/json-body.ts';
import { typeOfFrame } from './frame-type.ts';
import type { SessionMeter } from './session-meter.ts';

const { Outcome } = usage;

/** An event that is accounted for is seldom larger than some kB; a larger one passes unread. */
const readBytesMax = 4 * 1024 * 1024;
/** Responses that are being made at once; vendors make one. */
const begunMax = 64;

/** What the provider tells in a session, as far as it is accounted for. */
export class SessionEvents {
  readonly #meter: Pick<SessionMeter, 'used' | 'told'>;
  /** When each response began that is being made. */
  readonly #begun = new Map<string, number>();
  #model: string | undefined;
  #transcriptionModel: string | undefined;

  constructor(meter: Pick<SessionMeter, 'used' | 'told'>) {
    this.#meter = meter;
  }

  /** Frames that cannot be read mean nothing here. */
  read(frame: Buffer): void {
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
  cut(error: GatewayError, isCallers: boolean): void {
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
