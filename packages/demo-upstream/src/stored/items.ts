import { invalidType, optionalNumber } from '../openai-vendor.ts';
import { type JsonObject, VendorFault } from '../protocol.ts';

/** What was said or called, as it can be listed. */
export type Item = JsonObject & { readonly id: string };

const prefixes: Readonly<Record<string, string>> = {
  message: 'msg',
  function_call: 'fc',
  function_call_output: 'fco',
  reasoning: 'rs',
};

/** Each with an id, and with the type and the parts of content that callers may leave out. */
export function listedItems(sent: readonly JsonObject[], madeOf: string): Item[] {
  return sent.map((item, index) => {
    const { id, type = 'message', content, ...rest } = item;
    const prefix = prefixes[String(type)] ?? 'item';
    return {
      id: typeof id === 'string' && id !== '' ? id : `${prefix}_demo${madeOf}i${index}`,
      type,
      ...(type === 'message' ? { status: 'completed' } : {}),
      ...(content === undefined ? {} : { content: partsOf(content, rest.role) }),
      ...rest,
    };
  });
}

function partsOf(content: unknown, role: unknown): unknown {
  if (typeof content !== 'string') return content;
  return role === 'assistant'
    ? [{ type: 'output_text', text: content, annotations: [], logprobs: [] }]
    : [{ type: 'input_text', text: content }];
}

/** Every call has its result, and every result its call. @throws VendorFault */
export function checkCalls(items: readonly JsonObject[]): void {
  const open = new Set<unknown>();
  const told = new Set<unknown>();
  for (const { type, call_id } of items) {
    if (type === 'function_call') open.add(call_id);
    if (type !== 'function_call_output') continue;
    if (!open.delete(call_id) && !told.has(call_id))
      throw new VendorFault(
        400,
        `No tool call found for function call output with call_id ${String(call_id)}.`,
        { param: 'input' },
      );
    told.add(call_id);
  }
  const [unanswered] = open;
  if (unanswered !== undefined)
    throw new VendorFault(400, `No tool output found for function call ${String(unanswered)}.`, {
      param: 'input',
    });
}

/** A part of a list in the order in which things were said; the newest come first unless it is asked otherwise. @throws VendorFault */
export function itemPage(items: readonly Item[], query: URLSearchParams): JsonObject {
  const limit = numberIn(query, 'limit', 1, 100) ?? 20;
  const order = query.get('order') ?? 'desc';
  if (order !== 'asc' && order !== 'desc')
    throw new VendorFault(
      400,
      `Invalid value: '${order}'. Supported values are: 'asc' and 'desc'.`,
      {
        param: 'order',
        code: 'invalid_value',
      },
    );
  const sorted = order === 'asc' ? items : items.toReversed();
  const after = query.get('after');
  const from = after === null ? 0 : sorted.findIndex(({ id }) => id === after) + 1;
  if (after !== null && from === 0)
    throw new VendorFault(400, `No item with id '${after}' found.`, { param: 'after' });
  return listOf(sorted.slice(from, from + limit), sorted.length > from + limit);
}

/** A whole number of a query, in its range. @throws VendorFault */
export function numberIn(
  query: URLSearchParams,
  name: string,
  min: number,
  max?: number,
): number | undefined {
  const asked = query.get(name);
  if (asked === null) return undefined;
  if (!/^-?\d+$/.test(asked)) throw invalidType(name, 'an integer', asked);
  return optionalNumber(Number(asked), name, min, max);
}

export function listOf(data: readonly Item[], has_more: boolean): JsonObject {
  const [first] = data;
  return {
    object: 'list',
    data,
    first_id: first?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more,
  };
}
