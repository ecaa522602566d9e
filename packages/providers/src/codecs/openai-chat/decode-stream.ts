import type { ChatStreamEvent, JsonObject } from '@sluice/contracts';
import { faultEvent } from '../../errors/vendor-fault.ts';
import type { SseEvent } from '../../framing/sse.ts';
import { invalidStreamType } from '../../framing/stream-tap.ts';
import {
  arrayOf,
  numberOf,
  objectOf,
  parseObject,
  saidIn,
  stringOf,
} from '../../json/json-access.ts';
import type { StreamDecoder } from '../chat-codec.ts';
import { readBill } from './bill.ts';
import { readCitations } from './citations.ts';
import { faultOf } from './errors.ts';
import { readImages } from './images.ts';
import { plainThinking, readChunks, textOf } from './reasoning.ts';
import { DetailDeltas, detailsOf } from './reasoning-details.ts';
import { RepeatedChunk } from './repeated-chunk.ts';
import { ToolCallDeltas } from './tool-call-deltas.ts';
import { decodeFinishReason, joinedUsage, usageOf } from './wire.ts';

/** What was seen of one answer. */
interface OpenChoice {
  /** Undefined until there is one. */
  details?: DetailDeltas;
  calls: ToolCallDeltas;
  /** Addresses already told: Perplexity repeats its sources with every chunk. */
  cited: Set<string>;
  finished: boolean;
  /** The provider gave a reason, but an empty one. */
  blank: boolean;
}

/** Chunks → stream events. Text is block 0 of a choice, its tool call n is block n + 1. */
export class OpenAiChatStreamDecoder implements StreamDecoder {
  #started = false;
  #ended = false;
  #choices = new Map<number, OpenChoice>();
  #repeated = new RepeatedChunk();
  /** Of its usage. */
  #told: JsonObject | undefined;

  decode(event: SseEvent): ChatStreamEvent[] {
    const said = this.#repeated.textOf(event.data);
    if (said !== undefined) return [{ type: 'text-delta', choice: 0, block: 0, text: said }];
    const data = event.data.trim();
    if (data === '[DONE]') return this.#end();
    if (data === '') return [];
    const body = parseObject(event.data);
    if (body === undefined) return [invalid];
    const fault = faultOf(body);
    if (fault !== undefined) return [faultEvent(fault)];
    const out: ChatStreamEvent[] = [];
    // Azure begins with verdicts on the prompt, in a chunk that names neither reply nor model.
    const isFirst = !this.#started && body.id !== '';
    if (isFirst) {
      this.#started = true;
      out.push({
        type: 'reply-start',
        id: stringOf(body.id),
        model: stringOf(body.model),
        createdSeconds: numberOf(body.created),
        serviceTier: stringOf(body.service_tier),
      });
    }
    for (const choice of arrayOf(body.choices) ?? [])
      this.#choice(body, objectOf(choice) ?? {}, out);
    const told = saidIn(body.usage) ?? saidIn(objectOf(body.x_groq)?.usage);
    if (told !== undefined) {
      this.#told = joinedUsage(this.#told, told);
      const usage = usageOf(this.#told);
      if (usage !== undefined) out.push({ type: 'usage', usage });
    }
    // The tier is told with every chunk.
    if (isFirst || told !== undefined) out.push({ type: 'bill', bill: readBill(body) });
    this.#learn(event.data, out);
    return out;
  }

  /** Of a chunk that says a text and no more, while nothing is open that a text would end. */
  #learn(data: string, [event, ...others]: ChatStreamEvent[]): void {
    const isText = event?.type === 'text-delta' && others.length === 0;
    const isBare = isText && event.choice === 0 && event.logprobs === undefined;
    if (isBare && this.#choices.get(0)?.details === undefined)
      this.#repeated.learn(data, event.text);
    else this.#repeated.forget();
  }

  end(): ChatStreamEvent[] {
    // Some compatible providers close without [DONE]; every answer finished is as good.
    const choices = [...this.#choices.values()];
    const whole = choices.length > 0 && choices.every((choice) => choice.finished);
    return whole ? this.#end() : [];
  }

  #end(): ChatStreamEvent[] {
    if (this.#ended) return [];
    this.#ended = true;
    const out: ChatStreamEvent[] = [];
    for (const [choice, open] of this.#choices)
      if (open.blank && !open.finished) out.push({ type: 'finish', choice, reason: 'other' });
    out.push({ type: 'reply-end' });
    return out;
  }

  #open(choice: number): OpenChoice {
    let open = this.#choices.get(choice);
    if (open === undefined) {
      open = { calls: new ToolCallDeltas(), cited: new Set(), finished: false, blank: false };
      this.#choices.set(choice, open);
    }
    return open;
  }

  #choice(body: JsonObject, value: JsonObject, out: ChatStreamEvent[]): void {
    const choice = numberOf(value.index) ?? 0;
    const open = this.#open(choice);
    const delta = objectOf(value.delta) ?? {};
    thinkingEvents(delta, choice, open, out);
    const text = textOf(delta.content);
    if (text || delta.tool_calls != null || value.finish_reason != null)
      open.details?.end(choice, out);
    if (text) {
      const logprobs = objectOf(value.logprobs);
      out.push({ type: 'text-delta', choice, block: 0, text, ...(logprobs && { logprobs }) });
    }
    for (const citation of readCitations(body, delta)) {
      const url = String(citation.url);
      if (open.cited.has(url)) continue;
      open.cited.add(url);
      out.push({ type: 'citation', choice, block: 0, citation });
    }
    for (const { source } of readImages(delta))
      out.push({ type: 'image', choice, block: 0, source });
    const refusal = stringOf(delta.refusal);
    if (refusal) out.push({ type: 'refusal-delta', choice, text: refusal });
    const replyId = stringOf(body.id);
    open.calls.decode(delta.tool_calls, choice, replyId, out);
    const raw = stringOf(value.finish_reason);
    if (raw === undefined) return;
    open.calls.end(choice, replyId, out);
    if (raw === '') {
      open.blank = true;
      return;
    }
    open.finished = true;
    out.push({ type: 'finish', choice, reason: decodeFinishReason(raw), raw });
  }
}

function thinkingEvents(
  delta: JsonObject,
  choice: number,
  open: OpenChoice,
  out: ChatStreamEvent[],
): void {
  const before = out.length;
  for (const detail of detailsOf(delta)) {
    open.details ??= new DetailDeltas();
    open.details.decode(detail, choice, out);
  }
  // The details repeat the plain text, where they have one.
  const isTold =
    out.length > before && out.slice(before).some((event) => event.type === 'thinking-delta');
  const plain = isTold ? undefined : plainThinking(delta);
  if (plain) out.push({ type: 'thinking-delta', choice, block: 0, text: plain });
  for (const { text } of readChunks(delta.content))
    out.push({ type: 'thinking-delta', choice, block: 0, text });
}

const invalid: ChatStreamEvent = {
  type: 'fault',
  kind: invalidStreamType,
  message: 'The provider sent an event that is not its format.',
  status: 502,
};
