import type { JsonObject } from '@sluice/contracts';
import { addBill } from '../../bills/add-bill.ts';
import type { StreamFault } from '../../contract.ts';
import type { SseEvent } from '../../framing/sse.ts';
import type { StreamState, StreamTap } from '../../framing/stream-tap.ts';
import { arrayOf, numberOf, objectOf, saidIn, stringOf } from '../../json/json-access.ts';
import { readBill } from './bill.ts';
import { errorEvent, faultOf } from './errors.ts';
import { joinedUsage, usageOf } from './wire.ts';

/** Watches native streams of chat completions and of the older completions. */
export class OpenAiTap implements StreamTap {
  #choices: number;
  #finished = new Set<number>();
  /** Of its usage. */
  #told: JsonObject | undefined;

  constructor(request: JsonObject) {
    this.#choices = Math.max(1, numberOf(request.n) ?? 1);
  }

  read(body: JsonObject, _event: SseEvent, state: StreamState): void {
    const fault = faultOf(body);
    if (fault !== undefined) {
      state.fail(fault);
      return;
    }
    const { facts } = state;
    facts.id ??= stringOf(body.id) || undefined;
    facts.model ??= stringOf(body.model) || undefined;
    const told = saidIn(body.usage) ?? saidIn(objectOf(body.x_groq)?.usage);
    if (told !== undefined) {
      this.#told = joinedUsage(this.#told, told);
      const usage = usageOf(this.#told);
      if (usage !== undefined) state.tellUsage(usage);
    }
    addBill(facts, readBill(body));
    for (const value of arrayOf(body.choices) ?? []) {
      const choice = objectOf(value) ?? {};
      if (state.phase === 'preamble' && isContent(choice)) state.phase = 'content';
      const finish = stringOf(choice.finish_reason);
      if (!finish) continue;
      facts.finishReason ??= finish;
      this.#finished.add(numberOf(choice.index) ?? 0);
    }
  }

  readText(data: string, state: StreamState): boolean {
    if (data.trim() !== '[DONE]') return data.trim() === '';
    state.phase = 'complete';
    return true;
  }

  /** Some compatible providers close without [DONE]; every answer finished is as good. */
  atEnd(state: StreamState): void {
    if (state.phase === 'content' && this.#finished.size >= this.#choices) state.phase = 'complete';
  }

  errorEvent(fault: StreamFault & { code?: string }): Buffer {
    return errorEvent(fault);
  }
}

const content = [
  'content',
  'tool_calls',
  'reasoning_content',
  'reasoning',
  'reasoning_details',
  'refusal',
  'function_call',
  'audio',
];

function isContent(choice: JsonObject): boolean {
  if (stringOf(choice.finish_reason) || stringOf(choice.text)) return true;
  const delta = objectOf(choice.delta);
  if (delta === undefined) return false;
  return content.some((key) => {
    const value = delta[key];
    return Array.isArray(value) ? value.length > 0 : Boolean(value);
  });
}
