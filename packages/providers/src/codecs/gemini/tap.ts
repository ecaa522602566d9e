import type { JsonObject } from '@sluice/contracts';
import { addBill } from '../../bills/add-bill.ts';
import { laterUsage } from '../../bills/later-usage.ts';
import type { ReplyFacts, StreamFault } from '../../contract.ts';
import type { SseEvent } from '../../framing/sse.ts';
import type { StreamState, StreamTap } from '../../framing/stream-tap.ts';
import { arrayOf, compact, objectOf, stringOf } from '../../json/json-access.ts';
import { readBill } from './bill.ts';
import { errorEvent, faultOf } from './errors.ts';
import { blockedChoice } from './reply.ts';
import { usageOf } from './wire.ts';

/** Facts of a whole reply; undefined when the body is not one. */
export function readReply(body: JsonObject): ReplyFacts | undefined {
  const candidates = arrayOf(body.candidates);
  if (candidates === undefined && blockedChoice(body) === undefined) return undefined;
  return compact<ReplyFacts>({
    id: stringOf(body.responseId),
    model: stringOf(body.modelVersion),
    finishReason:
      stringOf(objectOf(candidates?.[0])?.finishReason) ?? blockedChoice(body)?.rawFinishReason,
    usage: usageOf(objectOf(body.usageMetadata)),
    ...readBill(body),
  });
}

/** Watches native streams. Counts come with every fragment, so every fragment is read. */
export class GeminiTap implements StreamTap {
  readonly readsAll = true;
  #isFinished = false;

  read(body: JsonObject, _event: SseEvent, state: StreamState): void {
    const fault = faultOf(body);
    if (fault !== undefined) {
      state.fail(fault);
      return;
    }
    const told = readReply(body);
    if (told?.usage !== undefined) told.usage = laterUsage(state.facts.usage, told.usage);
    addBill(state.facts, told ?? {});
    state.phase = 'content';
    const finished = (arrayOf(body.candidates) ?? []).some(
      (candidate) => stringOf(objectOf(candidate)?.finishReason) !== undefined,
    );
    if (finished || blockedChoice(body) !== undefined) this.#isFinished = true;
  }

  readText(data: string): boolean {
    return data.trim() === '';
  }

  /** The format has no terminal event: a finish reason makes the end an end. */
  atEnd(state: StreamState): void {
    if (this.#isFinished) state.phase = 'complete';
  }

  errorEvent(fault: StreamFault & { code?: string }): Buffer {
    return errorEvent(fault);
  }
}
