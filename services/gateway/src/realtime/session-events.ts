import { type ChatUsage, noUsage } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import { shortTexts } from '@sluice/json';
import { usage } from '@sluice/proto-stubs';
import {
  isReadSessionEvent,
  type ReplyFacts,
  readSessionEvent,
  type Said,
  tellsWords,
  wordsTold,
} from '@sluice/providers';
import { jsonObjectIn } from '../http/json-body.ts';
import { boundedUsage } from '../money/bounded-usage.ts';
import { typeOfFrame } from './frame-type.ts';
import type { SessionGuards } from './session-guards.ts';
import type { SessionMeter, UsedEvent } from './session-meter.ts';
import type { SessionTalk } from './session-talk.ts';
import { type SaidTokens, tokensOfSpeech, UncountedInput } from './uncounted-input.ts';

const { Outcome } = usage;

/** An event that is accounted for is seldom larger than some kB. Of a larger one long texts, pictures above all, are not read; what is larger without them passes unread. */
const readBytesMax = 4 * 1024 * 1024;
/** Responses that are being made at once; vendors make one. Transcripts follow what is said. */
const begunMax = 64;
const transcript = 'conversation.item.input_audio_transcription';

/** What stands around a piece of an answer in its event: its type, ids and places. */
const envelopeBytes = 180;
/** A token of an answer is 50 ms, at 24 kHz and two bytes each, in base64. https://platform.openai.com/docs/guides/realtime-costs */
const base64BytesPerAudioToken = (0.05 * 24_000 * 2 * 4) / 3;
const bytesPerTextToken = 4;

/** Ends of responses that may be told again. */
const endedMax = 64;
/** More than a session holds. */
const contextBounds = { inputTokensMax: 20_000_000, outputTokensMax: 2_000_000 };

interface Seen {
  audioBytes: number;
  textBytes: number;
}

interface Begun extends Seen {
  readonly startedAt: number;
  /** All that the caller had said by then. */
  readonly said: SaidTokens;
}

/** What was spoken, and is being written down. */
interface Transcribed {
  readonly startedAt: number;
  readonly seconds: number;
  textBytes: number;
}

function estimateOf(
  { audioBytes, textBytes }: Seen,
  contextTokens: number,
  { text, audio }: SaidTokens,
): ChatUsage {
  const outputAudioTokens = Math.ceil(audioBytes / base64BytesPerAudioToken);
  const outputTokens = outputAudioTokens + Math.ceil(textBytes / bytesPerTextToken);
  const inputTokens = Math.min(contextTokens + text + audio, contextBounds.inputTokensMax);
  const inputAudioTokens = Math.min(audio, inputTokens);
  return { ...noUsage, inputTokens, inputAudioTokens, outputTokens, outputAudioTokens };
}

/** By tokens and by the second: no model is charged by both. */
function transcriptOf({ seconds, textBytes }: Transcribed): ReplyFacts {
  const audio = tokensOfSpeech(seconds);
  const outputTokens = Math.ceil(textBytes / bytesPerTextToken);
  return {
    usage: { ...noUsage, inputTokens: audio, inputAudioTokens: audio, outputTokens },
    units: { audioSeconds: Math.round(seconds * 1000) / 1000 },
    isEstimate: true,
  };
}

export interface SessionEventsOptions {
  readonly guards?: SessionGuards | undefined;
  readonly isBesideCall?: boolean;
  /** Undefined = bodies of this session are not kept. */
  readonly talk?: SessionTalk | undefined;
  /** Whether an event is this gateway's to account for: another may hear the same. Undefined = nobody else does. */
  readonly isFirst?: ((event: string) => Promise<boolean>) | undefined;
  /** As the session was asked for, where nobody may tell how it began. */
  readonly transcriptionModel?: string | undefined;
}

/** What the provider tells in a session, as far as it is accounted for. */
export class SessionEvents {
  readonly #meter: Pick<SessionMeter, 'used' | 'told'>;
  /** The responses that are being made. */
  readonly #begun = new Map<string, Begun>();
  /** What is being written down, by its item. */
  readonly #transcribed = new Map<string, Transcribed>();
  readonly #input = new UncountedInput();
  /** The responses that ended last. */
  readonly #ended = new Set<string>();
  /** Tokens of the last response and of what led to it: so many the next one reads at least. */
  #contextTokens = 0;
  #model: string | undefined;
  #transcriptionModel: string | undefined;

  readonly #guards: SessionGuards | undefined;
  readonly #isBesideCall: boolean;
  readonly #talk: SessionTalk | undefined;
  readonly #isFirst: ((event: string) => Promise<boolean>) | undefined;
  /** Something was said that must not be. */
  onDenied: ((error: GatewayError, said: Said) => void) | undefined;

  constructor(meter: Pick<SessionMeter, 'used' | 'told'>, options: SessionEventsOptions = {}) {
    this.#meter = meter;
    this.#guards = options.guards;
    this.#isBesideCall = options.isBesideCall === true;
    this.#talk = options.talk;
    this.#isFirst = options.isFirst;
    this.#transcriptionModel = options.transcriptionModel;
  }

  /** Frames that cannot be read mean nothing here. */
  read(frame: Buffer): void {
    const type = typeOfFrame(frame);
    if (type === undefined) return;
    if (type.endsWith('.delta')) this.#noteDelta(type, frame.length);
    const isJudged = this.#guards !== undefined && tellsWords(type, this.#isBesideCall);
    const talk = this.#talk;
    if (!isJudged && !isReadSessionEvent(type) && talk?.hears(type) !== true) return;
    const read = frame.length > readBytesMax ? shortTexts(frame) : frame;
    const body = read.length > readBytesMax ? undefined : jsonObjectIn(read);
    if (body === undefined) return;
    talk?.hear(type, body);
    if (isJudged) this.#judge(wordsTold(type, body, this.#isBesideCall));
    const event = readSessionEvent(type, body);
    if (event === undefined) return;
    const now = performance.now();
    switch (event.kind) {
      case 'begun':
        if (this.#begun.size < begunMax)
          this.#begun.set(event.id, {
            startedAt: now,
            said: this.#input.total,
            audioBytes: 0,
            textBytes: 0,
          });
        return;
      case 'speech':
        this.#input.speech(event.fromMs);
        return;
      case 'silence':
        this.#input.silence(event.untilMs);
        return;
      case 'heard': {
        const seconds = this.#input.spoken();
        const isTranscribed = this.#transcriptionModel !== undefined;
        if (isTranscribed && this.#transcribed.size < begunMax)
          this.#transcribed.set(event.id, { startedAt: now, seconds, textBytes: 0 });
        return;
      }
      case 'untold':
        this.#transcribed.delete(event.id);
        return;
      case 'used': {
        const isResponse = type.startsWith('response.');
        if (isResponse && this.#hasEnded(event.id)) return;
        const begun = isResponse ? this.#begun.get(event.id) : undefined;
        const transcribed = isResponse ? undefined : this.#transcribed.get(event.id);
        const startedAt = (begun ?? transcribed)?.startedAt ?? now;
        if (isResponse) this.#begun.delete(event.id);
        else this.#transcribed.delete(event.id);
        const { hasSucceeded } = event;
        const facts =
          isResponse && hasSucceeded
            ? this.#countedFacts(event.facts, begun)
            : countedTranscript(event.facts, transcribed);
        const model = isResponse ? this.#model : this.#transcriptionModel;
        this.#meter.used({
          type,
          startedAt,
          content: talk && {
            request: isResponse ? talk.before(body) : undefined,
            response: frame,
          },
          facts: { ...named(model), ...facts },
          outcome: hasSucceeded ? Outcome.SUCCESS : Outcome.UPSTREAM_ERROR,
          status: hasSucceeded ? 200 : 500,
          errorCode: hasSucceeded ? '' : 'upstream.error',
          ...this.#claimOf(type, event.id),
          ...(this.#guards === undefined ? {} : { verdicts: this.#guards.takeVerdicts() }),
        });
        return;
      }
      case 'session':
        this.#model = event.model ?? this.#model;
        this.#transcriptionModel = event.transcriptionModel ?? this.#transcriptionModel;
        this.#input.soundBytesPerSecond =
          event.soundBytesPerSecond ?? this.#input.soundBytesPerSecond;
        this.#meter.told({ type, startedAt: now, content: talk && { response: frame } });
        return;
      case 'error':
        this.#meter.told(
          { type, startedAt: now, content: talk && { response: frame } },
          new GatewayError('upstream.error'),
        );
    }
  }

  /** What the caller says, once it goes on. @param isOfResponses no event tells what was asked */
  said(frame: Buffer, isOfResponses: boolean): void {
    const type = typeOfFrame(frame);
    this.#input.said(type, frame);
    if (isOfResponses && type === 'response.create') this.#talk?.ask(frame);
  }

  /** Whether its end was told before. */
  #hasEnded(id: string): boolean {
    if (id === '') return false;
    if (this.#ended.has(id)) return true;
    this.#ended.add(id);
    const [first] = this.#ended;
    if (this.#ended.size > endedMax && first !== undefined) this.#ended.delete(first);
    return false;
  }

  /** What a response that does not count itself came to is told from what was heard of it. */
  #countedFacts(facts: ReplyFacts, begun: Begun | undefined): ReplyFacts {
    const { usage } = facts;
    if (usage === undefined)
      return { ...facts, usage: this.#estimate(begun ?? nothingSeen), isEstimate: true };
    if (!boundedUsage(usage, contextBounds).isImplausible) {
      this.#contextTokens = usage.inputTokens + usage.outputTokens;
      if (begun !== undefined) this.#input.counted(begun.said);
    }
    return facts;
  }

  #claimOf(type: string, id: string): Pick<UsedEvent, 'isFirst'> {
    const isFirst = this.#isFirst;
    return isFirst === undefined || id === '' ? {} : { isFirst: () => isFirst(`${type}\n${id}`) };
  }

  #judge(said: Said | undefined): void {
    const guards = this.#guards;
    if (guards === undefined || said === undefined) return;
    if (said.by === 'model' ? !guards.hearsModel : !guards.hearsCaller) return;
    void guards.judge(said.by, said.text).then((error) => {
      if (error !== undefined) this.onDenied?.(error, said);
    });
  }

  /** What went before, what was said since, and what was seen of it. */
  #estimate(seen: Seen & { readonly said?: SaidTokens }): ChatUsage {
    return estimateOf(seen, this.#contextTokens, this.#input.uncounted(seen.said));
  }

  /** By its length: it is not read. Told of the response that began last, since vendors make one, or of the first that is written down. */
  #noteDelta(type: string, bytes: number): void {
    if (type.startsWith(transcript)) {
      const [written] = this.#transcribed.values();
      if (written !== undefined) written.textBytes += Math.max(0, bytes - envelopeBytes) + 1;
      return;
    }
    const response = [...this.#begun.values()].at(-1);
    if (response === undefined) return;
    const told = Math.max(0, bytes - envelopeBytes);
    if (/audio\.delta$/.test(type)) response.audioBytes += told;
    else response.textBytes += told + 1;
  }

  /** Responses and transcripts that nobody will hear the end of: made, and paid for, as far as that came. */
  cut(error: GatewayError, isCallers: boolean): void {
    const outcome = isCallers ? Outcome.CALLER_GONE : Outcome.PARTIAL;
    const ending = { outcome, status: 200, errorCode: error.code };
    for (const [id, begun] of this.#begun)
      this.#meter.used({
        type: 'response.done',
        startedAt: begun.startedAt,
        ...this.#claimOf('response.done', id),
        content: this.#talk && { request: this.#talk.before({}) },
        facts: { ...named(this.#model), usage: this.#estimate(begun), isEstimate: true },
        ...ending,
      });
    this.#begun.clear();
    const type = `${transcript}.completed`;
    for (const [id, transcribed] of this.#transcribed)
      this.#meter.used({
        type,
        startedAt: transcribed.startedAt,
        ...this.#claimOf(type, id),
        content: this.#talk && {},
        facts: { ...named(this.#transcriptionModel), ...transcriptOf(transcribed) },
        ...ending,
      });
    this.#transcribed.clear();
    this.end();
  }

  /** Nothing more is read. */
  end(): void {
    this.#talk?.end();
  }
}

const nothingSeen: Seen = { audioBytes: 0, textBytes: 0 };

function named(model: string | undefined): Pick<ReplyFacts, 'model'> {
  return model === undefined ? {} : { model };
}

/** A transcript that does not say what it came to is told by what was said. */
function countedTranscript(facts: ReplyFacts, transcribed: Transcribed | undefined): ReplyFacts {
  const isCounted = facts.usage !== undefined || facts.units !== undefined;
  if (isCounted || transcribed === undefined) return facts;
  return { ...facts, ...transcriptOf(transcribed) };
}
