import type { JsonObject, JsonValue } from '@sluice/contracts';
import { arrayOf, objectOf, stringOf } from '../../json/json-access.ts';

export interface ToolInRequest {
  tool: JsonValue;
  path: string;
}

/**
 * Items that bring tools in the middle of a conversation. Codex tells the models from GPT-5.6 on of all its tools in
 * `additional_tools` and sends no `tools`; what a search for tools found stands in its output.
 */
const bringing = new Set(['additional_tools', 'tool_search_output']);

/** All tools of a request in the order in which it tells of them; undefined where it speaks of none. */
export function toolsInRequest(request: JsonObject): ToolInRequest[] | undefined {
  const tools = arrayOf(request.tools)?.map((tool, index) => ({ tool, path: `tools[${index}]` }));
  let found = tools;
  for (const [at, value] of (arrayOf(request.input) ?? []).entries()) {
    const item = objectOf(value);
    if (item === undefined || !bringsTools(item)) continue;
    found ??= [];
    for (const [index, tool] of (arrayOf(item.tools) ?? []).entries())
      found.push({ tool, path: `input[${at}].tools[${index}]` });
  }
  return found;
}

export function bringsTools(item: JsonObject): boolean {
  return bringing.has(stringOf(item.type) ?? '');
}
