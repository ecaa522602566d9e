import type { JsonObject } from '@sluice/contracts';
import { readBill as readMessageBill } from '../codecs/anthropic-messages/bill.ts';
import { betasOf } from '../codecs/anthropic-messages/encode-request.ts';
import { fitToModel as fitMessages } from '../codecs/anthropic-messages/fit-to-model.ts';
import { markPrefix as markMessages } from '../codecs/anthropic-messages/mark-prefix.ts';
import { AnthropicTap } from '../codecs/anthropic-messages/tap.ts';
import { usageOf as anthropicUsageOf } from '../codecs/anthropic-messages/wire.ts';
import { withoutForeign as withoutForeignInMessages } from '../codecs/anthropic-messages/without-foreign.ts';
import { ConverseTap, readReply as readConverse } from '../codecs/bedrock-converse/tap.ts';
import { readHead } from '../codecs/bedrock-invoke/facts.ts';
import { InvokeTap } from '../codecs/bedrock-invoke/tap.ts';
import type { MarkPrefix } from '../codecs/chat-codec.ts';
import { CohereTap, readReply as readCohere } from '../codecs/cohere-chat/tap.ts';
import type { FittedRequest } from '../codecs/fitted-request.ts';
import { GeminiTap, readReply as readGemini } from '../codecs/gemini/tap.ts';
import { readBill as readChatBill } from '../codecs/openai-chat/bill.ts';
import { fitToModel as fitChat } from '../codecs/openai-chat/fit-to-model.ts';
import { markPrefix as markChat } from '../codecs/openai-chat/mark-prefix.ts';
import { OpenAiTap } from '../codecs/openai-chat/tap.ts';
import { inputUsageOf, usageOf } from '../codecs/openai-chat/wire.ts';
import { withoutForeign as withoutForeignInChat } from '../codecs/openai-chat/without-foreign.ts';
import { MediaTap, readImages, readTranscript } from '../codecs/openai-media/index.ts';
import { readBill as readResponseBill } from '../codecs/openai-responses/bill.ts';
import { fitToModel as fitResponses } from '../codecs/openai-responses/fit-to-model.ts';
import { ResponsesTap } from '../codecs/openai-responses/tap.ts';
import { rawFinishOf, usageOf as responsesUsageOf } from '../codecs/openai-responses/wire.ts';
import { withoutForeign as withoutForeignInResponses } from '../codecs/openai-responses/without-foreign.ts';
import type { OwnWords } from '../codecs/own-words.ts';
import type { CallContext, ReplyFacts, ReplyHead, WireFormat } from '../contract.ts';
import { spokenFacts } from '../dialects/audio/request.ts';
import { readGoogleEmbeddings } from '../dialects/embeddings/google.ts';
import { readOcr } from '../dialects/ocr/facts.ts';
import { readRerank } from '../dialects/rerank/reply.ts';
import { isErrorReply } from '../errors/not-the-format.ts';
import type { StreamTap } from '../framing/stream-tap.ts';
import { arrayOf, compact, objectOf, saidIn, stringOf } from '../json/json-access.ts';

/** What is read of a format whose bytes are not changed. */
export interface NativeFormat {
  /** Facts of a whole reply; undefined when the body is not this format. Absent: nothing is read. */
  read?: (body: JsonObject) => ReplyFacts | undefined;
  /** In place of `read` where a reply need not be JSON: sound, a transcript as text. Refuses nothing. */
  peek?: (body: JsonObject | undefined, request: JsonObject) => ReplyFacts;
  /** In place of `read` where headers tell the facts, whatever the body is. Refuses nothing. */
  readHead?: (head: ReplyHead) => ReplyFacts;
  /** Undefined = this request's stream has no events of the format. */
  openTap?: (request: JsonObject) => StreamTap | undefined;
  /** Body fields that are headers upstream; undefined when the body has none. */
  liftHeaders?: (
    body: JsonObject,
  ) => { body: JsonObject; headers: Record<string, string> } | undefined;
  /** The request without what other providers wrote into its history; undefined = there is none of it. */
  withoutForeign?: (body: JsonObject, context: CallContext) => OwnWords | undefined;
  /** What the model is known to refuse; undefined = nothing of the request. */
  fitToModel?: (body: JsonObject, context: CallContext) => FittedRequest | undefined;
  /** As of a codec. */
  markPrefix?: MarkPrefix;
}

const formats: Partial<Record<WireFormat, NativeFormat>> = {
  'openai-chat': {
    read: readChoices,
    openTap: (request) => new OpenAiTap(request),
    withoutForeign: withoutForeignInChat,
    fitToModel: fitChat,
    markPrefix: markChat,
  },
  'openai-completions': { read: readChoices, openTap: (request) => new OpenAiTap(request) },
  'openai-responses': {
    read: readResponse,
    openTap: () => new ResponsesTap(),
    withoutForeign: withoutForeignInResponses,
    fitToModel: fitResponses,
  },
  'openai-embeddings': { read: readEmbeddings },
  'openai-moderations': { read: readModerations },
  'openai-images': { read: readImages, openTap: () => new MediaTap() },
  'openai-image-edits': { read: readImages, openTap: () => new MediaTap() },
  'openai-image-variations': { read: readImages },
  'openai-speech': {
    peek: (_body, request) => spokenFacts(request),
    openTap: (request) =>
      request.stream_format === 'sse' ? new MediaTap(spokenFacts(request)) : undefined,
  },
  'openai-transcriptions': { peek: readTranscript, openTap: () => new MediaTap() },
  'openai-translations': { peek: readTranscript, openTap: () => new MediaTap() },
  ocr: { read: readOcr },
  rerank: { read: (body) => readRerank(body)?.facts },
  'anthropic-messages': {
    read: readMessage,
    openTap: () => new AnthropicTap(),
    liftHeaders: liftAnthropicHeaders,
    withoutForeign: withoutForeignInMessages,
    fitToModel: fitMessages,
    markPrefix: markMessages,
  },
  'anthropic-count-tokens': {
    withoutForeign: withoutForeignInMessages,
    fitToModel: fitMessages,
  },
  'bedrock-converse': { read: readConverse, openTap: () => new ConverseTap() },
  'bedrock/invoke': { readHead, openTap: () => new InvokeTap() },
  'cohere-chat': { read: readCohere, openTap: () => new CohereTap() },
  gemini: { read: readGemini, openTap: () => new GeminiTap() },
  'google/embeddings': { read: readGoogleEmbeddings },
  'google/predictions': { read: readPredictions },
  'perplexity/search': { read: readSearch },
};

/** Formats whose replies tell nothing that is accounted for. */
const unread: NativeFormat = {};

export function nativeFormat(format: WireFormat): NativeFormat {
  return formats[format] ?? unread;
}

/** Whether anything is read of what passes in it. */
export function isReadFormat(format: WireFormat): boolean {
  return formats[format] !== undefined;
}

function readChoices(body: JsonObject): ReplyFacts | undefined {
  const choices = arrayOf(body.choices);
  if (choices === undefined) return undefined;
  return compact<ReplyFacts>({
    id: stringOf(body.id),
    model: stringOf(body.model),
    finishReason: stringOf(objectOf(choices[0])?.finish_reason),
    usage: usageOf(saidIn(body.usage)),
    ...readChatBill(body),
  });
}

function readResponse(body: JsonObject): ReplyFacts | undefined {
  const usage = saidIn(body.usage);
  const isResponse = arrayOf(body.output) !== undefined;
  // Usage is read where it is told, whatever else the reply lacks.
  if (!isResponse && (usage === undefined || isErrorReply(body))) return undefined;
  return compact<ReplyFacts>({
    id: stringOf(body.id),
    model: stringOf(body.model),
    finishReason: rawFinishOf(body),
    usage: responsesUsageOf(usage),
    ...readResponseBill(body),
  });
}

/** Pictures of Imagen; of those that its filter kept there is a reason alone. */
function readPredictions(body: JsonObject): ReplyFacts | undefined {
  const predictions = arrayOf(body.predictions);
  if (predictions === undefined) return undefined;
  const images = predictions.filter((value) => objectOf(value)?.bytesBase64Encoded !== undefined);
  return { units: { images: images.length } };
}

/** Charged by the request, whatever was found; it has no model, and its price is listed under its name. */
function readSearch(body: JsonObject): ReplyFacts | undefined {
  if (arrayOf(body.results) === undefined) return undefined;
  return compact<ReplyFacts>({ id: stringOf(body.id), model: 'search', units: { searchUnits: 1 } });
}

function readEmbeddings(body: JsonObject): ReplyFacts | undefined {
  if (arrayOf(body.data) === undefined) return undefined;
  return compact<ReplyFacts>({
    model: stringOf(body.model),
    usage: inputUsageOf(saidIn(body.usage)),
  });
}

function readModerations(body: JsonObject): ReplyFacts | undefined {
  if (arrayOf(body.results) === undefined) return undefined;
  return compact<ReplyFacts>({
    id: stringOf(body.id),
    model: stringOf(body.model),
    usage: inputUsageOf(saidIn(body.usage)),
  });
}

function readMessage(body: JsonObject): ReplyFacts | undefined {
  if (arrayOf(body.content) === undefined) return undefined;
  const usage = saidIn(body.usage);
  return compact<ReplyFacts>({
    id: stringOf(body.id),
    model: stringOf(body.model),
    finishReason: stringOf(body.stop_reason),
    usage: anthropicUsageOf(usage),
    ...readMessageBill(usage ?? {}),
  });
}

/** Callers may name version and betas in the body, where the provider itself refuses them. */
function liftAnthropicHeaders(
  body: JsonObject,
): { body: JsonObject; headers: Record<string, string> } | undefined {
  if (body.anthropic_beta === undefined && body.anthropic_version === undefined) return undefined;
  const { anthropic_beta, anthropic_version, ...rest } = body;
  const betas = betasOf({ anthropic_beta: anthropic_beta ?? [] });
  const version = stringOf(anthropic_version);
  return {
    body: rest,
    headers: {
      ...(betas.length === 0 ? {} : { 'anthropic-beta': betas.join(',') }),
      ...(version === undefined ? {} : { 'anthropic-version': version }),
    },
  };
}
