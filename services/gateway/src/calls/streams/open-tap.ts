import type { GatewayError } from '@sluice/errors';
import { GrowingBytes, SkimmedJson } from '@sluice/json';
import type {
  CallContext,
  ReplyFacts,
  ReplyHead,
  StreamReader,
  Translation,
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

/** Keeps the bytes of a reply while they are few enough to be read at the end; of more it reads what stands beside them. */
class BodyTap implements PlainTap {
  readonly #translation: Translation;
  readonly #context: CallContext;
  readonly #head: ReplyHead;
  readonly #bytesMax: number;
  #bytes: GrowingBytes | undefined = new GrowingBytes();
  #skim: SkimmedJson | undefined;

  /** With `bytesMax` 0 the reply is not looked at: the format tells all from the request. */
  constructor(translation: Translation, context: CallContext, head: ReplyHead, bytesMax: number) {
    this.#translation = translation;
    this.#context = context;
    this.#head = head;
    this.#bytesMax = bytesMax;
  }

  add(chunk: Buffer): void {
    if (this.#bytesMax === 0) return;
    this.#skim?.add(chunk);
    if (this.#bytes === undefined) return;
    this.#bytes.add(chunk);
    if (this.#bytes.length <= this.#bytesMax) return;
    if (this.#translation.skim !== undefined) {
      this.#skim = new SkimmedJson();
      for (const piece of this.#bytes.takePieces()) this.#skim.add(piece);
    }
    this.#bytes = undefined;
  }

  end() {
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
