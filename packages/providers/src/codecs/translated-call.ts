import type { JsonObject } from '@sluice/contracts';
import type {
  CallContext,
  DecodedReply,
  EncodedRequest,
  EndpointEntry,
  ReplyFacts,
  ReplyHead,
  StreamReader,
  WireCall,
  WireFormat,
} from '../contract.ts';
import type { ChatCodec, ReplyOptions } from './chat-codec.ts';
import { compact, parseObject, stringOf } from './json-access.ts';
import { notTheFormat } from './not-the-format.ts';
import { applyQuirks } from './quirks.ts';
import { TranslatedStreamReader } from './translated-stream.ts';
import { unframed } from './unframed-stream.ts';

/** A call between two chat formats: decode with one codec, encode with the other. */
export class TranslatedCall implements WireCall {
  readonly mode = 'translated';
  readonly entry: EndpointEntry;
  readonly upstreamFormat: WireFormat;
  readonly callerFormat: WireFormat;
  #caller: ChatCodec;
  #upstream: ChatCodec;

  constructor(caller: ChatCodec, upstream: ChatCodec, entry: EndpointEntry) {
    this.entry = entry;
    this.callerFormat = caller.format;
    this.upstreamFormat = upstream.format;
    this.#caller = caller;
    this.#upstream = upstream;
  }

  encode(body: JsonObject, context: CallContext): EncodedRequest {
    const { request, dropped } = this.#caller.decodeRequest(body);
    const encoded = this.#upstream.encodeRequest(request, context);
    const quirks = this.entry.quirks ?? context.provider.quirks;
    const inFormat = applyQuirks(encoded.body, quirks) ?? encoded.body;
    return {
      ...encoded,
      body: this.entry.envelope?.wrap?.(inFormat, context) ?? inFormat,
      dropped: [...dropped, ...encoded.dropped],
    };
  }

  decode(bytes: Buffer, context: CallContext, head: ReplyHead): DecodedReply {
    const text = bytes.toString('utf8');
    const body = parseObject(text);
    const reply = body === undefined ? undefined : this.#upstream.decodeReply(body, head);
    if (reply === undefined) throw notTheFormat(text);
    const encoded = this.#caller.encodeReply(reply, optionsOf(context, context.model));
    const facts = compact<ReplyFacts>({
      id: reply.id,
      model: reply.model,
      finishReason: reply.choices[0]?.rawFinishReason,
      usage: reply.usage,
    });
    return { body: Buffer.from(JSON.stringify(encoded)), facts };
  }

  decodeError(status: number, bytes: Buffer, context: CallContext): DecodedReply {
    const error = this.#upstream.decodeError(status, bytes.toString('utf8'));
    const body = this.#caller.encodeError(status, error, context.provider.id);
    return { body: Buffer.from(JSON.stringify(body)), facts: {} };
  }

  openStream(context: CallContext, request: JsonObject): StreamReader {
    const reader = new TranslatedStreamReader(
      this.#upstream,
      this.#caller,
      optionsOf(context, stringOf(request.model) ?? context.model),
    );
    return unframed(reader, this.entry);
  }
}

function optionsOf(context: CallContext, model: string): ReplyOptions {
  const { provider, strictOpenAiCompliance, nowMs, request } = context;
  const requestedModel = model === '' ? undefined : model;
  return { provider: provider.id, strict: strictOpenAiCompliance, nowMs, requestedModel, request };
}
