import type { CallerFormat, JsonObject } from '@sluice/contracts';
import type { AnswerFormat, ToolName } from './text-format.ts';
import { answerFormat } from './text-formats.ts';
import { type Segment, TextStream } from './text-stream.ts';

/** Undefined where a format's replies are no texts. */
export function listenTo(format: CallerFormat, charactersMax: number): HeardStream | undefined {
  const texts = answerFormat(format);
  return texts === undefined ? undefined : new HeardStream(texts, charactersMax);
}

/**
 * Gathers what a stream says while its bytes go by: the text of the first
 * choice, and which tools it calls (by id and name). Bounded: what is beyond
 * the cap is not kept.
 */
export class HeardStream {
  text = '';
  /** The format's terminal event went by. */
  sawEnd = false;
  readonly #format: AnswerFormat;
  readonly #stream: TextStream;
  readonly #charactersMax: number;
  readonly #toolCalls: ToolName[] = [];
  #model = '';
  #hasLost = false;

  constructor(format: AnswerFormat, charactersMax: number) {
    this.#format = format;
    this.#stream = new TextStream(format);
    this.#charactersMax = charactersMax;
  }

  /** Bytes of the stream, cut anywhere. Never throws. */
  push(chunk: Buffer): void {
    for (const segment of this.#stream.push(chunk)) this.#hear(segment);
  }

  /** The stream is over; its last event may lack an end. Returns what must precede a further event. */
  end(): string {
    const { segments, separator } = this.#stream.end();
    for (const segment of segments) this.#hear(segment);
    return separator;
  }

  /** All of it was heard, to the terminal event, and kept. */
  get isWhole(): boolean {
    return this.sawEnd && !this.#hasLost && !this.#stream.hasLost;
  }

  /** A reply that says the same, for checks that read replies. */
  reply(): JsonObject {
    return this.#format.replyOf({
      model: this.#model,
      text: this.text,
      toolCalls: this.#toolCalls,
    });
  }

  #hear({ texts, isRepeat, model, toolCalls, isEnd }: Segment): void {
    if (texts !== undefined && isRepeat !== true) this.#addText(texts.joined);
    if (model !== undefined) this.#model = model;
    if (toolCalls !== undefined) for (const call of toolCalls) this.#addTool(call);
    if (isEnd === true) this.sawEnd = true;
  }

  #addText(text: string): void {
    if (text === '') return;
    const room = this.#charactersMax - this.text.length;
    if (text.length > room) this.#hasLost = true;
    if (room > 0) this.text += text.slice(0, room);
  }

  #addTool(call: ToolName): void {
    if (this.#toolCalls.length >= toolCallsMax) this.#hasLost = true;
    else this.#toolCalls.push(call);
  }
}

const toolCallsMax = 256;
