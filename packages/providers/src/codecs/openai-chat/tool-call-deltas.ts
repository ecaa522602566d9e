import type { ChatStreamEvent, JsonObject, JsonValue } from '@sluice/contracts';
import { arrayOf, numberOf, objectOf, stringOf } from '../../json/json-access.ts';

interface OpenCall {
  call: number;
  id: string | undefined;
}

/**
 * Numbers the tool calls of one answer. OpenAI gives each an `index`; some
 * providers leave it out, begin again at 0 with every call, or repeat id and
 * name in every fragment. A new id is what makes a new call.
 */
export class ToolCallDeltas {
  #next = 0;
  #byIndex = new Map<number, OpenCall>();
  #byId = new Map<string, OpenCall>();
  #last: OpenCall | undefined;

  decode(list: JsonValue | undefined, choice: number, out: ChatStreamEvent[]): void {
    for (const item of arrayOf(list) ?? []) this.#item(objectOf(item) ?? {}, choice, out);
  }

  #item(value: JsonObject, choice: number, out: ChatStreamEvent[]): void {
    const fn = objectOf(value.function);
    const id = stringOf(value.id) || undefined;
    const name = stringOf(fn?.name) || undefined;
    const index = numberOf(value.index);
    let open = this.#find(id, name, index);
    if (open === undefined) {
      if (id === undefined && name === undefined) return;
      open = { call: this.#next++, id };
      if (index !== undefined) this.#byIndex.set(index, open);
      if (id !== undefined) this.#byId.set(id, open);
      const { call } = open;
      const start = { choice, block: call + 1, call, id: id ?? '', name: name ?? '' };
      out.push({ type: 'tool-call-start', ...start });
    }
    this.#last = open;
    const { call } = open;
    const piece = argumentsOf(fn);
    if (piece)
      out.push({ type: 'tool-call-delta', choice, block: call + 1, call, arguments: piece });
  }

  /** The call a fragment belongs to; undefined = a new one. */
  #find(
    id: string | undefined,
    name: string | undefined,
    index: number | undefined,
  ): OpenCall | undefined {
    const known = id === undefined ? undefined : this.#byId.get(id);
    if (known !== undefined) return known;
    if (index === undefined) return id === undefined && name === undefined ? this.#last : undefined;
    const open = this.#byIndex.get(index);
    const another = id !== undefined && open?.id !== undefined && name !== undefined;
    return another ? undefined : open;
  }
}

/** Text, but an object from those who do not stream it in pieces. */
function argumentsOf(fn: JsonObject | undefined): string | undefined {
  const object = objectOf(fn?.arguments);
  return object === undefined ? stringOf(fn?.arguments) : JSON.stringify(object);
}
