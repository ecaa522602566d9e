import type { JsonObject } from '@sluice/contracts';
import { numberOf, objectOf, stringOf } from '../../json/json-access.ts';
import type { ToldSummary } from './open-items.ts';
import type { ToldPart } from './open-message.ts';
import type { ResponseHead } from './response-object.ts';

/** An item as far as it was told. */
export class ToldItem {
  item: JsonObject;
  isDone: boolean;
  /** Of a message. */
  readonly parts: ToldPart[] = [];
  /** Of a thought. */
  readonly summaries: ToldSummary[] = [];
  /** Of a call. */
  arguments = '';
  areArgumentsDone = false;
  /** A thought that is told as it is, which we do not write. */
  #isPlainThought = false;

  constructor(item: JsonObject, isDone: boolean) {
    this.item = item;
    this.isDone = isDone;
  }

  /** Whether another can end it. */
  get canBeEnded(): boolean {
    const { type } = this.item;
    if (this.isDone || type === 'message' || type === 'function_call') return true;
    return type === 'reasoning' && !this.#isPlainThought;
  }

  read(body: JsonObject): void {
    const delta = stringOf(body.delta) ?? '';
    const part = this.parts[this.parts.length - 1];
    const summary = this.summaries[this.summaries.length - 1];
    switch (body.type) {
      case 'response.content_part.added': {
        const type = stringOf(objectOf(body.part)?.type);
        if (type === 'reasoning_text') this.#isPlainThought = true;
        const kind = type === 'refusal' ? 'refusal' : 'output_text';
        this.parts.push({ type: kind, text: '', isTextDone: false, isDone: false });
        break;
      }
      case 'response.output_text.delta':
      case 'response.refusal.delta':
        if (part !== undefined) part.text += delta;
        break;
      case 'response.output_text.done':
      case 'response.refusal.done':
        if (part !== undefined) part.isTextDone = true;
        break;
      case 'response.content_part.done':
        if (part !== undefined) part.isDone = true;
        break;
      case 'response.reasoning_summary_part.added':
        this.summaries.push({ text: '', isTextDone: false, isDone: false });
        break;
      case 'response.reasoning_summary_text.delta':
        if (summary !== undefined) summary.text += delta;
        break;
      case 'response.reasoning_summary_text.done':
        if (summary !== undefined) summary.isTextDone = true;
        break;
      case 'response.reasoning_summary_part.done':
        if (summary !== undefined) summary.isDone = true;
        break;
      case 'response.function_call_arguments.delta':
        this.arguments += delta;
        break;
      case 'response.function_call_arguments.done':
        this.areArgumentsDone = true;
    }
  }
}

/** What the events of a response have told, so that another can go on with it. */
export class ToldResponse {
  head: ResponseHead | undefined;
  readonly items: ToldItem[] = [];
  /** An item was told that is not the next one: nobody can say what lies between. */
  hasGaps = false;
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
      case 'response.output_item.done': {
        const isDone = body.type === 'response.output_item.done';
        if (this.items[index] === undefined && index !== this.items.length) this.hasGaps = true;
        else this.items[index] = new ToldItem(objectOf(body.item) ?? {}, isDone);
        break;
      }
      default:
        this.items[index]?.read(body);
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
