import type { JsonObject } from '@sluice/contracts';
import { addBill } from '../../bills/add-bill.ts';
import { unitOfResult } from '../../bills/charged-tools.ts';
import type { StreamFault } from '../../contract.ts';
import type { SseEvent } from '../../framing/sse.ts';
import type { StreamState, StreamTap } from '../../framing/stream-tap.ts';
import { objectOf, saidIn, stringOf } from '../../json/json-access.ts';
import { readBill } from './bill.ts';
import { errorEvent, faultOf } from './errors.ts';
import { mergeUsage, tellsOutput, usageOf } from './wire.ts';

/** Watches native streams of messages. */
export class AnthropicTap implements StreamTap {
  readonly saying = 'content_block_delta';
  #usage: JsonObject = {};

  read(body: JsonObject, _event: SseEvent, state: StreamState): void {
    const { facts } = state;
    switch (body.type) {
      case 'message_start': {
        const message = objectOf(body.message) ?? {};
        facts.id = stringOf(message.id);
        facts.model = stringOf(message.model);
        state.isHalfTold = true;
        this.#readUsage(saidIn(message.usage), state);
        break;
      }
      case 'content_block_start':
        state.phase = 'content';
        state.see(unitOfResult(objectOf(body.content_block) ?? {}));
        break;
      case 'content_block_delta':
        state.phase = 'content';
        break;
      case 'message_delta':
        state.phase = 'content';
        facts.finishReason = stringOf(objectOf(body.delta)?.stop_reason) ?? facts.finishReason;
        if (tellsOutput(body.usage)) state.isHalfTold = false;
        this.#readUsage(saidIn(body.usage), state);
        break;
      case 'message_stop':
        state.phase = 'complete';
        break;
      case 'error':
        state.fail(faultOf(body) as StreamFault);
        break;
    }
  }

  readText(data: string): boolean {
    return data.trim() === '';
  }

  /** A message that was not stopped is cut, whatever came before. */
  atEnd(): void {}

  errorEvent(fault: StreamFault & { code?: string }): Buffer {
    return errorEvent(fault);
  }

  #readUsage(usage: JsonObject | undefined, state: StreamState): void {
    if (usage === undefined) return;
    this.#usage = mergeUsage(this.#usage, usage);
    const told = usageOf(this.#usage);
    if (told !== undefined) state.tellUsage(told);
    addBill(state.facts, readBill(this.#usage));
  }
}
