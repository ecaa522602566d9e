import type { JsonObject, JsonValue } from '@sluice/contracts';
import { type Path, setAt, valueAt } from './at-path.ts';

/**
 * What a text of an answer is: said to the caller, a refusal, thinking, what a
 * tool is called with (JSON) or given (free text), or what stands beside all that.
 */
export type VoiceKind = 'said' | 'refused' | 'thought' | 'called' | 'written' | 'beside';

/** One text of an answer, which its pieces in many events come to. */
export interface VoiceName {
  /** The same in all events that tell of it. */
  readonly key: string;
  readonly kind: VoiceKind;
  /** Which of several answers it belongs to. */
  readonly choice: number;
  /** Nothing can be put in its place. */
  readonly isFixed?: true;
}

/** A piece of a text, and where it stands in its event. */
export interface Piece extends VoiceName {
  readonly text: string;
  readonly path: Path;
  /** Where the event says the same once more. */
  readonly mirrors?: readonly Path[];
  /** What tells of the words in other ways, and is left out once they were changed. */
  readonly drops?: readonly Path[];
  /** All of the text so far, told again: nothing is added to it. */
  readonly isAgain?: true;
  /** All of the text: nothing goes on with it. */
  readonly isWhole?: true;
}

/** What one event of a stream says of all texts of the answer. */
export interface HeardEvent {
  readonly pieces: readonly Piece[];
  /** Texts of which no more comes. */
  readonly closes?: (voice: VoiceName) => boolean;
  /** The format's terminal event. */
  readonly isEnd?: true;
  /** Only says that the stream is alive: it may overtake others. */
  readonly isPing?: true;
}

/** A text, or what is known of it, in a reply that is made to be checked. */
export interface Told extends VoiceName {
  /** One; of what a tool is called with, each of its values. */
  readonly parts: readonly string[];
}

/** How one format tells its answers event by event. */
export interface SpeechFormat {
  hear(event: JsonObject): HeardEvent;
  /**
   * Whether an event can be judged by what is heard of it. Absent = all can: what is no object says nothing to whoever reads the format.
   * @param event undefined = the data is no JSON object
   */
  isClear?(event: JsonObject | undefined, data: string): boolean;
  /** Events tell texts again that were told in pieces. */
  readonly repeats: boolean;
  /** Every event has a name. */
  readonly namesEvents: boolean;
  /** Where a text of this kind stands in a reply. */
  place(kind: VoiceKind, at: Position): Place;
  /** The values of a call stand as JSON in a text. */
  readonly callsAreText: boolean;
}

/** Of a text among those of a reply. */
export interface Position {
  readonly choice: number;
  /** Among all texts of its choice. */
  readonly text: number;
  /** Among those of its kind. */
  readonly ofKind: number;
}

export interface Place {
  readonly path: Path;
  /** What stands beside it, so that readers of the format take it for what it is. */
  readonly labels?: readonly { readonly path: Path; readonly value: JsonValue }[];
}

export const silent: HeardEvent = { pieces: [] };

export const closesAll = (): boolean => true;

/** The event with other texts in the place of its pieces; null keeps one. `changed`: words of the voice were changed by now. */
export function rewritten(
  event: JsonObject,
  pieces: readonly Piece[],
  texts: readonly (string | null)[],
  changed: (piece: Piece) => boolean,
): JsonObject {
  const copy = structuredClone(event);
  for (const [index, piece] of pieces.entries()) {
    const text = texts[index] ?? null;
    if (text !== null)
      for (const path of [piece.path, ...(piece.mirrors ?? [])]) setAt(copy, path, text);
    if (changed(piece))
      for (const path of piece.drops ?? [])
        if (valueAt(copy, path) !== undefined) setAt(copy, path, null);
  }
  return copy;
}
