import type { ChatStreamEvent, JsonObject } from '@sluice/contracts';
import type { SseEvent } from '../../framing/sse.ts';
import { invalidStreamType } from '../../framing/stream-tap.ts';
import { arrayOf, numberOf, objectOf, parseObject, stringOf } from '../../json/json-access.ts';
import type { StreamDecoder } from '../chat-codec.ts';
import { cohereCalls, textOf } from './reply.ts';
import { callId, decodeFinishReason, usageOf } from './wire.ts';

/** What was seen of one answer. */
interface Seen {
  text: boolean;
  calls: string[];
}

/**
 * Events → stream events; each is a piece of one choice. Thinking is block 0 of
 * a choice, text 1, its call n block n + 2. The end may come without `[DONE]`.
 */
export class OciStreamDecoder implements StreamDecoder {
  #started = false;
  #ended = false;
  #choices = new Map<number, Seen>();
  #finished = new Set<number>();

  decode(event: SseEvent): ChatStreamEvent[] {
    if (event.data === '[DONE]') return this.#end();
    if (event.data.trim() === '') return [];
    const body = parseObject(event.data);
    if (body === undefined) return [invalid];
    const fault = faultOf(body);
    if (fault !== undefined) return [fault];
    const out: ChatStreamEvent[] = [];
    if (!this.#started) {
      this.#started = true;
      out.push({ type: 'reply-start', model: stringOf(body.modelId) });
    }
    const usage = usageOf(objectOf(body.usage));
    if (usage !== undefined) out.push({ type: 'usage', usage });
    if (body.apiFormat === 'COHERE') this.#cohere(body, out);
    else this.#generic(body, out);
    const raw = stringOf(body.finishReason);
    const choice = numberOf(body.index) ?? 0;
    if (raw === undefined || this.#finished.has(choice)) return out;
    this.#finished.add(choice);
    out.push({ type: 'finish', choice, reason: decodeFinishReason(raw), raw });
    return out;
  }

  end(): ChatStreamEvent[] {
    const choices = [...this.#choices.keys()];
    const whole = this.#finished.size > 0 && choices.every((choice) => this.#finished.has(choice));
    return whole ? this.#end() : [];
  }

  #end(): ChatStreamEvent[] {
    if (this.#ended) return [];
    this.#ended = true;
    return [{ type: 'reply-end' }];
  }

  #seen(choice: number): Seen {
    let seen = this.#choices.get(choice);
    if (seen === undefined) {
      seen = { text: false, calls: [] };
      this.#choices.set(choice, seen);
    }
    return seen;
  }

  #generic(body: JsonObject, out: ChatStreamEvent[]): void {
    const message = objectOf(body.message);
    if (message === undefined) return;
    const choice = numberOf(body.index) ?? 0;
    const seen = this.#seen(choice);
    const thinking = stringOf(message.reasoningContent);
    if (thinking) out.push({ type: 'thinking-delta', choice, block: 0, text: thinking });
    const text = textOf(message.content);
    if (text !== '') out.push({ type: 'text-delta', choice, block: 1, text });
    const refusal = stringOf(message.refusal);
    if (refusal) out.push({ type: 'refusal-delta', choice, text: refusal });
    for (const value of arrayOf(message.toolCalls) ?? [])
      this.#call(objectOf(value) ?? {}, choice, seen, out);
  }

  /** A fragment without a name of its own continues the call before it. */
  #call(value: JsonObject, choice: number, seen: Seen, out: ChatStreamEvent[]): void {
    const name = stringOf(value.name);
    const named = stringOf(value.id);
    const known = named ? seen.calls.indexOf(named) : -1;
    const args = stringOf(value.arguments);
    const isNew = known === -1 && Boolean(named || name || seen.calls.length === 0);
    if (isNew) {
      const call = seen.calls.length;
      const id = named || callId(name ?? '', args ?? '', call);
      seen.calls.push(id);
      const block = call + 2;
      out.push({ type: 'tool-call-start', choice, block, call, id, name: name ?? '' });
    }
    const call = known === -1 ? seen.calls.length - 1 : known;
    if (args) out.push({ type: 'tool-call-delta', choice, block: call + 2, call, arguments: args });
  }

  /** The last event repeats the whole answer: only what was not seen yet is told. */
  #cohere(body: JsonObject, out: ChatStreamEvent[]): void {
    const seen = this.#seen(0);
    const isLast = body.finishReason !== undefined;
    const text = stringOf(body.text);
    if (text && !(isLast && seen.text)) {
      seen.text = true;
      out.push({ type: 'text-delta', choice: 0, block: 1, text });
    }
    if (isLast && seen.calls.length > 0) return;
    for (const part of cohereCalls(body)) {
      const call = seen.calls.length;
      seen.calls.push(part.id);
      const at = { choice: 0, block: call + 2, call };
      out.push({ type: 'tool-call-start', ...at, id: part.id, name: part.name });
      out.push({ type: 'tool-call-delta', ...at, arguments: part.arguments });
    }
  }
}

/** `{code, message}` in place of a piece, or an error that Cohere's format names so. */
function faultOf(body: JsonObject): ChatStreamEvent | undefined {
  const message = stringOf(body.errorMessage) ?? stringOf(body.message);
  if (!message) return undefined;
  const status = numberOf(body.status) ?? Number(body.code);
  return {
    type: 'fault',
    kind: stringOf(body.code) ?? 'upstream_error',
    message,
    status: status >= 400 && status <= 599 ? status : 502,
  };
}

const invalid: ChatStreamEvent = {
  type: 'fault',
  kind: invalidStreamType,
  message: 'The provider sent an event that is not its format.',
  status: 502,
};
