import { encodeEvent } from '../framing/cut-events.ts';
import { type Piece, rewritten, type SpeechFormat, type VoiceName } from './heard-event.ts';
import { type HeldPiece, HeldVoice } from './held-voice.ts';
import { PackedEvent } from './packed-event.ts';
import { heardIn, type Utterance } from './speech-stream.ts';

/** Small: there are many, and what stands in an event is heard again where it is changed. */
interface HeldEvent {
  readonly packed: PackedEvent;
  readonly length: number;
  /** One for each piece; undefined where it is not listened to. */
  readonly pieces: readonly (HeldPiece | undefined)[];
  readonly cameAt: number;
}

export interface HeldSpeechOptions {
  readonly format: SpeechFormat;
  /** Which texts are held; others pass with their events. */
  readonly listens: (voice: VoiceName) => boolean;
  /** Keeps what every text came to. */
  readonly keeps: boolean;
}

/**
 * Events that wait for what is decided about their texts, and go in their order.
 * Who decides is told the texts alone: in how many events they came, and where
 * in these they stand, is known here. No clock: times are given.
 */
export class HeldSpeech {
  /** Bytes of the events that wait. */
  bytes = 0;
  readonly #options: HeldSpeechOptions;
  readonly #events: HeldEvent[] = [];
  readonly #voices = new Map<string, HeldVoice>();
  #wholeCount = 0;

  constructor(options: HeldSpeechOptions) {
    this.#options = options;
  }

  /** When the event that waits longest came; undefined = none waits. */
  get waitingSince(): number | undefined {
    return this.#events[0]?.cameAt;
  }

  /** All texts, whatever was decided of them: where they are kept. */
  get voices(): Iterable<HeldVoice> {
    return this.#voices.values();
  }

  /** Texts of which something is not decided. */
  undecided(): HeldVoice[] {
    const found: HeldVoice[] = [];
    for (const voice of this.#voices.values()) if (voice.length > 0) found.push(voice);
    return found;
  }

  add(utterance: Utterance, cameAt: number): void {
    const { pieces, closes, bytes } = utterance;
    const held =
      pieces.length === 0 ? noPieces : pieces.map((piece) => this.#addPiece(piece, cameAt));
    if (closes !== undefined)
      for (const voice of this.#voices.values()) if (closes(voice)) voice.isClosed = true;
    const packed = new PackedEvent(bytes, this.#events.at(-1)?.packed);
    this.#events.push({ packed, length: bytes.length, pieces: held, cameAt });
    this.bytes += bytes.length;
  }

  /** No more comes of any text. */
  closeAll(): void {
    for (const voice of this.#voices.values()) voice.isClosed = true;
  }

  /** The events of which all is decided, up to the first of which something is not; undefined = there is none. */
  take(): Buffer | undefined {
    const taken: Buffer[] = [];
    let event = this.#events[0];
    while (event !== undefined && isDecided(event)) {
      this.#events.shift();
      this.bytes -= event.length;
      taken.push(this.#bytesOf(event));
      this.#forget(event);
      event = this.#events[0];
    }
    return taken.length <= 1 ? taken[0] : Buffer.concat(taken);
  }

  #addPiece(piece: Piece, cameAt: number): HeldPiece | undefined {
    if (!this.#options.listens(piece)) return undefined;
    if (piece.isWhole === true) return this.#addWhole(piece, cameAt);
    const known = this.#voices.get(piece.key);
    if (piece.isAgain === true) {
      if (piece.text === '') return undefined;
      // What was told in pieces is given as it was decided; any other text is a text of its own.
      if (known?.told === piece.text) return repeatOf(known, cameAt);
      if (known !== undefined) return this.#addWhole(piece, cameAt);
      const voice = this.#open(piece);
      voice.isClosed = true;
      return voice.add(piece.text, cameAt, true);
    }
    const voice = known ?? this.#open(piece);
    voice.isClosed = false;
    return voice.add(piece.text, cameAt);
  }

  #addWhole(piece: Piece, cameAt: number): HeldPiece {
    const voice = this.#open({ ...piece, key: `whole ${this.#wholeCount++}` });
    voice.isClosed = true;
    return voice.add(piece.text, cameAt);
  }

  #open(name: VoiceName): HeldVoice {
    const voice = new HeldVoice(name, this.#options.keeps);
    this.#voices.set(name.key, voice);
    return voice;
  }

  #bytesOf({ packed, pieces }: HeldEvent): Buffer {
    const { bytes } = packed;
    if (pieces.every((held) => held?.voice.hasChanged !== true)) return bytes;
    const { event, name, pieces: heard } = heardIn(bytes, this.#options.format);
    if (event === undefined) return bytes;
    const texts = pieces.map((held, at) => {
      if (held === undefined) return null;
      const given = held.isRepeat ? held.voice.given : held.given;
      return given === heard[at]?.text ? null : given;
    });
    const isChanged = (piece: Piece) => pieces[heard.indexOf(piece)]?.voice.hasChanged === true;
    const drops = heard.some((piece) => piece.drops !== undefined && isChanged(piece));
    if (!drops && texts.every((text) => text === null)) return bytes;
    return encodeEvent(name, rewritten(event, heard, texts, isChanged));
  }

  /** Vendors may tell any number of texts: those that are over are needed where they are kept alone. */
  #forget({ pieces }: HeldEvent): void {
    if (this.#options.keeps) return;
    for (const piece of pieces)
      if (piece?.voice.isClosed === true && piece.voice.length === 0)
        this.#voices.delete(piece.voice.key);
  }
}

const noPieces: readonly undefined[] = [];

function repeatOf(voice: HeldVoice, cameAt: number): HeldPiece {
  return { voice, rest: '', given: '', isRepeat: true, cameAt };
}

function isDecided({ pieces }: HeldEvent): boolean {
  return pieces.every(
    (held) =>
      held === undefined || (held.rest === '' && (!held.isRepeat || held.voice.length === 0)),
  );
}
