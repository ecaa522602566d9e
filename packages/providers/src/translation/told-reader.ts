import { type ChatUsage, type JsonObject, noUsage } from '@sluice/contracts';
import { laterUsage } from '../bills/later-usage.ts';
import { servedTierOf } from '../bills/served-tier.ts';
import { usageOf as anthropicUsageOf } from '../codecs/anthropic-messages/wire.ts';
import { readBill as readCohereBill } from '../codecs/cohere-chat/bill.ts';
import { usageOf as cohereUsageOf } from '../codecs/cohere-chat/wire.ts';
import { interactionUnits, interactionUsageOf } from '../codecs/gemini/interactions.ts';
import { usageOf as geminiUsageOf } from '../codecs/gemini/wire.ts';
import { connectorUnits } from '../codecs/openai-chat/bill.ts';
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
import { ListUnframer } from '../framing/listed-events.ts';
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
  /** Lines of JSON, as Ollama and the first version of Cohere's chat stream them, are read as a list of events. */
  #lines: ListUnframer | undefined;
  #hasBegun = false;

  override push(chunk: Buffer): Buffer {
    if (!this.#hasBegun && chunk.length > 0) {
      this.#hasBegun = true;
      if (beginsObject(chunk)) this.#lines = new ListUnframer();
      this.#lines?.push(listBegin);
    }
    this.#read(this.#framer.push(this.#lines?.push(chunk) ?? chunk));
    return super.push(chunk);
  }

  override end(): Buffer {
    this.#read(this.#framer.end());
    return super.end();
  }

  #read(bytes: Buffer | undefined): void {
    if (bytes === undefined || !tellings.some((word) => bytes.includes(word))) return;
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
  const told = saidIn(body?.usage) ?? {};
  const model = stringOf(body?.model);
  return compact<ReplyFacts>({
    ...(meta === undefined ? {} : readCohereBill({ usage: meta })),
    id: stringOf(body?.id),
    model,
    usage,
    units: interactionUnits(told, model) ?? connectorUnits(told),
    servedTier: servedTierOf(body?.service_tier),
  });
}

/** In the name of every member that usage is told under: `usage`, `usageMetadata`, `billed_units`, `eval_count`. */
const tellings = ['sage', 'billed_units', 'eval_count'];

const listBegin = Buffer.from('[');

function beginsObject(chunk: Buffer): boolean {
  return /^\s*\{/.test(chunk.toString('latin1', 0, 64));
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

function usageIn(body: JsonObject): ChatUsage | undefined {
  const told = saidIn(body.usage);
  // Cohere's, of its first version.
  if (told === undefined)
    return (
      geminiUsageOf(saidIn(body.usageMetadata)) ??
      cohereUsageOf(saidIn(body.meta)) ??
      ollamaUsageOf(body)
    );
  if (tellsAny(told, anthropics)) return anthropicUsageOf(told);
  return (
    responsesUsageOf(told) ?? chatUsageOf(told) ?? interactionUsageOf(told) ?? totalAlone(told)
  );
}

/** https://github.com/ollama/ollama/blob/main/docs/api.md */
function ollamaUsageOf({ prompt_eval_count, eval_count }: JsonObject): ChatUsage | undefined {
  if ((prompt_eval_count ?? eval_count ?? null) === null) return undefined;
  return {
    ...noUsage,
    inputTokens: countOf(prompt_eval_count),
    outputTokens: countOf(eval_count),
  };
}

/** As what takes texts in and makes none tells it: Voyage's contextualised embeddings, Jina's classification. */
function totalAlone(told: JsonObject): ChatUsage | undefined {
  const tokens = inputTokensOf(told);
  return tokens === undefined ? undefined : inputUsage(tokens);
}
