import type { JsonObject, SplicedStream, StreamReader, Translation } from '@sluice/providers';
import type { PreparedCall } from './prepared-call.ts';
import type { RecordedParts } from './recorded-parts.ts';
import type { StreamReply } from './reply.ts';

/** Sees to it that a stream which breaks off is told to its end by others. One for each request. */
export interface StreamRecovery {
  /** The one record of a stream that others go on with; undefined until it is cut. */
  readonly parts: RecordedParts;
  /** What is called from here on is asked for the rest of an answer. */
  readonly isAsking: boolean;
  /** Reads the stream of a call; undefined = it cannot be continued. */
  open(call: PreparedCall, translation: Translation): RecoverableStream | undefined;
  /** The body that asks for the rest of an answer; undefined = none is under way, it is asked as it is. */
  askForRest(body: JsonObject): JsonObject | undefined;
  /** What a stream lacks that was cut; undefined = nobody can mend it. */
  lacks(splice: SplicedStream, call: PreparedCall): 'end' | 'more' | undefined;
  /** Asks others for the rest; undefined = nobody tells it, and the record says so. */
  next(splice: SplicedStream): Promise<StreamReply | undefined>;
}

export interface RecoverableStream {
  readonly reader: StreamReader;
  readonly splice: SplicedStream;
}
