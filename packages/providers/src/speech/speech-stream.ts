import type { JsonObject } from '@sluice/contracts';
import type { WireFormat } from '../contract.ts';
import { type CutEvent, cutEvent, EventCutter } from '../framing/cut-events.ts';
import { parseObject } from '../json/json-access.ts';
import { anthropicMessagesSpeech } from './anthropic-messages.ts';
import { geminiSpeech } from './gemini.ts';
import { closesAll, type HeardEvent, type SpeechFormat, silent } from './heard-event.ts';
import { openAiChatSpeech } from './openai-chat.ts';
import { openAiCompletionsSpeech } from './openai-completions.ts';
import { openAiResponsesSpeech } from './openai-responses.ts';

const formats: Partial<Record<WireFormat, SpeechFormat>> = {
  'openai-chat': openAiChatSpeech,
  'openai-completions': openAiCompletionsSpeech,
  'openai-responses': openAiResponsesSpeech,
  'anthropic-messages': anthropicMessagesSpeech,
  gemini: geminiSpeech,
};

/** Undefined where nobody hears what a stream says. */
export function speechFormat(format: WireFormat): SpeechFormat | undefined {
  return formats[format];
}

/** One event of a stream: its bytes, and what it says. */
export interface Utterance extends HeardEvent {
  readonly bytes: Buffer;
  readonly name: string;
  /** Undefined where the event is no JSON object. */
  readonly event: JsonObject | undefined;
  /** It cannot be judged by its pieces. */
  readonly isUnclear?: true;
}

/** Hears every text that a stream tells, event by event. Never throws: what is not the format says nothing. */
export class SpeechStream {
  readonly #format: SpeechFormat;
  readonly #cutter = new EventCutter();
  #hasUnclear = false;

  constructor(format: SpeechFormat) {
    this.#format = format;
  }

  push(chunk: Buffer): Utterance[] {
    return this.#cutter.push(chunk).map((event) => this.#hear(event));
  }

  end(): { utterances: Utterance[]; separator: string } {
    const { events, separator } = this.#cutter.end();
    return { utterances: events.map((event) => this.#hear(event)), separator };
  }

  /** An event was too large to be heard, and is not among those given. */
  get hasLost(): boolean {
    return this.#cutter.hasLost;
  }

  /** An event was given that cannot be judged by what was heard of it. */
  get hasUnclear(): boolean {
    return this.#hasUnclear;
  }

  #hear(event: CutEvent): Utterance {
    const utterance = hear(event, this.#format);
    if (utterance.isUnclear === true) this.#hasUnclear = true;
    return utterance;
  }
}

/** What one whole event says. */
export function heardIn(bytes: Buffer, format: SpeechFormat): Utterance {
  return hear(cutEvent(bytes), format);
}

function hear({ bytes, name, data }: CutEvent, format: SpeechFormat): Utterance {
  if (data === undefined) return { bytes, name, event: undefined, pieces: [], isPing: true };
  const event = parseObject(data);
  if (event === undefined && data.trim() === '[DONE]')
    return { bytes, name, event, pieces: [], closes: closesAll, isEnd: true };
  const heard = event === undefined ? silent : format.hear(event);
  return format.isClear?.(event, data) === false
    ? { bytes, name, event, ...heard, isUnclear: true }
    : { bytes, name, event, ...heard };
}
