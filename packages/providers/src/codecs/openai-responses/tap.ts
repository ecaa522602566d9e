import { type JsonObject, noUsage } from '@sluice/contracts';
import { addBill } from '../../bills/add-bill.ts';
import type { ToolUnit } from '../../bills/charged-tools.ts';
import { drawsTokens, tokensDrawn } from '../../bills/drawn-tokens.ts';
import type { StreamFault } from '../../contract.ts';
import type { SseEvent } from '../../framing/sse.ts';
import { invalidStream, type StreamState, type StreamTap } from '../../framing/stream-tap.ts';
import { arrayOf, objectOf, stringOf } from '../../json/json-access.ts';
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
  /** By its tools: who draws its pictures, and how they are asked for. */
  #drawing: JsonObject | undefined;
  /** Pictures of which any state was told, by the ids of their items. */
  readonly #drawn = new Set<string>();

  read(body: JsonObject, event: SseEvent, state: StreamState): void {
    const type = stringOf(body.type) ?? event.name;
    const response = objectOf(body.response);
    state.facts.id ??= stringOf(response?.id);
    state.facts.model ??= stringOf(response?.model);
    if (response !== undefined) {
      this.#searches = searchUnitOf(response.tools);
      this.#drawing = drawingTool(response) ?? this.#drawing;
      // It says itself what was drawn by now.
      if (this.#drawn.size > 0) state.facts.otherModels = undefined;
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
        this.#seeItem(objectOf(body.item) ?? {}, state);
        break;
      case 'response.image_generation_call.partial_image':
        state.phase = 'content';
        this.#seePicture(stringOf(body.item_id) ?? '', state);
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

  #seeItem(item: JsonObject, state: StreamState): void {
    if (item.type === pictureItem) this.#seePicture(stringOf(item.id) ?? '', state);
    else state.see(this.#unitOf(item));
  }

  /** A picture is charged once any state of it was told: where the stream is cut by then, as whoever draws it tells one of such a kind. */
  #seePicture(id: string, state: StreamState): void {
    if (this.#drawn.has(id) || this.#drawn.size >= picturesMax) return;
    this.#drawn.add(id);
    const model = stringOf(this.#drawing?.model);
    if (this.#drawing === undefined || model === undefined || !drawsTokens(model)) {
      state.see(unitOfItem({ type: pictureItem }));
      return;
    }
    const outputTokens = this.#drawn.size * tokensDrawn(this.#drawing);
    state.facts.otherModels = [{ model, tokens: { ...noUsage, outputTokens } }];
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

const pictureItem = 'image_generation_call';
/** More than a response draws. */
const picturesMax = 100;

function drawingTool({ tools }: JsonObject): JsonObject | undefined {
  for (const value of arrayOf(tools) ?? []) {
    const tool = objectOf(value);
    if (tool?.type === 'image_generation') return tool;
  }
  return undefined;
}

function readUsage(response: JsonObject | undefined, state: StreamState): void {
  const usage = usageOf(objectOf(response?.usage));
  if (usage !== undefined) state.tellUsage(usage);
}
