import type { ChatRequest, ChatTool, JsonObject } from '@sluice/contracts';
import { compact } from '../../json/json-access.ts';
import type { CacheMarks } from '../openai-cache-marks.ts';
import { formatName } from './wire.ts';

/** `tools` and what is said of them. Without tools the rest is refused, so it is left out with them. */
export function encodeTools(
  request: ChatRequest,
  marks: CacheMarks,
  dropped: string[],
): JsonObject {
  const tools = (request.tools ?? []).flatMap((tool) => encodeTool(tool, marks, dropped));
  const { toolChoice: choice, parallelToolCalls } = request;
  if (tools.length === 0) {
    if (choice !== undefined) dropped.push('tool_choice');
    if (parallelToolCalls !== undefined) dropped.push('parallel_tool_calls');
    return {};
  }
  return compact<Record<string, unknown>>({
    tools,
    tool_choice:
      choice?.type === 'tool'
        ? { type: 'function', function: { name: choice.name } }
        : choice?.type,
    parallel_tool_calls: parallelToolCalls,
  }) as JsonObject;
}

function encodeTool(tool: ChatTool, marks: CacheMarks, dropped: string[]): JsonObject[] {
  if (tool.type === 'provider') {
    if (tool.format === formatName) return [tool.value];
    dropped.push(tool.path);
    return [];
  }
  for (const key in tool.extensions) dropped.push(`${tool.path}.function.${key}`);
  const fn = compact({
    name: tool.name,
    description: tool.description,
    parameters: tool.parameters,
    strict: tool.strict,
  });
  return [{ type: 'function', function: fn as JsonObject, ...marks.write(tool.cacheControl) }];
}
