import type { JsonObject } from '@sluice/contracts';
import { withAskedImage } from '../bills/with-asked-image.ts';
import type {
  BodyDialect,
  CallContext,
  DecodedReply,
  EncodedRequest,
  EndpointEntry,
  ReplyHead,
  StreamReader,
  Translation,
  WireFormat,
} from '../contract.ts';
import { notTheFormat } from '../errors/not-the-format.ts';
import { errorForCaller } from './error-for-caller.ts';
import { nativeFormat } from './native-formats.ts';
import { applyQuirks } from './quirks.ts';
import { RawStreamReader } from './raw-stream.ts';

/** A call of an endpoint that is no conversation, in a vendor's own words. */
export class DialectTranslation implements Translation {
  readonly mode = 'translated';
  readonly entry: EndpointEntry;
  readonly upstreamFormat: WireFormat;
  readonly callerFormat: WireFormat;
  #dialect: BodyDialect;

  constructor(entry: EndpointEntry, dialect: BodyDialect, callerFormat: WireFormat) {
    this.entry = entry;
    this.upstreamFormat = entry.format;
    this.callerFormat = callerFormat;
    this.#dialect = dialect;
  }

  encode(body: JsonObject, context: CallContext): EncodedRequest {
    const encoded = this.#dialect.encode(body, context);
    if (encoded.body === undefined) return encoded;
    const quirks = this.entry.quirks ?? context.provider.quirks;
    return { ...encoded, body: applyQuirks(encoded.body, quirks) ?? encoded.body };
  }

  decode(bytes: Buffer, context: CallContext, head: ReplyHead): DecodedReply {
    const reply = this.#dialect.decode(bytes, context, head);
    if (reply === undefined) throw notTheFormat(bytes);
    return { ...reply, facts: withAskedImage(reply.facts, context.request) };
  }

  decodeError(status: number, bytes: Buffer, context: CallContext): DecodedReply {
    return errorForCaller(this.callerFormat, status, bytes, context);
  }

  /** A vendor that streams what we asked whole: the caller gets it as it comes. */
  openStream(context: CallContext): StreamReader {
    return new RawStreamReader(nativeFormat(this.callerFormat).peek?.(undefined, context.request));
  }
}
