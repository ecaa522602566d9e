import { operations } from '@sluice/contracts';
import { usage } from '@sluice/proto-stubs';
import type { ModelCall } from '../exchange/subject.ts';
import type { EstimateRequest } from '../money/estimate-request.ts';
import type { SessionMeter } from './session-meter.ts';

const { Outcome } = usage;

/** A second of sound in base64, of 24 kHz and two bytes each: what sessions of translation take. */
const base64BytesPerSecond = (24_000 * 2 * 4) / 3;
/** What stands around the sound in its event, at least. */
const envelopeBytes = '{"type":"session.input_audio_buffer.append","audio":""}'.length;
/** Ours: vendors tell no such event. */
const type = 'translation.stretch';

export interface StretchOptions {
  readonly stretchMs: number;
}

export interface CallStretchOptions extends StretchOptions {
  /** `performance.now()` when the call began; what was before the stretch that is under way is accounted for. */
  readonly beganAt: number;
  /** Whether a stretch is this gateway's to account for: another may hear the same call. */
  readonly isFirst: ((event: string) => Promise<boolean>) | undefined;
}

export function isTranslation({ operation, asked }: ModelCall): boolean {
  return operation.id === operations.realtimeTranslation.id || asked?.kind === 'translation';
}

/** Of a translation: what its next stretch comes to. */
export function estimateStretch(estimate: EstimateRequest, stretchMs: number): EstimateRequest {
  return (subject, target, json) =>
    isTranslation(subject)
      ? estimate({ ...subject, heardSeconds: stretchMs / 1000 }, target, json)
      : estimate(subject, target, json);
}

/**
 * What a translation costs is told by no event: it is priced by the length of what is heard
 * (https://developers.openai.com/api/docs/models/gpt-realtime-translate, November 2026). Each stretch of it is a request
 * of its own, and what the next one needs is held before it begins, so that a budget ends it.
 */
export class TranslatedTime {
  readonly #meter: Pick<SessionMeter, 'used'>;
  readonly #options: StretchOptions;
  #heardBytes = 0;
  #startedAt = performance.now();

  constructor(meter: Pick<SessionMeter, 'used'>, options: StretchOptions) {
    this.#meter = meter;
    this.#options = options;
  }

  /** A frame of the caller's, in a session over a WebSocket: by its length, whatever it says it is. */
  heard(frame: Buffer): void {
    this.#heardBytes += Math.max(0, frame.length - envelopeBytes);
    const stretchBytes = (this.#options.stretchMs / 1000) * base64BytesPerSecond;
    if (this.#heardBytes >= stretchBytes) this.#tell();
  }

  /** What was heard since the last stretch is one as well. */
  end(): void {
    if (this.#heardBytes > 0) this.#tell();
  }

  #tell(): void {
    const seconds = this.#heardBytes / base64BytesPerSecond;
    this.#heardBytes = 0;
    usedStretch(this.#meter, seconds, this.#startedAt);
    this.#startedAt = performance.now();
  }
}

/** The same of a call, whose sound goes past us: it lasts as long as the call. Stretches are counted from its beginning. */
export class TranslatedCall {
  readonly #meter: Pick<SessionMeter, 'used'>;
  readonly #options: CallStretchOptions;
  #index: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(meter: Pick<SessionMeter, 'used'>, options: CallStretchOptions) {
    this.#meter = meter;
    this.#options = options;
    const lastedMs = performance.now() - options.beganAt;
    this.#index = Math.max(0, Math.floor(lastedMs / options.stretchMs));
    this.#wait();
  }

  end(): void {
    clearTimeout(this.#timer);
    const now = performance.now();
    while (now >= this.#startOf(this.#index + 1)) this.#tell(this.#startOf(this.#index + 1));
    if (now > this.#startOf(this.#index)) this.#tell(now);
  }

  /** Another gateway hears it, and counts the stretch that is under way. */
  letGo(): void {
    clearTimeout(this.#timer);
  }

  #wait(): void {
    this.#timer = setTimeout(
      () => {
        this.#tell(this.#startOf(this.#index + 1));
        this.#wait();
      },
      Math.max(1, this.#startOf(this.#index + 1) - performance.now()),
    );
    this.#timer.unref();
  }

  #startOf(index: number): number {
    return this.#options.beganAt + index * this.#options.stretchMs;
  }

  #tell(until: number): void {
    const index = this.#index++;
    const from = this.#startOf(index);
    const { isFirst } = this.#options;
    const claim = isFirst && (() => isFirst(`${type}\n${index}`));
    usedStretch(this.#meter, (until - from) / 1000, from, claim);
  }
}

function usedStretch(
  meter: Pick<SessionMeter, 'used'>,
  seconds: number,
  startedAt: number,
  isFirst?: () => Promise<boolean>,
): void {
  meter.used({
    type,
    startedAt,
    facts: { units: { audioSeconds: Math.round(seconds * 1000) / 1000 } },
    outcome: Outcome.SUCCESS,
    status: 200,
    errorCode: '',
    isFirst,
  });
}
