import type { JsonObject, JsonValue } from '@sluice/contracts';
import { isObject } from '@sluice/mcp';
import { functionName } from './offered-tools.ts';

/**
 * Messages as the model is told them: what it called and heard of our servers is a call of a function and its result, which
 * stands in the caller's next turn. Blocks of the vendor's own servers stay.
 */
export function readMessages(
  messages: readonly JsonValue[],
  labels: ReadonlySet<string>,
): JsonValue[] {
  const told: JsonValue[] = [];
  let open: JsonObject[] = [];
  for (const message of messages) {
    if (!isObject(message)) {
      told.push(message);
      continue;
    }
    if (open.length > 0 && message.role === 'user') {
      told.push({ ...message, content: [...open, ...blocksOf(message.content)] });
      open = [];
      continue;
    }
    if (open.length > 0) told.push({ role: 'user', content: open });
    open = [];
    if (message.role !== 'assistant' || !Array.isArray(message.content)) {
      told.push(message);
      continue;
    }
    const split = splitTurn(message, message.content, labels);
    told.push(...split.messages);
    open = split.results;
  }
  if (open.length > 0) told.push({ role: 'user', content: open });
  return told;
}

function blocksOf(content: JsonValue | undefined): JsonValue[] {
  if (Array.isArray(content)) return content;
  return typeof content === 'string' && content !== '' ? [{ type: 'text', text: content }] : [];
}

interface Split {
  readonly messages: JsonValue[];
  /** Of the last of them, for the message that follows. */
  readonly results: JsonObject[];
}

function splitTurn(
  message: JsonObject,
  content: readonly JsonValue[],
  labels: ReadonlySet<string>,
): Split {
  const ids = new Set(
    content.flatMap((block) =>
      isObject(block) && block.type === 'mcp_tool_use' && labels.has(String(block.server_name))
        ? [block.id]
        : [],
    ),
  );
  const isListing = (block: JsonValue) =>
    isObject(block) &&
    block.type === 'mcp_tool_listing' &&
    labels.has(String(block.mcp_server_name));
  if (ids.size === 0 && !content.some(isListing)) return { messages: [message], results: [] };
  const messages: JsonValue[] = [];
  let said: JsonValue[] = [];
  let called: string[] = [];
  let results: JsonObject[] = [];
  const turn = () => {
    const known = new Set(results.map(({ tool_use_id }) => tool_use_id));
    for (const id of called)
      if (!known.has(id))
        results.push({
          type: 'tool_result',
          tool_use_id: id,
          content: 'The call was not made.',
          is_error: true,
        });
    // As the model was told them, whichever was over first.
    const order = new Map(called.map((id, index) => [id, index]));
    const placeOf = ({ tool_use_id: id }: JsonObject) => order.get(String(id)) ?? -1;
    results.sort((one, other) => placeOf(one) - placeOf(other));
    if (said.length > 0) messages.push({ ...message, content: said });
    said = [];
    called = [];
  };
  for (const block of content) {
    if (isListing(block)) continue;
    if (
      isObject(block) &&
      block.type === 'mcp_tool_result' &&
      ids.has(block.tool_use_id as string)
    ) {
      results.push(resultOf(block));
      continue;
    }
    if (results.length > 0) {
      turn();
      messages.push({ role: 'user', content: results });
      results = [];
    }
    if (isObject(block) && block.type === 'mcp_tool_use' && ids.has(block.id as string)) {
      const { server_name: label, name, input } = block;
      const id = modelsId(String(block.id));
      called.push(id);
      said.push({
        type: 'tool_use',
        id,
        name: functionName(String(label), String(name)),
        input: isObject(input) ? input : {},
        ...cacheMark(block),
      });
    } else said.push(block);
  }
  turn();
  return { messages, results };
}

function resultOf(block: JsonObject): JsonObject {
  const { content, is_error: isError } = block;
  return {
    type: 'tool_result',
    tool_use_id: modelsId(String(block.tool_use_id)),
    content: Array.isArray(content) ? content.map(plainText) : (content ?? ''),
    ...(isError === true && { is_error: true }),
    ...cacheMark(block),
  };
}

function plainText(block: JsonValue): JsonValue {
  if (!isObject(block) || block.citations !== null) return block;
  const { citations, ...rest } = block;
  return rest;
}

function cacheMark({ cache_control: mark }: JsonObject): JsonObject {
  return mark == null ? {} : { cache_control: mark };
}

/** What callers know a call by tells what the model knows it by, so that a history is the same in each request. */
export function shownId(id: string): string {
  const rest = /^toolu_[\w-]+$/.test(id) ? id : `toolu_x_${id.replace(/[^\w-]+/g, '_')}`;
  return `mcp${rest}`;
}

function modelsId(shown: string): string {
  const id = shown.replace(/^mcp(?=toolu_)/, '');
  return id.replace(/^toolu_x_/, '');
}
