import { jsonBounds, readJsonText } from '@sluice/json';
import { isObject } from '@sluice/mcp';
import { itemTold, type JsonObject, type JsonValue, tellsItem } from '@sluice/providers';
import type { ContentKeeper } from '../content/content-keeper.ts';
import type { ModelExchange } from '../exchange/exchange.ts';

/** What all sessions together hold of what is said in them. */
export class TalkRoom {
  bytes = 0;
  readonly bytesMax: number;

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }
}

export interface TalkParts {
  readonly content: ContentKeeper | undefined;
  readonly talkRoom: TalkRoom;
}

/** Of one session; what was said first makes room. */
const talkBytesMax = 64 * 1024;
/** Requests of a session of responses that are not answered yet. */
const askedMax = 16;

interface Item {
  readonly id: string;
  /** JSON, without sounds. */
  readonly text: string;
  readonly bytes: number;
}

/**
 * What led to each response of a session, for its log: of `/v1/realtime` the conversation as its provider tells it, in the order
 * that its items name, of `/v1/responses` what the caller asked. Made only where bodies are kept.
 */
export class SessionTalk {
  /** Undefined = bodies of this session are not kept. */
  static of(exchange: ModelExchange, { content, talkRoom }: TalkParts): SessionTalk | undefined {
    return content?.keeps(exchange) === true ? new SessionTalk(talkRoom) : undefined;
  }

  readonly #room: TalkRoom;
  readonly #items: Item[] = [];
  readonly #asked: Buffer[] = [];
  #bytes = 0;
  #leftOut = 0;
  #isOver = false;

  constructor(room: TalkRoom) {
    this.#room = room;
  }

  hears(type: string): boolean {
    return tellsItem(type);
  }

  hear(type: string, event: JsonObject): void {
    const told = itemTold(type, event);
    if (told?.kind === 'is') this.#put(told.item, told.after);
    else if (told?.kind === 'gone') this.#remove(this.#indexOf(told.itemId));
    else if (told !== undefined) this.#say(told.itemId, told.transcript);
  }

  /** What the caller asks for, where no event tells so: answered in the order in which it came. */
  ask(frame: Buffer): void {
    if (this.#asked.length < askedMax && this.#take(frame.length)) this.#asked.push(frame);
  }

  /** What was asked, or said, before a response that has ended; it belongs to the conversation from now on. */
  before({ response: told }: JsonObject): Buffer | undefined {
    const response = isObject(told) ? told : {};
    const asked = this.#asked.shift();
    if (asked !== undefined) {
      this.#give(asked.length);
      return asked;
    }
    // One beside the conversation was asked with what nobody tells of.
    if (response.conversation_id === null) return undefined;
    const output = itemsIn(response.output);
    const places = output.map(({ id }) => this.#indexOf(String(id))).filter((at) => at >= 0);
    const before = this.#items.slice(0, places.length === 0 ? undefined : Math.min(...places));
    const texts = before.map(({ text }) => text).join();
    const leftOut = this.#leftOut === 0 ? '' : `"items_left_out":${this.#leftOut},`;
    for (const item of output) this.#put(item, undefined);
    return Buffer.from(`{${leftOut}"items":[${texts}]}`);
  }

  /** Nothing is held any more. */
  end(): void {
    this.#isOver = true;
    this.#room.bytes -= this.#bytes;
    this.#bytes = 0;
    this.#items.length = 0;
    this.#asked.length = 0;
  }

  #say(itemId: string, transcript: string): void {
    const at = this.#indexOf(itemId);
    const known = this.#items[at];
    if (known === undefined) return;
    const item = readJsonText(known.text, jsonBounds.kept) as JsonObject;
    const content = itemsIn(item.content).map((part) =>
      part.type === 'input_audio' ? { ...part, transcript } : part,
    );
    this.#put({ ...item, content }, undefined);
  }

  #put(item: JsonObject, after: string | null | undefined): void {
    const { id } = item;
    if (typeof id !== 'string' || this.#isOver) return;
    let known = this.#indexOf(id);
    this.#remove(known);
    const made = madeOf(id, item);
    while (this.#bytes + made.bytes > talkBytesMax && this.#items.length > 0) {
      this.#remove(0);
      this.#leftOut++;
      if (known > 0) known--;
    }
    if (!this.#take(made.bytes)) {
      this.#leftOut++;
      return;
    }
    this.#items.splice(this.#placeOf(known, after), 0, made);
  }

  #placeOf(known: number, after: string | null | undefined): number {
    if (known >= 0) return known;
    if (after === null) return 0;
    const at = after === undefined ? -1 : this.#indexOf(after);
    return at < 0 ? this.#items.length : at + 1;
  }

  #indexOf(id: string): number {
    return this.#items.findLastIndex((item) => item.id === id);
  }

  #remove(at: number): void {
    if (at < 0) return;
    const [gone] = this.#items.splice(at, 1);
    if (gone !== undefined) this.#give(gone.bytes);
  }

  #take(bytes: number): boolean {
    if (this.#isOver || this.#room.bytes + bytes > this.#room.bytesMax) return false;
    this.#room.bytes += bytes;
    this.#bytes += bytes;
    return true;
  }

  #give(bytes: number): void {
    this.#room.bytes -= bytes;
    this.#bytes -= bytes;
  }
}

function madeOf(id: string, item: JsonObject): Item {
  const whole = JSON.stringify(item, withoutSounds);
  const text =
    whole.length <= talkBytesMax / 4
      ? whole
      : JSON.stringify({ id, type: item.type, role: item.role, omitted: 'too large' });
  return { id, text, bytes: Buffer.byteLength(text) };
}

function withoutSounds(name: string, value: unknown): unknown {
  return name === 'audio' && typeof value === 'string' ? undefined : value;
}

function itemsIn(value: JsonValue | undefined): JsonObject[] {
  if (!Array.isArray(value)) return [];
  return value.filter(isObject);
}
