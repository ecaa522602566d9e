import type { ChatStreamEvent, JsonObject, JsonValue } from '@sluice/contracts';
import { arrayOf, numberOf, objectOf, stringOf } from '../../json/json-access.ts';
import { customPieces } from '../custom-tools.ts';
import { madeUpCallId } from './made-up-call-id.ts';

interface OpenCall {
  call: number;
  id: string | undefined;
  name: string | undefined;
  /** What came before the call could be told. */
  held: string;
  isTold: boolean;
  isClosed: boolean;
  /** A custom tool's, whose text is told as the `input` of arguments. */
  isCustom: boolean;
}

/**
 * Numbers the tool calls of one answer. OpenAI gives each an `index`; some
 * providers leave it out, begin again at 0 with every call, repeat id and name
 * in every fragment, or tell the name after the id. A new id is what makes a
 * new call; it is told when its name is known.
 */
export class ToolCallDeltas {
  #next = 0;
  #calls: OpenCall[] = [];
  #byIndex = new Map<number, OpenCall>();
  #byId = new Map<string, OpenCall>();
  #last: OpenCall | undefined;

  decode(
    list: JsonValue | undefined,
    choice: number,
    replyId: string | undefined,
    out: ChatStreamEvent[],
  ): void {
    for (const item of arrayOf(list) ?? []) this.#item(objectOf(item) ?? {}, choice, replyId, out);
  }

  /** The answer is over: what was waited for does not come any more. */
  end(choice: number, replyId: string | undefined, out: ChatStreamEvent[]): void {
    for (const open of this.#calls) {
      if (!open.isTold) tell(open, choice, replyId, out);
      if (open.isCustom && !open.isClosed) out.push(delta(open, choice, customPieces.end));
      open.isClosed = true;
    }
  }

  #item(
    value: JsonObject,
    choice: number,
    replyId: string | undefined,
    out: ChatStreamEvent[],
  ): void {
    const custom = objectOf(value.custom);
    const fn = custom ?? objectOf(value.function);
    const id = stringOf(value.id) || undefined;
    const name = stringOf(fn?.name) || undefined;
    const index = numberOf(value.index);
    const open = this.#find(id, name, index) ?? this.#open(id, name, custom !== undefined);
    if (open === undefined) return;
    if (index !== undefined) this.#byIndex.set(index, open);
    if (id !== undefined) this.#byId.set(id, open);
    open.id ??= id;
    open.name ??= name;
    this.#last = open;
    const piece =
      custom === undefined
        ? (argumentsOf(fn) ?? '')
        : customPieces.of(stringOf(custom.input) ?? '');
    if (!open.isTold) {
      open.held += piece;
      // Who has told of arguments without an id will tell of none.
      const isWhole = open.name !== undefined && (open.id !== undefined || open.held !== '');
      if (isWhole) tell(open, choice, replyId, out);
    } else if (piece !== '') out.push(delta(open, choice, piece));
  }

  #open(id: string | undefined, name: string | undefined, isCustom: boolean): OpenCall | undefined {
    if (id === undefined && name === undefined) return undefined;
    const held = isCustom ? customPieces.start : '';
    const told = { isTold: false, isClosed: false };
    const open = { call: this.#next++, id, name, held, isCustom, ...told };
    this.#calls.push(open);
    return open;
  }

  /** The call a fragment belongs to; undefined = a new one. */
  #find(
    id: string | undefined,
    name: string | undefined,
    index: number | undefined,
  ): OpenCall | undefined {
    const known = id === undefined ? undefined : this.#byId.get(id);
    if (known !== undefined) return known;
    if (index === undefined) {
      const goesOn = name === undefined || this.#last?.name === undefined;
      return id === undefined && goesOn ? this.#last : undefined;
    }
    const open = this.#byIndex.get(index);
    const another = id !== undefined && open?.id !== undefined && name !== undefined;
    return another ? undefined : open;
  }
}

function tell(
  open: OpenCall,
  choice: number,
  replyId: string | undefined,
  out: ChatStreamEvent[],
): void {
  const { call, name = '', held } = open;
  open.isTold = true;
  const id = open.id ?? madeUpCallId(replyId, call);
  out.push({ type: 'tool-call-start', choice, block: call + 1, call, id, name });
  if (held !== '') out.push(delta(open, choice, held));
}

function delta({ call }: OpenCall, choice: number, piece: string): ChatStreamEvent {
  return { type: 'tool-call-delta', choice, block: call + 1, call, arguments: piece };
}

/** Text, but an object from those who do not stream it in pieces. */
function argumentsOf(fn: JsonObject | undefined): string | undefined {
  const object = objectOf(fn?.arguments);
  return object === undefined ? stringOf(fn?.arguments) : JSON.stringify(object);
}
