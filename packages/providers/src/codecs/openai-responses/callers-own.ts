import type { JsonObject, JsonValue } from '@sluice/contracts';
import { arrayOf, objectOf, stringOf } from '../../json/json-access.ts';

/** Tools that a caller answers, or that bring such tools while the model works. */
const ofCallers = new Set(['function', 'custom', 'namespace', 'tool_search']);

/**
 * Whether a call of a custom tool is the caller's to answer. xAI tells what
 * its own tools do (`x_search` …) as calls of custom tools that nobody asked
 * for: beside a tool of the provider's, only what the response itself names
 * among its `tools` is the caller's.
 */
export function isCallersOwn(call: JsonObject, tools: JsonValue | undefined): boolean {
  const asked = (arrayOf(tools) ?? []).map((tool) => objectOf(tool) ?? {});
  if (asked.every(({ type }) => ofCallers.has(stringOf(type) ?? ''))) return true;
  const name = stringOf(call.name);
  return asked.some(
    (tool) => tool.type === 'tool_search' || names(tool, name) || innerNames(tool, name),
  );
}

function names(tool: JsonObject, name: string | undefined): boolean {
  return tool.type === 'custom' && stringOf(tool.name) === name;
}

function innerNames(tool: JsonObject, name: string | undefined): boolean {
  return (arrayOf(tool.tools) ?? []).some((inner) => names(objectOf(inner) ?? {}, name));
}
