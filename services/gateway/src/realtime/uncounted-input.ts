import { measureRequest } from '@sluice/engine';
import { shortTexts } from '@sluice/json';
import { isObject } from '@sluice/mcp';
import type { JsonObject, JsonValue } from '@sluice/providers';
import { jsonObjectIn } from '../http/json-body.ts';

/** What a caller said, in tokens of a model that hears. */
export interface SaidTokens {
  readonly text: number;
  readonly audio: number;
}

/** Of what a caller says in a session a model reads these; its sounds come apart. */
const read = new Set([
  'conversation.item.create',
  'response.create',
  'response.steer',
  'session.update',
]);
const sounds = '{"type":"input_audio_buffer.append","audio":""}'.length;
/** What stands around the words of an event: its type, and those of its item and parts. */
const envelopeBytes = 90;
const bytesPerToken = 4;
/** Events of words are seldom larger; of a larger one pictures and sounds are told from texts. */
const wordsBytesMax = 16 * 1024;
/** What is larger passes unread, but for its short texts. */
const readBytesMax = 4 * 1024 * 1024;
/** A token of what the caller says is 100 ms. https://platform.openai.com/docs/guides/realtime-costs */
const audioTokensPerSecond = 10;
const pcmBytesPerSecond = 48_000;
/** No session lasts longer, whatever a provider tells of its speech. https://platform.openai.com/docs/guides/realtime-conversations */
const speechSecondsMax = 3600;

/**
 * What a caller said in a session, as far as it is heard by what is sent and by what the provider tells of speech: a
 * response that never counts is estimated by it, and so is a transcript. Of a call, whose sound goes past us, by the latter alone.
 */
export class UncountedInput {
  /** Of the sound that the caller sends. */
  soundBytesPerSecond = pcmBytesPerSecond;
  #text = 0;
  #audio = 0;
  #countedText = 0;
  #countedAudio = 0;
  /** Base64, sent and not yet part of the conversation. */
  #waitingBytes = 0;
  #speechFromMs: number | undefined;
  #speechSeconds: number | undefined;

  /** A frame of the caller's that goes on. @param type undefined = nobody can read it */
  said(type: string | undefined, frame: Buffer): void {
    if (type === 'input_audio_buffer.append')
      this.#waitingBytes += Math.max(0, frame.length - sounds);
    else if (type === 'input_audio_buffer.clear') this.#waitingBytes = 0;
    else if (type !== undefined && read.has(type)) this.#read(type, frame);
  }

  speech(fromMs: number): void {
    this.#speechFromMs = fromMs;
  }

  silence(untilMs: number): void {
    const seconds = (untilMs - (this.#speechFromMs ?? Number.NaN)) / 1000;
    this.#speechFromMs = undefined;
    if (seconds > 0)
      this.#speechSeconds = Math.min(speechSecondsMax, (this.#speechSeconds ?? 0) + seconds);
  }

  /** What was spoken belongs to the conversation. @returns for how many seconds it lasts */
  spoken(): number {
    const seconds = this.#speechSeconds ?? this.#secondsOf(this.#waitingBytes);
    this.#speechSeconds = undefined;
    this.#waitingBytes = 0;
    this.#audio += tokensOfSpeech(seconds);
    return seconds;
  }

  /** All that was said so far. */
  get total(): SaidTokens {
    return { text: this.#text, audio: this.#audio };
  }

  /** What of that no response has counted. */
  uncounted({ text, audio }: SaidTokens = this.total): SaidTokens {
    return {
      text: Math.max(0, text - this.#countedText),
      audio: Math.max(0, audio - this.#countedAudio),
    };
  }

  /** A response has counted what was said by then. */
  counted({ text, audio }: SaidTokens): void {
    this.#countedText = Math.max(this.#countedText, text);
    this.#countedAudio = Math.max(this.#countedAudio, audio);
  }

  #read(type: string, frame: Buffer): void {
    const { length } = frame;
    const isMeasured = length > wordsBytesMax && length <= readBytesMax;
    const event = isMeasured ? jsonObjectIn(frame) : undefined;
    if (event !== undefined) this.#measure(type, event);
    else {
      const bytes = length > readBytesMax ? shortTexts(frame).length : length;
      this.#text += Math.ceil(Math.max(0, bytes - envelopeBytes) / bytesPerToken);
    }
  }

  #measure(type: string, event: JsonObject): void {
    const asked = readIn(type, event);
    let soundBytes = 0;
    const words = asked.input.map((item) => {
      if (!isObject(item) || !Array.isArray(item.content)) return item;
      const content = item.content.map((part) => {
        if (!isObject(part) || typeof part.audio !== 'string') return part;
        soundBytes += part.audio.length;
        return { ...part, audio: '' };
      });
      return { ...item, content };
    });
    const json = { ...asked.rest, input: words };
    const size = measureRequest(json, JSON.stringify(json).length, 'openai');
    this.#text += size.textTokens + size.mediaTokens;
    this.#audio += tokensOfSpeech(this.#secondsOf(soundBytes));
  }

  #secondsOf(base64Bytes: number): number {
    return (base64Bytes * 3) / 4 / this.soundBytesPerSecond;
  }
}

export function tokensOfSpeech(seconds: number): number {
  return Math.ceil(seconds * audioTokensPerSecond);
}

/** Items, and what else a model reads, of an event. */
function readIn(type: string, event: JsonObject): { rest: JsonObject; input: JsonValue[] } {
  if (type === 'conversation.item.create') return { rest: {}, input: [event.item ?? ''] };
  const holder = type === 'session.update' ? event.session : (event.response ?? event);
  const { input, ...rest } = isObject(holder) ? holder : {};
  if (Array.isArray(input)) return { rest, input };
  return { rest, input: input === undefined ? [] : [input] };
}
