import { GatewayError } from '@sluice/errors';
import { openKeyAt } from '@sluice/guardrails';
import {
  HeldSpeech,
  type HeldVoice,
  jsonPiece,
  type SpeechFormat,
  SpeechStream,
  type Utterance,
} from '@sluice/providers';
import type { ReplySink } from '../../exchange/reply.ts';
import type { HookRun } from '../hook-results.ts';
import { endOfSentences, wordBefore } from './cut-points.ts';
import { type Look, lookAt, type RunChecks, type Slice } from './look.ts';
import type { StreamChecks } from './stream-checks.ts';
import { StreamResults } from './stream-results.ts';

/** What a gate asks of those who know the stream. */
export interface GateParts {
  readonly checks: Pick<StreamChecks, 'mode' | 'holdChars' | 'holdMs' | 'asks' | 'listens'>;
  readonly format: SpeechFormat;
  /** Runs the checks that judge parts; they have this long. */
  readonly judgePart: (reply: Parameters<RunChecks>[0], withinMs: number) => ReturnType<RunChecks>;
  /** Runs those that judge the whole; undefined = there are none. */
  readonly judgeWhole: RunChecks | undefined;
  /** Hears all results, once, before the end is given; what it returns goes behind the end, or before the error. */
  readonly onResults: (run: Pick<HookRun, 'results' | 'failed' | 'denied'>) => Buffer | undefined;
  /** Settles the call: the stream has passed, or ends by this error, of which the event is told. */
  readonly conclude: (error: GatewayError | undefined) => Buffer;
  readonly isGone: () => boolean;
  readonly now: () => number;
}

/** A slice, and how much of it is to be decided. */
interface Due extends Slice {
  readonly cut: number;
}

/**
 * Holds a stream back until its checks have looked: no text passes that they
 * have not seen with what follows it, as far as the bounds let it wait. A denial
 * ends the stream in its format's own words.
 *
 * One look at a time. A text of `holdChars` characters is looked at, and its
 * first half goes; what waits too long goes after a look at what there is.
 */
export class StreamGate implements ReplySink {
  readonly #sink: ReplySink;
  readonly #parts: GateParts;
  readonly #stream: SpeechStream;
  readonly #held: HeldSpeech;
  readonly #results = new StreamResults();
  /** How long an event waits before it is looked at, so that it is given in time. */
  readonly #waitMs: number;
  #timer: NodeJS.Timeout | undefined;
  #isLooking = false;
  /** Its own end has come: what follows is only framing. */
  #hasEnded = false;
  /** Nothing more comes. */
  #isClosed = false;
  #isPassed = false;
  #isOver = false;
  /** What follows the end, and what has to stand before it. */
  #lastItem: Buffer | undefined;
  #separator = '';
  #wantsMore = true;
  #hasRefused = false;
  #onDrain = () => {};

  constructor(sink: ReplySink, parts: GateParts) {
    this.#sink = sink;
    this.#parts = parts;
    const { format, checks, judgeWhole } = parts;
    this.#stream = new SpeechStream(format);
    const keeps = format.repeats || judgeWhole !== undefined;
    this.#held = new HeldSpeech({ format, listens: checks.listens, keeps });
    this.#waitMs = checks.holdMs * (checks.asks ? 0.5 : 0.9);
  }

  write(chunk: Buffer): boolean {
    if (this.#isOver) return true;
    for (const utterance of this.#stream.push(chunk)) this.#take(utterance);
    if (!this.#refuseUnheard()) this.#settle();
    this.#hasRefused = !this.#hasRoom;
    return !this.#hasRefused;
  }

  onDrain(listener: () => void): void {
    this.#onDrain = listener;
    this.#sink.onDrain(() => {
      this.#wantsMore = true;
      this.#letMore();
    });
  }

  end(): void {
    if (this.#isOver || this.#isClosed) return;
    this.#isClosed = true;
    const { utterances, separator } = this.#stream.end();
    for (const utterance of utterances) this.#take(utterance);
    if (this.#refuseUnheard()) return;
    this.#separator = separator;
    this.#held.closeAll();
    this.#settle();
  }

  cut(code: Parameters<ReplySink['cut']>[0]): void {
    if (this.#isOver) return;
    this.#finish();
    if (!this.#isPassed) this.#pass();
    this.#sink.cut(code);
  }

  #take(utterance: Utterance): void {
    // Who waits has to see that the stream is alive.
    if (utterance.isPing === true) {
      if (!this.#hasEnded) this.#giveDecided();
      this.#send(utterance.bytes);
    } else this.#held.add(utterance, this.#parts.now());
    if (utterance.isEnd === true) this.#hasEnded = true;
  }

  /** Whether something came that nobody can look at. */
  #refuseUnheard(): boolean {
    const { hasLost, hasUnclear } = this.#stream;
    if (hasLost) this.#refuse(tooLarge());
    else if (hasUnclear) this.#refuse(unclear());
    return hasLost || hasUnclear;
  }

  /** Looks at what is due, and gives what is decided. */
  #settle(): void {
    if (this.#isLooking || this.#isOver) return;
    if (this.#isClosed && this.#parts.isGone()) {
      this.#pass();
      return;
    }
    const due = this.#due();
    if (due.length > 0) this.#start(() => this.#look(due));
    else if ((this.#hasEnded || this.#isClosed) && !this.#isPassed)
      this.#start(() => this.#lookAtWhole());
    else this.#give();
  }

  #start(work: () => Promise<void>): void {
    this.#isLooking = true;
    work()
      .catch((error: unknown) => this.#refuse(new GatewayError('internal', { cause: error })))
      .finally(() => {
        this.#isLooking = false;
        this.#settle();
        this.#letMore();
      });
  }

  /** What has to be decided now, text by text. */
  #due(): Due[] {
    const { holdChars, mode } = this.#parts.checks;
    const isFull = this.#held.bytes > heldBytesMax;
    const since = this.#held.waitingSince;
    const time = this.#parts.now() - this.#waitMs;
    const isLate = since !== undefined && since <= time;
    const due: Due[] = [];
    for (const voice of this.#held.undecided()) {
      const { length } = voice;
      const isDone = voice.isClosed || this.#isClosed || isFull;
      // A private key waits for its end, however many lines and characters it has.
      const text = isDone ? voice.text : voice.text.slice(0, openKeyAt(voice.text));
      const must = isDone ? length : isLate ? Math.min(voice.lengthUpTo(time), text.length) : 0;
      if (mode === 'window') {
        if (length >= holdChars || must > 0)
          due.push(this.#slice(voice, text, must, length - holdChars / 2));
        continue;
      }
      const certain = Math.max(must, endOfSentences(text));
      if (certain > 0) due.push(this.#slice(voice, text.slice(0, certain), certain, certain));
      // One that is longer is held as in a window.
      else if (length >= holdChars) due.push(this.#slice(voice, text, 0, length - holdChars / 2));
    }
    return due.filter(({ cut }) => cut > 0);
  }

  #slice(voice: HeldVoice, text: string, must: number, wanted: number): Due {
    const { inString, kind } = voice;
    const least = Math.min(text.length, Math.max(must, Math.floor(wanted), 0));
    const isAll = least === text.length;
    const lookBack = Math.floor(this.#parts.checks.holdChars / 2) - text.length;
    if (kind !== 'called') {
      const before = lookBack > 0 ? voice.lately.slice(-lookBack) : '';
      return { voice, text, inString, before, cut: isAll ? least : wordBefore(text, least, must) };
    }
    const isDone = voice.isClosed || this.#isClosed;
    const cut = isDone && isAll ? least : jsonPiece(text, inString).cutBefore(least);
    return { voice, text, inString, before: '', cut };
  }

  async #look(due: readonly Due[]): Promise<void> {
    const look = await this.#judge(due);
    if (this.#isOver) return;
    const { run } = look;
    const { asks } = this.#parts.checks;
    const isNew = run?.denied === true || (run?.failed === true && !this.#results.failed);
    const isPartial = due.some(({ cut, text }) => cut < text.length);
    if (isNew && isPartial && !asks) {
      // It may be the end of what there is that fails, and what follows may mend it.
      const first = await this.#judge(due.map(headOf));
      if (this.#isOver) return;
      this.#note(first);
      if (first.run?.denied === true) return this.#deny();
      for (const [at, slice] of due.entries()) this.#decide(slice, slice.cut, first.texts[at]);
      return;
    }
    this.#note(look);
    if (run?.denied === true) return this.#deny();
    for (const [at, slice] of due.entries())
      await this.#settleSlice(this.#lateBy(slice), look.texts[at] ?? '');
  }

  /** With what has waited too long by now: it was looked at, and what follows it is not waited for. */
  #lateBy(slice: Due): Due {
    const { voice, text, cut } = slice;
    const late = Math.min(text.length, voice.lengthUpTo(this.#parts.now() - this.#waitMs));
    return late <= cut ? slice : { ...slice, cut: this.#cutAt(slice, late) };
  }

  /** Decides as much as cannot change any more by what follows. */
  async #settleSlice(slice: Due, checked: string): Promise<void> {
    const { text, cut } = slice;
    if (cut === text.length) return this.#decide(slice, cut, checked);
    const tail = text.slice(cut);
    if (checked.endsWith(tail))
      return this.#decide(slice, cut, checked.slice(0, checked.length - tail.length));
    if (!this.#parts.checks.asks)
      for (const quarter of [0, 1, 2, 3]) {
        const at = this.#cutAt(slice, cut + Math.floor((tail.length * quarter) / 4));
        const { texts } = await this.#judge([{ ...slice, text: text.slice(0, at) }]);
        const { texts: rest } = await this.#judge([restOf(slice, at)]);
        if (this.#isOver) return;
        // Cut there, both halves come to what the whole does: nothing reaches across.
        if (`${texts[0]}${rest[0]}` === checked) return this.#decide(slice, at, texts[0]);
      }
    this.#decide(slice, text.length, checked);
  }

  #cutAt({ voice, text, inString, cut }: Due, at: number): number {
    if (voice.kind === 'called') return Math.max(cut, jsonPiece(text, inString).cutBefore(at));
    return wordBefore(text, at, cut);
  }

  #decide({ voice, text, inString }: Due, length: number, instead = ''): void {
    if (voice.isFixed === true && instead !== text.slice(0, length)) {
      this.#deny();
      return;
    }
    if (voice.kind === 'called') voice.inString = jsonPiece(text, inString).endsInString(length);
    voice.decide(length, instead);
  }

  #judge(slices: readonly Slice[]): Promise<Look> {
    const { format, judgePart, checks, now } = this.#parts;
    const waited = now() - (this.#held.waitingSince ?? now());
    const withinMs = Math.max(1, checks.holdMs - waited);
    return lookAt(slices, format, (reply) => judgePart(reply, withinMs));
  }

  async #lookAtWhole(): Promise<void> {
    const { judgeWhole, format } = this.#parts;
    if (judgeWhole !== undefined) {
      const slices = [...this.#held.voices].map((voice) => {
        return { voice, text: voice.given, inString: false, before: '' };
      });
      // Nothing said is something to those who demand it.
      const look = await lookAt(slices, format, judgeWhole);
      if (this.#isOver) return;
      this.#note(look);
      if (look.run?.denied === true) return this.#deny();
    }
    this.#pass();
  }

  #note({ run }: Look): void {
    if (run !== undefined) this.#results.add(run);
  }

  #pass(): void {
    if (this.#isPassed) return;
    this.#isPassed = true;
    this.#lastItem = this.#tell(false);
    this.#parts.conclude(undefined);
  }

  #tell(denied: boolean): Buffer | undefined {
    const { results, failed } = this.#results;
    return this.#parts.onResults({ results, failed, denied });
  }

  #deny(): void {
    this.#refuse(new GatewayError('guardrail.denied'));
  }

  #refuse(error: GatewayError): void {
    if (this.#isOver) return;
    this.#finish();
    const item = this.#isPassed ? undefined : this.#tell(error.code === 'guardrail.denied');
    const event = this.#parts.conclude(error);
    this.#sink.write(item === undefined ? event : Buffer.concat([item, event]));
    this.#sink.end();
  }

  /** Gives what is decided; the end itself only when all is. */
  #give(): void {
    const isLast = this.#hasEnded || this.#isClosed;
    if (!isLast || this.#isPassed) this.#giveDecided();
    if (this.#isClosed && this.#isPassed) {
      this.#finish();
      // After an error event, or nothing, an item would look like the stream's good end.
      if (this.#lastItem !== undefined && this.#hasEnded)
        this.#send(Buffer.concat([Buffer.from(this.#separator), this.#lastItem]));
      this.#sink.end();
      return;
    }
    this.#arm();
  }

  #giveDecided(): void {
    const bytes = this.#held.take();
    if (bytes !== undefined) this.#send(bytes);
  }

  /** What waits is looked at in time. */
  #arm(): void {
    const since = this.#held.waitingSince;
    if (since === undefined || this.#timer !== undefined) return;
    const inMs = Math.max(timerMsMin, since + this.#waitMs - this.#parts.now());
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#settle();
    }, inMs);
  }

  #finish(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #send(bytes: Buffer): void {
    this.#wantsMore = this.#sink.write(bytes);
  }

  get #hasRoom(): boolean {
    return this.#wantsMore && !(this.#isLooking && this.#held.bytes > heldBytesMax);
  }

  #letMore(): void {
    if (!this.#hasRefused || !this.#hasRoom) return;
    this.#hasRefused = false;
    this.#onDrain();
  }
}

function headOf(slice: Due): Slice {
  return { ...slice, text: slice.text.slice(0, slice.cut) };
}

function restOf(slice: Due, at: number): Slice {
  const { voice, text, inString } = slice;
  const isCall = voice.kind === 'called';
  return {
    voice,
    text: text.slice(at),
    inString: isCall && jsonPiece(text, inString).endsInString(at),
    before: '',
  };
}

function tooLarge(): GatewayError {
  return new GatewayError('upstream.response_too_large', {
    message: 'The provider sent an event that is too large to be checked.',
  });
}

function unclear(): GatewayError {
  return new GatewayError('upstream.invalid_response', {
    message:
      'An event was sent that cannot be checked: it is no JSON object, or has several members of one name.',
  });
}

/** Of the events that wait, whatever their texts. */
const heldBytesMax = 256 * 1024;

/** What is due and cannot be decided yet is not looked at all the time. */
const timerMsMin = 5;
