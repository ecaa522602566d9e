import type { JsonObject, JsonValue } from '@sluice/contracts';
import type { EventWriter } from './event-writer.ts';
import { added, done, type OpenItem } from './open-items.ts';
import {
  annotationsOf,
  type ItemStatus,
  messageItem,
  outputText,
  refusalPart,
} from './output-items.ts';

export class OpenMessage implements OpenItem {
  readonly index: number;
  #writer: EventWriter;
  #id: string;
  #content: JsonObject[] = [];
  #part: OpenPart | undefined;

  constructor(writer: EventWriter, index: number, id: string) {
    this.#writer = writer;
    this.index = index;
    this.#id = id;
  }

  /** Takes over what another told of it; what this writes is not to be sent. */
  adopt(parts: readonly ToldPart[], textBlock: number): void {
    for (const [at, { type, text, isTextDone, isDone }] of parts.entries()) {
      // What follows a text that is whole is another.
      const goesOn = at === parts.length - 1 && !isTextDone;
      this.#openPart(type, type === 'refusal' ? refusalBlock : goesOn ? textBlock : -2 - at);
      this.#part?.adopt(text, isTextDone);
      if (isDone) this.#closePart();
    }
  }

  open(): string {
    return added(this.#writer, this.index, messageItem(this.#id, 'in_progress', []));
  }

  /** `block`: the part of the answer that the text belongs to. */
  text(block: number, text: string, logprobs: JsonValue[]): string {
    const opened = this.#openPart('output_text', block);
    return opened + (this.#part as OpenPart).add(text, logprobs);
  }

  refusal(text: string): string {
    const opened = this.#openPart('refusal', refusalBlock);
    return opened + (this.#part as OpenPart).add(text, []);
  }

  /** A text that says nothing is a part all the same: something stands on it. */
  touch(block: number): string {
    return this.#openPart('output_text', block);
  }

  cite(block: number, citation: JsonObject): string {
    const opened = this.#openPart('output_text', block);
    (this.#part as OpenPart).citations.push(citation);
    return opened;
  }

  close(status: ItemStatus): { events: string; item: JsonObject } {
    const events = this.#closePart();
    const item = messageItem(this.#id, status, this.#content);
    return { events: events + done(this.#writer, this.index, item), item };
  }

  #openPart(type: PartType, block: number): string {
    if (this.#part?.type === type && this.#part.block === block) return '';
    const closed = this.#closePart();
    const place = {
      item_id: this.#id,
      output_index: this.index,
      content_index: this.#content.length,
    };
    this.#part = new OpenPart(this.#writer, type, block, place);
    return closed + this.#part.open();
  }

  #closePart(): string {
    if (this.#part === undefined) return '';
    const { events, part } = this.#part.close();
    this.#part = undefined;
    this.#content.push(part);
    return events;
  }
}

/** Refusals are not numbered: those of one message are one part. */
const refusalBlock = -1;

type PartType = 'output_text' | 'refusal';

/** A part as far as it was told. */
export interface ToldPart {
  type: PartType;
  text: string;
  isTextDone: boolean;
  isDone: boolean;
}

class OpenPart {
  readonly type: PartType;
  readonly block: number;
  readonly citations: JsonObject[] = [];
  #writer: EventWriter;
  #place: JsonObject;
  #deltaHead: string;
  #text = '';
  /** The text was told whole, if not that nothing belongs to it any more. */
  #isTold = false;
  #logprobs: JsonValue[] = [];

  constructor(writer: EventWriter, type: PartType, block: number, place: JsonObject) {
    this.#writer = writer;
    this.type = type;
    this.block = block;
    this.#place = place;
    this.#deltaHead = writer.deltaHead(`response.${type}.delta`, place);
  }

  open(): string {
    const part = this.type === 'refusal' ? refusalPart('') : outputText('');
    return this.#writer.event('response.content_part.added', { ...this.#place, part });
  }

  adopt(text: string, isTold: boolean): void {
    this.#text = text;
    this.#isTold = isTold;
  }

  add(text: string, logprobs: JsonValue[]): string {
    this.#text += text;
    if (this.type === 'refusal') return this.#writer.delta(this.#deltaHead, text);
    this.#logprobs.push(...logprobs);
    const told = logprobs.length === 0 ? '[]' : JSON.stringify(logprobs);
    return this.#writer.delta(this.#deltaHead, text, `,"logprobs":${told}`);
  }

  /** Sources are about the whole text, so they are told when all of it is there. */
  close(): { events: string; part: JsonObject } {
    const text = this.#text;
    const logprobs = this.#logprobs;
    const annotations = annotationsOf(this.citations, text);
    let events = '';
    for (const [annotation_index, annotation] of annotations.entries())
      events += this.#writer.event('response.output_text.annotation.added', {
        ...this.#place,
        annotation_index,
        annotation,
      });
    const isRefusal = this.type === 'refusal';
    const part = isRefusal ? refusalPart(text) : outputText(text, annotations, logprobs);
    const whole = isRefusal ? { refusal: text } : { text, logprobs };
    if (!this.#isTold)
      events += this.#writer.event(`response.${this.type}.done`, { ...this.#place, ...whole });
    events += this.#writer.event('response.content_part.done', { ...this.#place, part });
    return { events, part };
  }
}
