import type { JsonObject } from '@sluice/contracts';
import { type SpeechFormat, SpeechStream, speechReply, type Utterance } from '@sluice/providers';
import type { ReplySink } from '../../exchange/reply.ts';

export interface SpeechTapParts {
  readonly format: SpeechFormat;
  /** Nobody has to look any more. */
  readonly isOver: () => boolean;
  /** What the stream ends by in the place of its end; undefined = it was good. Never rejects. */
  readonly judge: (
    response: JsonObject,
    unreadable: string | undefined,
  ) => Promise<Buffer | undefined>;
}

type Piece = Utterance['pieces'][number];

/** Passes a stream on as it comes, and has all that it said looked at when it is over. */
export class SpeechTap implements ReplySink {
  readonly #sink: ReplySink;
  readonly #parts: SpeechTapParts;
  readonly #stream: SpeechStream;
  readonly #said = new Map<string, { readonly first: Piece; text: string }>();
  #length = 0;
  #isClosed = false;

  constructor(sink: ReplySink, parts: SpeechTapParts) {
    this.#sink = sink;
    this.#parts = parts;
    this.#stream = new SpeechStream(parts.format);
  }

  write(chunk: Buffer): boolean {
    this.#hear(this.#stream.push(chunk));
    return this.#sink.write(chunk);
  }

  onDrain(listener: () => void): void {
    this.#sink.onDrain(listener);
  }

  end(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const { utterances, separator } = this.#stream.end();
    this.#hear(utterances);
    if (this.#parts.isOver()) {
      this.#sink.end();
      return;
    }
    void this.#judge().then((event) => {
      if (event !== undefined) this.#sink.write(Buffer.concat([Buffer.from(separator), event]));
      this.#sink.end();
    });
  }

  cut(code: Parameters<ReplySink['cut']>[0]): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    // What was given of it is looked at, too: the record says what became of it.
    const judging = this.#parts.isOver() ? Promise.resolve() : this.#judge();
    void judging.then(() => this.#sink.cut(code));
  }

  #hear(utterances: readonly Utterance[]): void {
    for (const { pieces } of utterances)
      for (const piece of pieces) {
        const { text, isWhole } = piece;
        const key = isWhole === true ? `whole ${text}` : piece.key;
        const known = this.#said.get(key);
        // Said again, it is nothing new.
        if (isWhole === true && known !== undefined) continue;
        this.#length += text.length + pieceLength;
        if (this.#length > lengthMax) return;
        if (known === undefined) this.#said.set(key, { first: piece, text });
        else known.text += text;
      }
  }

  get #unreadable(): string | undefined {
    if (this.#length > lengthMax || this.#stream.hasLost)
      return 'The stream is too long to be looked at.';
    return this.#stream.hasUnclear
      ? 'The stream has an event that is no JSON object, or has several members of one name.'
      : undefined;
  }

  #judge(): Promise<Buffer | undefined> {
    const told = [...this.#said.values()].map(({ first, text }) => {
      const { key, kind, choice } = first;
      return { key, kind, choice, parts: [text] };
    });
    const { reply } = speechReply(this.#parts.format, told);
    return this.#parts.judge(reply, this.#unreadable);
  }
}

/** Characters of a stream that are kept until it is over, and what a piece of them counts for more: there may be many. */
const lengthMax = 1024 * 1024;
const pieceLength = 8;
