import type { GatewayError } from '@sluice/errors';
import { GrowingBytes, ShortTexts, SkimmedJson } from '@sluice/json';
import {
  type CallContext,
  isList,
  type ReplyFacts,
  type ReplyHead,
  type StreamReader,
  type Translation,
} from '@sluice/providers';
import type { PreparedCall } from '../../exchange/prepared-call.ts';
import { codingOf } from '../../http/content-coding.ts';
import type { UpstreamCall } from '../upstream-call.ts';
import type { PlainTap, Tap } from './tap.ts';
import { UnpackingTap } from './unpacking-tap.ts';

/** Reads what a known format tells of a reply on its way, also where it came compressed. */
export function openTap(prepared: PreparedCall, call: UpstreamCall): Tap | undefined {
  if (prepared.translation === undefined || call.status >= 300) return undefined;
  const coding = codingOf(call.headers);
  const tap = openPlainTap(prepared, prepared.translation, call);
  return coding === '' ? tap : new UnpackingTap(tap, coding);
}

function openPlainTap(prepared: PreparedCall, translation: Translation, call: UpstreamCall) {
  if (call.isEventStream)
    return new StreamTap(
      translation.openStream(prepared.context, prepared.sentJson),
      isOpenText(call),
    );
  const head = { status: call.status, headers: call.headers };
  // What speech costs stands in the request: hours of it need not be kept.
  const bytesMax = translation.callerFormat === 'openai-speech' ? 0 : keptBytesMax;
  return new BodyTap(translation, prepared.context, head, bytesMax);
}

/** Server-sent events, to which one of ours can be added. */
function isOpenText({ headers }: UpstreamCall): boolean {
  return (
    /^text\/event-stream\b/i.test(String(headers['content-type'])) &&
    headers['content-length'] === undefined
  );
}

class StreamTap implements PlainTap {
  readonly #reader: StreamReader;
  readonly #isText: boolean;
  /** Of what has passed. */
  #last = '';

  constructor(reader: StreamReader, isText: boolean) {
    this.#reader = reader;
    this.#isText = isText;
  }

  add(chunk: Buffer): void {
    this.#reader.push(chunk);
    if (!this.#isText) return;
    const last = chunk.toString('latin1', Math.max(0, chunk.length - lineEndsMax));
    this.#last = (this.#last + last).slice(-lineEndsMax);
  }

  get isBetweenEvents(): boolean {
    return this.#isText && /\n\r?\n$/.test(this.#last);
  }

  end() {
    this.#reader.end();
    return { facts: this.#reader.facts, isComplete: this.#reader.phase === 'complete' };
  }

  get facts(): ReplyFacts {
    return this.#reader.facts;
  }

  errorEvent({ type, message, status, code }: GatewayError): Buffer {
    return this.#reader.errorEvent({ type, message, status, code });
  }
}

/** Two ends of lines. */
const lineEndsMax = 4;

/**
 * Keeps the bytes of a reply while they are few enough to be read at the end, without its long texts where they are
 * more; where they still are it reads what stands beside them.
 */
class BodyTap implements PlainTap {
  readonly #translation: Translation;
  readonly #context: CallContext;
  readonly #head: ReplyHead;
  readonly #bytesMax: number;
  #bytes: GrowingBytes | undefined = new GrowingBytes();
  #texts: ShortTexts | undefined;
  #skim: SkimmedJson | undefined;
  #list: StreamReader | undefined;

  /** With `bytesMax` 0 the reply is not looked at: the format tells all from the request. */
  constructor(translation: Translation, context: CallContext, head: ReplyHead, bytesMax: number) {
    this.#translation = translation;
    this.#context = context;
    this.#head = head;
    this.#bytesMax = bytesMax;
  }

  add(chunk: Buffer): void {
    if (this.#bytesMax === 0) return;
    if (this.#bytes === undefined) {
      this.#skim?.add(chunk);
      this.#list?.push(chunk);
      return;
    }
    this.#keep(this.#bytes, chunk);
    if (this.#bytes.length > this.#bytesMax && this.#texts === undefined) {
      this.#texts = new ShortTexts();
      for (const piece of this.#bytes.takePieces()) this.#keep(this.#bytes, piece);
    }
    if (this.#bytes.length <= this.#bytesMax) return;
    this.#readOnItsWay(this.#bytes.takePieces());
    this.#bytes = undefined;
  }

  #keep(bytes: GrowingBytes, chunk: Buffer): void {
    if (this.#texts === undefined) bytes.add(chunk);
    else this.#texts.add(chunk, bytes);
  }

  /** What is too large to be kept, from its beginning on. */
  #readOnItsWay(pieces: readonly Buffer[]): void {
    const [first] = pieces;
    if (first !== undefined && isList(first))
      this.#list = this.#translation.openList?.(this.#context.request);
    else if (this.#translation.skim !== undefined) this.#skim = new SkimmedJson();
    for (const piece of pieces) {
      this.#skim?.add(piece);
      this.#list?.push(piece);
    }
  }

  end() {
    if (this.#list !== undefined) {
      this.#list.end();
      return { facts: this.#list.facts, isComplete: true };
    }
    if (this.#skim !== undefined)
      return { facts: this.#translation.skim?.(this.#skim.object()), isComplete: true };
    if (this.#bytes === undefined) return { facts: undefined, isComplete: true };
    try {
      const { facts } = this.#translation.decode(this.#bytes.take(), this.#context, this.#head);
      return { facts, isComplete: true };
    } catch {
      // Not the format after all: nothing to read, nothing to refuse.
      return { facts: undefined, isComplete: true };
    }
  }
}

const keptBytesMax = 4 * 1024 * 1024;
