import type { JsonObject } from '@sluice/contracts';
import { addBill } from '../../bills/add-bill.ts';
import type { ToolUnit } from '../../bills/charged-tools.ts';
import type { StreamFault } from '../../contract.ts';
import type { SseEvent } from '../../framing/sse.ts';
import { objectOf, stringOf } from '../../json/json-access.ts';
import {
  invalidStream,
  type StreamState,
  type StreamTap,
} from '../../translation/native-stream.ts';
import { readBill, searchUnitOf, unitOfItem } from './bill.ts';
import { errorEvent, faultOf } from './errors.ts';
import { rawFinishOf, usageOf } from './wire.ts';

/** Events that tell nothing of the answer yet. */
const preamble = new Set([
  'response.created',
  'response.queued',
  'response.in_progress',
  'keepalive',
  'ping',
]);

/** Watches native streams of responses. */
export class ResponsesTap implements StreamTap {
  /** The last event repeats the whole answer, which may hold pictures. */
  readonly eventBytesMax = 16 * 1024 * 1024;
  /** All others repeat it. */
  readonly saying = '.delta';
  /** What a search of the web is counted as. */
  #searches: ReturnType<typeof searchUnitOf> = 'webSearches';

  read(body: JsonObject, event: SseEvent, state: StreamState): void {
    const type = stringOf(body.type) ?? event.name;
    const response = objectOf(body.response);
    state.facts.id ??= stringOf(response?.id);
    state.facts.model ??= stringOf(response?.model);
    if (response !== undefined) {
      this.#searches = searchUnitOf(response.tools);
      addBill(state.facts, readBill(response));
    }
    switch (type) {
      case 'response.completed':
      case 'response.incomplete': {
        readUsage(response, state);
        state.facts.finishReason = rawFinishOf(response ?? {}) ?? type.slice('response.'.length);
        state.phase = 'complete';
        break;
      }
      case 'response.output_item.done':
        state.phase = 'content';
        state.see(this.#unitOf(objectOf(body.item) ?? {}));
        break;
      case 'response.failed':
        readUsage(response, state);
        state.fail(faultOf(body) ?? invalidStream('The provider reported an error.'));
        break;
      case 'error':
        state.fail(faultOf(body) ?? invalidStream('The provider reported an error.'));
        break;
      case '': {
        // No event of the format; some servers tell of errors as they do in other formats.
        const fault = faultOf(body);
        if (fault !== undefined) state.fail(fault);
        break;
      }
      default:
        if (!preamble.has(type)) state.phase = 'content';
    }
  }

  #unitOf(item: JsonObject): ToolUnit | undefined {
    const unit = unitOfItem(item);
    return unit === 'webSearches' ? this.#searches : unit;
  }

  /** Some compatible servers end with what ends a chat. */
  readText(data: string): boolean {
    return data.trim() === '' || data.trim() === '[DONE]';
  }

  /** A response that did not end is cut, whatever came before. */
  atEnd(): void {}

  errorEvent(fault: StreamFault & { code?: string }): Buffer {
    return errorEvent(fault);
  }
}

function readUsage(response: JsonObject | undefined, state: StreamState): void {
  const usage = usageOf(objectOf(response?.usage));
  if (usage !== undefined) state.tellUsage(usage);
}
