import type { ChatStreamEvent, JsonObject } from '@sluice/contracts';
import type { StreamDecoder } from '../chat-codec.ts';
import { arrayOf, numberOf, objectOf, parseObject, stringOf } from '../json-access.ts';
import { INVALID_STREAM } from '../native-stream.ts';
import type { SseEvent } from '../sse.ts';
import { faultOf } from './errors.ts';
import { decodeFinishReason, decodeUsage } from './wire.ts';

/** Chunks → stream events. Text is block 0 of a choice, its tool call n is block n + 1. */
export class OpenAiChatStreamDecoder implements StreamDecoder {
  #started = false;
  #ended = false;
  #open = new Set<number>();
  #calls = new Set<string>();
  #finished = new Set<number>();

  decode(event: SseEvent): ChatStreamEvent[] {
    if (event.data === '[DONE]') return this.#end();
    if (event.data.trim() === '') return [];
    const body = parseObject(event.data);
    if (body === undefined) return [invalid];
    const fault = faultOf(body);
    if (fault !== undefined)
      return [{ type: 'fault', kind: fault.type, message: fault.message, status: fault.status }];
    const out: ChatStreamEvent[] = [];
    if (!this.#started) {
      this.#started = true;
      out.push({
        type: 'reply-start',
        id: stringOf(body.id),
        model: stringOf(body.model),
        createdSeconds: numberOf(body.created),
        serviceTier: stringOf(body.service_tier),
      });
    }
    for (const choice of arrayOf(body.choices) ?? []) this.#choice(objectOf(choice) ?? {}, out);
    const usage = objectOf(body.usage) ?? objectOf(objectOf(body.x_groq)?.usage);
    if (usage !== undefined) out.push({ type: 'usage', usage: decodeUsage(usage) });
    return out;
  }

  end(): ChatStreamEvent[] {
    // Some compatible providers close without [DONE]; every answer finished is as good.
    const whole = this.#finished.size > 0 && this.#open.size === 0;
    return whole ? this.#end() : [];
  }

  #end(): ChatStreamEvent[] {
    if (this.#ended) return [];
    this.#ended = true;
    return [{ type: 'reply-end' }];
  }

  #choice(value: JsonObject, out: ChatStreamEvent[]): void {
    const choice = numberOf(value.index) ?? 0;
    const delta = objectOf(value.delta) ?? {};
    if (!this.#finished.has(choice)) this.#open.add(choice);
    const thinking = stringOf(delta.reasoning_content) ?? stringOf(delta.reasoning);
    if (thinking) out.push({ type: 'thinking-delta', choice, block: 0, text: thinking });
    const text = stringOf(delta.content);
    if (text) {
      const logprobs = objectOf(value.logprobs);
      out.push({ type: 'text-delta', choice, block: 0, text, ...(logprobs && { logprobs }) });
    }
    const refusal = stringOf(delta.refusal);
    if (refusal) out.push({ type: 'refusal-delta', choice, text: refusal });
    for (const [position, item] of (arrayOf(delta.tool_calls) ?? []).entries()) {
      const call = objectOf(item) ?? {};
      const fn = objectOf(call.function);
      const index = numberOf(call.index) ?? position;
      const id = stringOf(call.id);
      const name = stringOf(fn?.name);
      // Some providers repeat id and name in every fragment.
      const key = `${choice}:${index}`;
      if ((id || name) && !this.#calls.has(key)) {
        this.#calls.add(key);
        out.push({
          type: 'tool-call-start',
          choice,
          block: index + 1,
          call: index,
          id: id ?? '',
          name: name ?? '',
        });
      }
      const piece = stringOf(fn?.arguments);
      if (piece)
        out.push({
          type: 'tool-call-delta',
          choice,
          block: index + 1,
          call: index,
          arguments: piece,
        });
    }
    const raw = stringOf(value.finish_reason);
    if (raw === undefined) return;
    this.#open.delete(choice);
    this.#finished.add(choice);
    out.push({ type: 'finish', choice, reason: decodeFinishReason(raw), raw });
  }
}

const invalid: ChatStreamEvent = {
  type: 'fault',
  kind: INVALID_STREAM,
  message: 'The provider sent an event that is not its format.',
  status: 502,
};
