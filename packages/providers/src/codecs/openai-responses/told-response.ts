import type { JsonObject } from '@sluice/contracts';
import { numberOf, objectOf, stringOf } from '../../json/json-access.ts';
import type { ToldPart } from './open-message.ts';
import type { ResponseHead } from './response-object.ts';

/** An item as far as it was told. */
interface ToldItem {
  item: JsonObject;
  isDone: boolean;
  /** Of a message. */
  parts: ToldPart[];
  /** Of a thought, or of the arguments of a call. */
  text: string;
}

/** What the events of a response have told, so that another can go on with it. */
export class ToldResponse {
  head: ResponseHead | undefined;
  readonly items: ToldItem[] = [];
  nextSequence = 0;

  read(body: JsonObject): void {
    const sequence = numberOf(body.sequence_number);
    if (sequence !== undefined) this.nextSequence = Math.max(this.nextSequence, sequence + 1);
    const index = numberOf(body.output_index) ?? 0;
    switch (body.type) {
      case 'response.created':
        this.head = headIn(objectOf(body.response) ?? {});
        break;
      case 'response.output_item.added':
        this.items[index] = { item: objectOf(body.item) ?? {}, isDone: false, parts: [], text: '' };
        break;
      case 'response.output_item.done':
        this.items[index] = { item: objectOf(body.item) ?? {}, isDone: true, parts: [], text: '' };
        break;
      default:
        this.#readPiece(this.items[index], body);
    }
  }

  #readPiece(item: ToldItem | undefined, body: JsonObject): void {
    if (item === undefined) return;
    const delta = stringOf(body.delta) ?? '';
    const part = item.parts[item.parts.length - 1];
    switch (body.type) {
      case 'response.content_part.added': {
        const type = objectOf(body.part)?.type === 'refusal' ? 'refusal' : 'output_text';
        item.parts.push({ type, text: '', isDone: false });
        break;
      }
      case 'response.output_text.delta':
      case 'response.refusal.delta':
        if (part !== undefined) part.text += delta;
        break;
      case 'response.output_text.done':
      case 'response.content_part.done':
        if (part !== undefined) part.isDone = true;
        break;
      case 'response.reasoning_summary_text.delta':
      case 'response.function_call_arguments.delta':
        item.text += delta;
        break;
    }
  }
}

function headIn(response: JsonObject): ResponseHead {
  return {
    id: stringOf(response.id) ?? '',
    model: stringOf(response.model) ?? '',
    createdSeconds: numberOf(response.created_at) ?? 0,
    serviceTier: stringOf(response.service_tier),
  };
}
