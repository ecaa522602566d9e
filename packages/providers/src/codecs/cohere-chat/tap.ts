import type { JsonObject } from '@sluice/contracts';
import { addBill } from '../../bills/add-bill.ts';
import type { ReplyFacts, StreamFault } from '../../contract.ts';
import type { SseEvent } from '../../framing/sse.ts';
import type { StreamState, StreamTap } from '../../framing/stream-tap.ts';
import { compact, objectOf, stringOf } from '../../json/json-access.ts';
import { readBill } from './bill.ts';
import { errorEvent } from './errors.ts';
import { usageOf } from './wire.ts';

/** Facts of a whole reply; undefined when the body is not one. */
export function readReply(body: JsonObject): ReplyFacts | undefined {
  if (objectOf(body.message) === undefined) return undefined;
  return compact<ReplyFacts>({
    id: stringOf(body.id),
    finishReason: stringOf(body.finish_reason),
    usage: usageOf(objectOf(body.usage)),
    ...readBill(body),
  });
}

/** Watches streams of Cohere's own path that pass: all that counts is told at their end. */
export class CohereTap implements StreamTap {
  readonly saying = '-delta';

  read(body: JsonObject, { name }: SseEvent, state: StreamState): void {
    const type = stringOf(body.type) ?? name;
    const message = stringOf(body.message);
    if (type === 'message-start') {
      const id = stringOf(body.id);
      if (id !== undefined) state.facts.id = id;
    } else if (type === 'message-end') this.#end(objectOf(body.delta) ?? {}, state);
    else if (type === '' && message !== undefined)
      state.fail({ type: 'upstream_error', message, status: 502 });
    else state.phase = 'content';
  }

  #end(delta: JsonObject, state: StreamState): void {
    const usage = usageOf(objectOf(delta.usage));
    if (usage !== undefined) state.tellUsage(usage);
    addBill(state.facts, readBill(delta));
    const error = stringOf(delta.error);
    if (error) {
      state.fail({ type: 'upstream_error', message: error, status: 502 });
      return;
    }
    state.facts.finishReason = stringOf(delta.finish_reason) ?? '';
    state.phase = 'complete';
  }

  readText(data: string): boolean {
    return data.trim() === '' || data === '[DONE]';
  }

  /** A message that was not ended is cut. */
  atEnd(): void {}

  errorEvent(fault: StreamFault & { code?: string }): Buffer {
    return errorEvent(fault);
  }
}
