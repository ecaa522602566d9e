/**
 * What a Messages conversation changes on its way, and what is in force at its end: tools that come and go
 * (`tool_addition`, `tool_removal`), what a compaction replaced, system messages for one turn. Shapes of the vendor's
 * client 1.11. No other format has words for them.
 */
import type { JsonObject, JsonValue } from '@sluice/contracts';
import { arrayOf, objectOf, stringOf } from '../../json/json-access.ts';

export interface ToolInForce {
  tool: JsonValue;
  path: string;
}

/** The tools that the last turn has; undefined where the request speaks of none. */
export function toolsInForce(body: JsonObject, dropped: string[]): ToolInForce[] | undefined {
  const tools = arrayOf(body.tools)?.map((tool, index) => ({ tool, path: `tools[${index}]` }));
  const changes = [...changesOf(arrayOf(body.messages) ?? [])];
  if (changes.length === 0) return tools;
  const known = new Map<string, ToolInForce>();
  const inForce = new Map<string, ToolInForce>();
  for (const entry of tools ?? []) {
    known.set(nameOf(entry), entry);
    inForce.set(nameOf(entry), entry);
  }
  for (const { block, path } of changes) {
    const tool = objectOf(block.tool) ?? {};
    if (tool.type === 'tool_definition') {
      const entry = { tool: tool.definition ?? null, path: `${path}.tool.definition` };
      known.set(nameOf(entry), entry);
      inForce.set(nameOf(entry), entry);
      continue;
    }
    const name = tool.type === 'tool_reference' ? stringOf(tool.name) : undefined;
    const entry = name === undefined ? undefined : known.get(name);
    // A server's tools are those of who runs that server.
    if (name === undefined || entry === undefined) dropped.push(path);
    else if (block.type === 'tool_removal') inForce.delete(name);
    else inForce.set(name, entry);
  }
  return [...inForce.values()];
}

/** Every tool that the conversation defines on its way, also what it took again. */
export function toolsDefined({ messages }: JsonObject): JsonValue[] {
  return [...changesOf(arrayOf(messages) ?? [])].flatMap(({ block }) => {
    const { type, definition } = objectOf(block.tool) ?? {};
    return type === 'tool_definition' && definition !== undefined ? [definition] : [];
  });
}

export function isToolChange(block: JsonObject): boolean {
  return block.type === 'tool_addition' || block.type === 'tool_removal';
}

function nameOf({ tool, path }: ToolInForce): string {
  return stringOf(objectOf(tool)?.name) ?? path;
}

interface Change {
  block: JsonObject;
  path: string;
}

function* changesOf(messages: readonly JsonValue[]): Generator<Change> {
  for (const [at, message] of messages.entries())
    for (const [index, value] of (arrayOf(objectOf(message)?.content) ?? []).entries()) {
      const block = objectOf(value);
      const path = `messages[${at}].content[${index}]`;
      if (block === undefined) continue;
      if (isToolChange(block)) yield { block, path };
      else if (block.type === 'compaction')
        for (const [change, inner] of (arrayOf(block.tool_changes) ?? []).entries()) {
          const changed = objectOf(inner);
          if (changed !== undefined && isToolChange(changed))
            yield { block: changed, path: `${path}.tool_changes[${change}]` };
        }
    }
}

export interface Compacted {
  /** The message whose blocks from `block` on the model still sees; what is before is in `summary`. */
  message: number;
  block: number;
  summary: string;
}

/** The last compaction that can be read: the vendor shows its model nothing of what is before it. */
export function lastCompaction(messages: readonly JsonValue[]): Compacted | undefined {
  for (let message = messages.length - 1; message >= 0; message -= 1) {
    const blocks = arrayOf(objectOf(messages[message])?.content) ?? [];
    for (let block = blocks.length - 1; block >= 0; block -= 1) {
      const { type, content } = objectOf(blocks[block]) ?? {};
      if (type === 'compaction' && typeof content === 'string' && content !== '')
        return { message, block, summary: content };
    }
  }
  return undefined;
}

/** The place of the last message of the user: system messages before it may be for their turn alone. */
export function lastUserMessage(messages: readonly JsonValue[]): number {
  return messages.findLastIndex((message) => objectOf(message)?.role === 'user');
}
