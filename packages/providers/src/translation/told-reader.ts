import { type ChatUsage, type JsonObject, noUsage } from '@sluice/contracts';
import { laterUsage } from '../bills/later-usage.ts';
import { servedTierOf } from '../bills/served-tier.ts';
import { usageOf as anthropicUsageOf } from '../codecs/anthropic-messages/wire.ts';
import { readBill as readCohereBill } from '../codecs/cohere-chat/bill.ts';
import { usageOf as cohereUsageOf } from '../codecs/cohere-chat/wire.ts';
import { usageOf as geminiUsageOf } from '../codecs/gemini/wire.ts';
import { usageOf as chatUsageOf } from '../codecs/openai-chat/wire.ts';
import { usageOf as responsesUsageOf } from '../codecs/openai-responses/wire.ts';
import type {
  CallContext,
  DecodedReply,
  EncodedRequest,
  EndpointEntry,
  ReplyFacts,
  StreamReader,
  Translation,
  WireFormat,
} from '../contract.ts';
import { inputTokensOf, inputUsage } from '../dialects/token-usage.ts';
import { parseSseEvents, SseFramer } from '../framing/sse.ts';
import {
  compact,
  countOf,
  objectOf,
  parseObject,
  saidIn,
  stringOf,
  tellsAny,
} from '../json/json-access.ts';
import { RawStreamReader } from './raw-stream.ts';

/**
 * Reads what replies of nobody knows which format tell of usage, in the words of
 * the vendors' usual formats: endpoints that a vendor has since yesterday, as
 * OpenAI's decisions. What they do not tell was not used.
 */
export class ToldReader implements Translation {
  readonly mode = 'native';
  readonly isToldAlone = true;
  readonly entry: EndpointEntry = { format: 'any/usage', path: '' };
  readonly upstreamFormat: WireFormat = this.entry.format;
  readonly callerFormat: WireFormat = this.entry.format;

  encode(): EncodedRequest {
    return { body: undefined, dropped: [] };
  }

  decode(bytes: Buffer): DecodedReply {
    return { body: undefined, facts: factsIn(parseObject(bytes)) ?? {} };
  }

  skim(members: Record<string, unknown> | undefined): ReplyFacts | undefined {
    return factsIn(members as JsonObject | undefined);
  }

  decodeError(): DecodedReply {
    return { body: undefined, facts: {} };
  }

  openStream(_context: CallContext): StreamReader {
    return new ToldStreamReader();
  }
}

/** The last that is told counts, whatever the events are. */
class ToldStreamReader extends RawStreamReader {
  readonly #framer = new SseFramer({ shortens: true });

  override push(chunk: Buffer): Buffer {
    this.#read(this.#framer.push(chunk));
    return super.push(chunk);
  }

  override end(): Buffer {
    this.#read(this.#framer.end());
    return super.end();
  }

  #read(bytes: Buffer | undefined): void {
    if (bytes === undefined || !bytes.includes('sage')) return;
    for (const { data } of parseSseEvents(bytes)) {
      const body = parseObject(data);
      const told = factsIn(body) ?? factsWithin(body);
      if (told?.usage === undefined) continue;
      const usage = laterUsage(this.facts.usage, told.usage);
      Object.assign(this.facts, told, { usage });
    }
  }
}

function factsIn(body: JsonObject | undefined): ReplyFacts | undefined {
  const usage = body && usageIn(body);
  if (usage === undefined) return undefined;
  const meta = saidIn(body?.meta);
  return compact<ReplyFacts>({
    ...(meta === undefined ? {} : readCohereBill({ usage: meta })),
    id: stringOf(body?.id),
    model: stringOf(body?.model),
    usage,
    servedTier: servedTierOf(body?.service_tier),
  });
}

/** Of what an event is about: a response, an interaction, a message. */
function factsWithin(body: JsonObject | undefined): ReplyFacts | undefined {
  for (const member of Object.values(body ?? {})) {
    const told = factsIn(objectOf(member));
    if (told !== undefined) return told;
  }
  return undefined;
}

const anthropics = ['cache_read_input_tokens', 'cache_creation_input_tokens', 'cache_creation'];

function usageIn({ usage, usageMetadata, meta }: JsonObject): ChatUsage | undefined {
  const told = saidIn(usage);
  // Cohere's, of its first version.
  if (told === undefined)
    return geminiUsageOf(saidIn(usageMetadata)) ?? cohereUsageOf(saidIn(meta));
  if (tellsAny(told, anthropics)) return anthropicUsageOf(told);
  return (
    responsesUsageOf(told) ?? chatUsageOf(told) ?? interactionUsageOf(told) ?? totalAlone(told)
  );
}

/** As what takes texts in and makes none tells it: Voyage's contextualised embeddings, Jina's classification. */
function totalAlone(told: JsonObject): ChatUsage | undefined {
  const tokens = inputTokensOf(told);
  return tokens === undefined ? undefined : inputUsage(tokens);
}

/** Of Google's Interactions, whose total has thoughts in it, wherever else they are counted. */
function interactionUsageOf(told: JsonObject): ChatUsage | undefined {
  if (!tellsAny(told, interactionCounts)) return undefined;
  const [input = 0, tools = 0, output = 0, thoughts = 0] = interactionCounts.map((name) =>
    countOf(told[name]),
  );
  const all = countOf(told.total_tokens) - input - tools;
  return {
    ...noUsage,
    inputTokens: input + tools,
    outputTokens: all > 0 ? Math.max(all, output) : output + thoughts,
    cacheReadTokens: countOf(told.total_cached_tokens),
    reasoningTokens: thoughts,
  };
}

const interactionCounts = [
  'total_input_tokens',
  'total_tool_use_tokens',
  'total_output_tokens',
  'total_thought_tokens',
] as const;
