import type { JsonObject } from '@sluice/contracts';
import type { Texts } from './texts.ts';

/** What hooks read, and may change, in the requests of one wire format. */
export interface TextFormat {
  ofRequest(request: JsonObject): Texts;
}

/** The same of a format that answers in texts: in whole replies, and in the events of a stream. */
export interface AnswerFormat extends TextFormat {
  ofReply(reply: JsonObject): Texts;
  ofEvent(event: JsonObject): EventTexts;
  /** A reply that says what was heard of a stream, as far as readers of texts look. */
  replyOf(said: Said): JsonObject;
  /** Every event of a stream has a name. */
  readonly namesEvents: boolean;
}

/** What one event of a stream says. Absent = nothing of the kind. */
export interface EventTexts {
  /** Of the first choice; `replace` makes the event with others. */
  texts?: Texts;
  /** The texts were told before, piece by piece, and are told again: nothing is added to the answer. */
  isRepeat?: boolean;
  model?: string;
  /** Tools that the answer begins to call. */
  toolCalls?: readonly ToolName[];
  /** The format's terminal event: what ends without it is not the whole answer. */
  isEnd?: boolean;
}

export interface ToolName {
  id: string;
  name: string;
}

/** What a stream said, all events together. */
export interface Said {
  model: string;
  text: string;
  toolCalls: readonly ToolName[];
}
