import type { ChatRequest, JsonObject } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import { shownUsage } from '../bills/shown-usage.ts';
import { inCallersWords } from '../codecs/callers-words.ts';
import type {
  CallerCodec,
  ReplyOptions,
  StreamDecoder,
  UpstreamCodec,
} from '../codecs/chat-codec.ts';
import { grammarsOnlyTold } from '../codecs/custom-tools.ts';
import { withEdits } from '../codecs/fitted-request.ts';
import type {
  CallContext,
  DecodedReply,
  EncodedRequest,
  EndpointEntry,
  ReplyFacts,
  ReplyHead,
  StreamReader,
  Translation,
  WireFormat,
} from '../contract.ts';
import { notTheFormat } from '../errors/not-the-format.ts';
import type { WordRule } from '../fitting-words.ts';
import { invalidField } from '../json/invalid-field.ts';
import { compact, objectOf, readReply, stringOf } from '../json/json-access.ts';
import { factsOfModel } from '../models/facts-of-model.ts';
import { askedByUser } from './asked-by-user.ts';
import { callIdRule } from './call-id-rules.ts';
import { withFittingCallIds } from './call-ids.ts';
import { decoderKeepingSignatures, keepSignatures, withKeptSignatures } from './kept-signatures.ts';
import { applyQuirks, droppedByQuirks } from './quirks.ts';
import { bytesSaidIn } from './said-in-bytes.ts';
import { toldInWords } from './told-in-words.ts';
import {
  callerNames,
  decoderWithCallerNames,
  toolNameRule,
  withCallerNames,
  withFittingNames,
} from './tool-names.ts';
import { TranslatedStreamReader } from './translated-stream.ts';
import { unframed } from './unframed-stream.ts';

/** A call between two chat formats: decode with one codec, encode with the other. */
export class ChatTranslation implements Translation {
  readonly mode = 'translated';
  readonly entry: EndpointEntry;
  readonly upstreamFormat: WireFormat;
  readonly callerFormat: WireFormat;
  #caller: CallerCodec;
  #upstream: UpstreamCodec;
  #names: WordRule;

  constructor(caller: CallerCodec, upstream: UpstreamCodec, entry: EndpointEntry) {
    this.entry = entry;
    this.callerFormat = caller.format;
    this.upstreamFormat = upstream.format;
    this.#caller = caller;
    this.#upstream = upstream;
    this.#names = toolNameRule(entry.format);
  }

  encode(body: JsonObject, context: CallContext): EncodedRequest {
    const { request: asked, dropped } = this.#caller.decodeRequest(body);
    const known = this.#upstream.signsCalls === true ? withKeptSignatures(asked, context) : asked;
    const told = toldInWords(known, this.#upstream.format, dropped);
    const named = withFittingNames(told, this.#names);
    const turned = this.#upstream.needsUserTurn === true ? askedByUser(named) : named;
    const leftOut: string[] = [];
    const request = withinOutputMax(turned, context, leftOut);
    if (request.stream && this.#upstream.openDecoder === undefined)
      throw invalidField('stream', 'must be false: this provider does not stream');
    const encoded = this.#upstream.encodeRequest(request, context);
    const quirks = this.entry.quirks ?? context.provider.quirks;
    const quirky = applyQuirks(encoded.body, quirks) ?? encoded.body;
    const rule = callIdRule(this.entry.format, quirks);
    const fitting = withFittingCallIds(quirky, rule) ?? quirky;
    const { cachePrefix } = context;
    const marks =
      cachePrefix === undefined
        ? undefined
        : this.#upstream.markPrefix?.(fitting, cachePrefix, context);
    const inFormat = marks === undefined ? fitting : withEdits(fitting, marks);
    return {
      ...encoded,
      body: this.entry.envelope?.wrap?.(inFormat, context) ?? inFormat,
      dropped: [
        ...dropped,
        ...(this.#upstream.hasCustomTools === true ? [] : grammarsOnlyTold(request)),
        ...inCallersWords(this.callerFormat, body, [
          ...leftOut,
          ...encoded.dropped,
          ...droppedByQuirks(encoded.body, quirks),
        ]),
      ],
    };
  }

  decode(bytes: Buffer, context: CallContext, head: ReplyHead): DecodedReply {
    const body = objectOf(readReply(bytes));
    const reply = body === undefined ? undefined : this.#upstream.decodeReply(body, head);
    if (reply === undefined) throw notTheFormat(bytes);
    if (this.#upstream.signsCalls === true) keepSignatures(reply, context);
    const told = withCallerNames(reply, callerNames(context.request, this.#names));
    const usage = told.usage && shownUsage(told.usage);
    const shown = usage === told.usage ? told : { ...told, usage };
    const encoded = this.#caller.encodeReply(shown, optionsOf(context, context.model));
    const facts = compact<ReplyFacts>({
      id: reply.id,
      model: reply.model,
      finishReason: reply.choices[0]?.rawFinishReason,
      usage: reply.usage,
      ...(body === undefined ? {} : this.#upstream.readBill?.(body)),
      saidBytes: reply.usage === undefined ? bytesSaidIn(body ?? {}) : undefined,
    });
    return { body: Buffer.from(JSON.stringify(encoded)), facts };
  }

  decodeError(status: number, bytes: Buffer, context: CallContext): DecodedReply {
    const error = this.#upstream.decodeError(status, bytes.toString('utf8'));
    const body = this.#caller.encodeError(status, error, context.provider.id);
    return { body: Buffer.from(JSON.stringify(body)), facts: {} };
  }

  openStream(context: CallContext, request: JsonObject): StreamReader {
    const decoder = this.openDecoder(context);
    // `encode` refused to ask for such a stream.
    if (decoder === undefined) throw new GatewayError('provider.endpoint_unsupported');
    const encoder = this.#caller.openEncoder(streamOptionsOf(context, request));
    return unframed(new TranslatedStreamReader(decoder, this.#caller, encoder), this.entry);
  }

  /** Of the upstream's streams, in the caller's names. */
  openDecoder(context: CallContext): StreamDecoder | undefined {
    const opened = this.#upstream.openDecoder?.();
    if (opened === undefined) return undefined;
    const decoder =
      this.#upstream.signsCalls === true ? decoderKeepingSignatures(opened, context) : opened;
    return decoderWithCallerNames(decoder, callerNames(context.request, this.#names));
  }
}

/** What is more than its model is known to say is refused; a fallback may say less than who was asked first. */
function withinOutputMax(
  request: ChatRequest,
  context: CallContext,
  dropped: string[],
): ChatRequest {
  const { outputTokensMax: asked, model } = request;
  if (asked === undefined) return request;
  const name = context.provider.modelBehind?.(context) ?? model;
  const most = factsOfModel(name, context.modelOverrides)?.outputTokensMax;
  if (most === undefined || asked <= most) return request;
  dropped.push('max_tokens');
  return { ...request, outputTokensMax: most };
}

/** How a stream is written. `request` is the body as sent upstream. */
export function streamOptionsOf(context: CallContext, request: JsonObject): ReplyOptions {
  return optionsOf(context, stringOf(request.model) ?? context.model);
}

function optionsOf(context: CallContext, model: string): ReplyOptions {
  const { provider, strictOpenAiCompliance: strict, nowMs, answerId, request } = context;
  const requestedModel = model === '' ? undefined : model;
  return { provider: provider.id, strict, nowMs, answerId, requestedModel, request };
}
