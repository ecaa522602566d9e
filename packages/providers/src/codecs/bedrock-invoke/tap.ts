import type { JsonObject } from '@sluice/contracts';
import type { StreamFault } from '../../contract.ts';
import type { SseEvent } from '../../framing/sse.ts';
import type { StreamState, StreamTap } from '../../framing/stream-tap.ts';
import { errorEvent, faultOf } from '../bedrock-converse/errors.ts';
import { exception } from '../bedrock-converse/wire.ts';
import { readMetrics } from './facts.ts';

/**
 * Watches streams of InvokeModel that pass, once their frames are server-sent
 * events. What a model writes is its own; what it counted is told alike of all.
 */
export class InvokeTap implements StreamTap {
  readonly readsAll = true;

  read(body: JsonObject, { name }: SseEvent, state: StreamState): void {
    if (name === exception) {
      state.fail(faultOf(body));
      return;
    }
    state.phase = 'content';
    const { usage } = readMetrics(body);
    if (usage !== undefined) state.tellUsage(usage);
  }

  readText(data: string): boolean {
    return data.trim() === '';
  }

  /** Which event is a model's last one, nobody knows. */
  atEnd(state: StreamState): void {
    state.phase = 'complete';
  }

  errorEvent(fault: StreamFault & { code?: string }): Buffer {
    return errorEvent(fault);
  }
}
