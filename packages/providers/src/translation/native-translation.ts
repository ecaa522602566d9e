import type { JsonObject, JsonValue } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import { SkimmedJson } from '@sluice/json';
import { withAskedImage } from '../bills/with-asked-image.ts';
import { withEdits } from '../codecs/fitted-request.ts';
import type {
  CallContext,
  DecodedReply,
  EncodedRequest,
  EndpointEntry,
  MemberEdits,
  ReplyFacts,
  ReplyHead,
  StreamReader,
  Translation,
  WireFormat,
} from '../contract.ts';
import { isErrorReply, notTheFormat } from '../errors/not-the-format.ts';
import { objectOf, parseObject, readReply } from '../json/json-access.ts';
import { callIdRule } from './call-id-rules.ts';
import { withFittingCallIds } from './call-ids.ts';
import { errorForCaller } from './error-for-caller.ts';
import { type NativeFormat, nativeFormat } from './native-formats.ts';
import { NativeStreamReader } from './native-stream.ts';
import { applyQuirks, droppedByQuirks } from './quirks.ts';
import { RawStreamReader } from './raw-stream.ts';
import { bytesSaidIn } from './said-in-bytes.ts';
import { isList, listed, unframed } from './unframed-stream.ts';

/** A call in a format that caller and upstream share: bytes pass, facts are read on the way. */
export class NativeTranslation implements Translation {
  readonly mode = 'native';
  readonly entry: EndpointEntry;
  readonly upstreamFormat: WireFormat;
  readonly callerFormat: WireFormat;
  #format: NativeFormat;

  constructor(entry: EndpointEntry) {
    this.entry = entry;
    this.upstreamFormat = entry.format;
    this.callerFormat = entry.format;
    this.#format = nativeFormat(entry.format);
  }

  encode(body: JsonObject, context: CallContext): EncodedRequest {
    const { envelope } = this.entry;
    const own = this.#format.withoutForeign?.(body, context);
    const fitted = this.#format.fitToModel?.(own?.body ?? body, context);
    const taken = fitted === undefined ? own?.body : withEdits(own?.body ?? body, fitted.edits);
    const marks = this.#marksIn(taken ?? body, context);
    const edits = marks === undefined ? fitted?.edits : { ...fitted?.edits, ...marks };
    const fitting = marks === undefined ? taken : withEdits(taken ?? body, marks);
    const asked = fitting ?? body;
    const lifted =
      envelope?.keepsBodyHeaders === true ? undefined : this.#format.liftHeaders?.(asked);
    const quirks = this.entry.quirks ?? context.provider.quirks;
    const shaped = lifted?.body ?? asked;
    const quirky = applyQuirks(shaped, quirks) ?? lifted?.body ?? fitting;
    const rule = callIdRule(this.entry.format, quirks);
    const edited = withFittingCallIds(quirky ?? body, rule) ?? quirky;
    const sent = envelope?.wrap?.(edited ?? body, context) ?? edited;
    const dropped = droppedByQuirks(shaped, quirks);
    const isEditedOnly = edits !== undefined && own === undefined && sent === fitting;
    return {
      body: sent,
      ...(isEditedOnly ? { edits } : {}),
      dropped:
        own === undefined && fitted === undefined
          ? dropped
          : [...(own?.dropped ?? []), ...(fitted?.dropped ?? []), ...dropped],
      ...(lifted === undefined ? {} : { headers: lifted.headers }),
    };
  }

  #marksIn(body: JsonObject, context: CallContext): MemberEdits | undefined {
    const { cachePrefix } = context;
    if (cachePrefix === undefined) return undefined;
    return this.#format.markPrefix?.(body, cachePrefix, context);
  }

  decode(bytes: Buffer, context: CallContext, head: ReplyHead): DecodedReply {
    const { read, readHead, peek } = this.#format;
    if (readHead !== undefined) {
      const facts = readHead(head);
      if (facts.usage === undefined) facts.saidBytes = bytesSaidIn(parseObject(bytes) ?? {});
      return { body: undefined, facts };
    }
    if (peek !== undefined) {
      const facts = peek(parseObject(bytes), context.request);
      if (facts.usage === undefined && facts.units === undefined) facts.saidBytes = bytes.length;
      return { body: undefined, facts };
    }
    if (read === undefined) return { body: undefined, facts: {} };
    const list = isList(bytes) ? this.openList(context.request) : undefined;
    if (list !== undefined) {
      list.push(bytes);
      list.end();
      const { usage, saidBytes } = list.facts;
      if (usage === undefined && saidBytes === 0) return { body: undefined, facts: {} };
      return { body: undefined, facts: withAskedImage(list.facts, context.request) };
    }
    let reply: JsonValue | undefined;
    try {
      reply = readReply(bytes);
    } catch (error) {
      // What is passed on as it is need not be read to be good.
      if (!(error instanceof GatewayError)) throw error;
      const skim = new SkimmedJson();
      skim.add(bytes);
      const facts = withAskedImage(this.skim(skim.object()) ?? {}, context.request);
      return { body: undefined, facts, isUnread: true };
    }
    const body = objectOf(reply);
    const facts = body === undefined ? undefined : read(body);
    if (facts !== undefined && body !== undefined) {
      if (facts.usage === undefined) facts.saidBytes = bytesSaidIn(body);
      return { body: undefined, document: body, facts: withAskedImage(facts, context.request) };
    }
    // JSON of another shape is for the caller to read; an error is no reply, whatever its status says.
    if (reply === undefined || isErrorReply(body)) throw notTheFormat(bytes);
    return { body: undefined, facts: {} };
  }

  skim(members: Record<string, unknown> | undefined): ReplyFacts | undefined {
    return members === undefined ? undefined : this.#format.read?.(members as JsonObject);
  }

  decodeError(status: number, bytes: Buffer, context: CallContext): DecodedReply {
    if (this.entry.envelope?.translatesErrors === true)
      return errorForCaller(this.callerFormat, status, bytes, context);
    return { body: undefined, facts: {} };
  }

  openStream(_context: CallContext, request: JsonObject): StreamReader {
    const tap = this.#format.openTap?.(request);
    const reader =
      tap === undefined
        ? new RawStreamReader(this.#format.peek?.(undefined, request))
        : new NativeStreamReader(tap);
    return unframed(reader, this.entry);
  }

  openList(request: JsonObject): StreamReader | undefined {
    const tap = this.#format.openTap?.(request);
    return tap && listed(new NativeStreamReader(tap));
  }
}
