import type {
  ChatReply,
  ChatRequest,
  ChatStreamEvent,
  JsonObject,
  ReplyBill,
} from '@sluice/contracts';
import type { ToolUnit } from '../bills/charged-tools.ts';
import type {
  CachePrefix,
  CallContext,
  EncodedRequest,
  MemberEdits,
  ReplyHead,
  StreamFault,
  WireFormat,
} from '../contract.ts';
import type { ErrorFacts } from '../errors/error-facts.ts';
import type { SseEvent } from '../framing/sse.ts';

export interface ReplyOptions {
  provider: string;
  /** Only the caller's standard's own fields. */
  strict: boolean;
  nowMs: number;
  answerId?: (() => string) | undefined;
  /** Named in the reply when the upstream does not name its model. */
  requestedModel: string | undefined;
  /** The caller's body, for formats whose replies repeat parts of it. */
  request: JsonObject;
}

export type MarkPrefix = (
  body: JsonObject,
  prefix: CachePrefix,
  context: CallContext,
) => MemberEdits | undefined;

export interface StreamDecoder {
  /** The charged tool that each picture is a use of; absent = pictures are among the answer's tokens. */
  readonly drawsWith?: ToolUnit;
  /** One upstream event; an unreadable one yields a `fault`. */
  decode(event: SseEvent): ChatStreamEvent[];
  /** The upstream ended: what may still be concluded from what was seen. */
  end(): ChatStreamEvent[];
}

export interface StreamEncoder {
  /** The caller's bytes for one event, as text; often empty. */
  encode(event: ChatStreamEvent): string;
  /** In place of the codec's, for formats that count their events. */
  errorEvent?(fault: StreamFault & { code?: string }): string | undefined;
}

/** The caller's side of a chat format: its requests are read, its replies written. */
export interface CallerCodec {
  format: WireFormat;
  /** Throws GatewayError('request.invalid_field') with the path of the fault. */
  decodeRequest(body: JsonObject): { request: ChatRequest; dropped: string[] };
  encodeReply(reply: ChatReply, options: ReplyOptions): JsonObject;
  encodeError(status: number, error: ErrorFacts, provider: string): JsonObject;
  openEncoder(options: ReplyOptions): StreamEncoder;
  /**
   * The encoder of a stream of this format that somebody else began. `sent`: the
   * events that went out; `textBlock`: the number of the text told last.
   * Undefined where something is open that it cannot end. Absent where an
   * encoder that is told the same is as good.
   */
  resumeEncoder?(
    options: ReplyOptions,
    sent: readonly SseEvent[],
    textBlock: number,
  ): StreamEncoder | undefined;
  errorEvent(fault: StreamFault & { code?: string }): Buffer;
}

/** The upstream's side of a chat format: its requests are written, its replies read. */
export interface UpstreamCodec {
  format: WireFormat;
  /** Its calls come with proofs that it wants to see again, whole also in streams. */
  signsCalls?: boolean;
  /** It is asked for custom tools as such, with their grammars. */
  hasCustomTools?: boolean;
  /** Instructions alone are no question to it. */
  needsUserTurn?: boolean;
  encodeRequest(request: ChatRequest, context: CallContext): EncodedRequest & { body: JsonObject };
  /**
   * The members of a body with marks for the provider's cache at what its prompt begins with; undefined
   * = none are needed or taken. Absent where the format has no words for them.
   */
  markPrefix?: MarkPrefix;
  /** Undefined when the body is not this format's reply. `head` is known but for streams and tests. */
  decodeReply(body: JsonObject, head?: ReplyHead): ChatReply | undefined;
  /** What a reply says of its price beside tokens; absent where the format has no words for it. */
  readBill?(body: JsonObject): ReplyBill;
  decodeError(status: number, text: string): ErrorFacts;
  /** Absent where the upstream answers whole only: streamed requests are refused. */
  openDecoder?(): StreamDecoder;
}

/**
 * One chat wire format, both ways. `decode` is wire → our model, `encode` our
 * model → wire. Two codecs make a translation (`chat-translation.ts`); neither
 * knows of the other.
 */
export interface ChatCodec extends CallerCodec, UpstreamCodec {
  openDecoder(): StreamDecoder;
}
