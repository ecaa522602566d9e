import type { JsonObject } from '@sluice/contracts';
import { addBill } from '../../bills/add-bill.ts';
import type { ToolUnit } from '../../bills/charged-tools.ts';
import type { ReplyFacts, StreamFault } from '../../contract.ts';
import type { SseEvent } from '../../framing/sse.ts';
import type { StreamState, StreamTap } from '../../framing/stream-tap.ts';
import { arrayOf, compact, objectOf, stringOf } from '../../json/json-access.ts';
import { readBill, unitOfBlock } from './bill.ts';
import { errorEvent, faultOf } from './errors.ts';
import { exception, usageOf } from './wire.ts';

/** Facts of a whole reply; undefined when the body is not one. */
export function readReply(body: JsonObject): ReplyFacts | undefined {
  if (arrayOf(objectOf(objectOf(body.output)?.message)?.content) === undefined) return undefined;
  return compact<ReplyFacts>({
    finishReason: stringOf(body.stopReason),
    usage: usageOf(objectOf(body.usage)),
    ...readBill(body),
  });
}

/** Watches streams of Converse that pass, once their frames are server-sent events: they have no markers. */
export class ConverseTap implements StreamTap {
  readonly readsAll = true;
  readonly saying = 'contentBlockDelta';
  #isStopped = false;

  read(body: JsonObject, { name }: SseEvent, state: StreamState): void {
    switch (name) {
      case 'contentBlockStart':
        state.phase = 'content';
        this.#note(unitOfBlock(objectOf(body.start) ?? {}), state);
        break;
      case 'contentBlockDelta':
      case 'contentBlockStop':
        state.phase = 'content';
        break;
      case 'messageStop':
        state.phase = 'content';
        state.facts.finishReason = stringOf(body.stopReason) ?? '';
        this.#isStopped = true;
        break;
      case 'metadata':
        this.#readMetadata(body, state);
        break;
      case exception:
        state.fail(faultOf(body));
    }
  }

  /** Usage does not count them. */
  #note(unit: ToolUnit | undefined, { facts }: StreamState): void {
    if (unit !== undefined)
      facts.units = { ...facts.units, [unit]: (facts.units?.[unit] ?? 0) + 1 };
  }

  #readMetadata(body: JsonObject, state: StreamState): void {
    const usage = usageOf(objectOf(body.usage));
    if (usage !== undefined) state.tellUsage(usage);
    addBill(state.facts, readBill(body));
    if (this.#isStopped) state.phase = 'complete';
  }

  readText(data: string): boolean {
    return data.trim() === '';
  }

  /** Stopped is whole, even where the usage did not come. */
  atEnd(state: StreamState): void {
    if (this.#isStopped) state.phase = 'complete';
  }

  errorEvent(fault: StreamFault & { code?: string }): Buffer {
    return errorEvent(fault);
  }
}
