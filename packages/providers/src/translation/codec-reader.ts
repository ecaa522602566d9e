import type {
  CallContext,
  DecodedReply,
  EncodedRequest,
  EndpointEntry,
  ReplyHead,
  StreamReader,
  Translation,
  WireFormat,
} from '../contract.ts';

/** A format that no caller speaks, read by the codec that translates it; its bytes are passed on as they are. */
export class CodecReader implements Translation {
  readonly mode = 'native';
  readonly entry: EndpointEntry;
  readonly upstreamFormat: WireFormat;
  readonly callerFormat: WireFormat;
  readonly #codec: Translation;

  constructor(codec: Translation) {
    this.entry = codec.entry;
    this.upstreamFormat = codec.upstreamFormat;
    this.callerFormat = codec.upstreamFormat;
    this.#codec = codec;
  }

  encode(): EncodedRequest {
    return { body: undefined, dropped: [] };
  }

  decode(bytes: Buffer, context: CallContext, head: ReplyHead): DecodedReply {
    return { body: undefined, facts: this.#codec.decode(bytes, context, head).facts };
  }

  decodeError(): DecodedReply {
    return { body: undefined, facts: {} };
  }

  openStream(
    context: CallContext,
    request: Parameters<Translation['openStream']>[1],
  ): StreamReader {
    return this.#codec.openStream(context, request);
  }
}
