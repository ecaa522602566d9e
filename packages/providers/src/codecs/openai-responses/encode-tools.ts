import type { ChatRequest, ChatTool, FunctionTool, JsonObject } from '@sluice/contracts';
import { compact } from '../../json/json-access.ts';
import { type HostedTool, hostedTool, lostOptions } from '../hosted-tools.ts';
import type { CacheMarks } from '../openai-cache-marks.ts';
import { formatName } from './wire.ts';

/** `tools` and what is said of them. Without tools the rest is refused, so it is left out with them. */
export function encodeTools(
  request: ChatRequest,
  marks: CacheMarks,
  dropped: string[],
): JsonObject {
  const tools = (request.tools ?? []).flatMap((tool) => encodeTool(tool, marks, dropped));
  if (tools.length === 0) {
    if (request.toolChoice !== undefined) dropped.push('tool_choice');
    if (request.parallelToolCalls !== undefined) dropped.push('parallel_tool_calls');
    return {};
  }
  return compact<Record<string, unknown>>({
    tools,
    tool_choice: encodeChoice(request),
    parallel_tool_calls: request.parallelToolCalls,
  }) as JsonObject;
}

function encodeChoice({ toolChoice: choice, tools }: ChatRequest): JsonObject[string] | undefined {
  if (choice?.type !== 'tool') return choice?.type;
  const chosen = tools?.find((tool) => tool.type === 'function' && tool.name === choice.name);
  const isCustom = chosen?.type === 'function' && chosen.custom !== undefined;
  return { type: isCustom ? 'custom' : 'function', name: choice.name };
}

function encodeTool(tool: ChatTool, marks: CacheMarks, dropped: string[]): JsonObject[] {
  if (tool.type === 'function')
    return [{ ...encodeFunction(tool, dropped), ...marks.write(tool.cacheControl) }];
  if (tool.format === formatName) return [tool.value];
  const encoded = encodeHosted(hostedTool(tool));
  if (encoded === undefined) dropped.push(tool.path);
  else dropped.push(...lostOptions(tool, ['allowedDomains', 'userLocation']));
  return encoded === undefined ? [] : [encoded];
}

function encodeHosted(tool: HostedTool | undefined): JsonObject | undefined {
  switch (tool?.kind) {
    case 'web-search':
      return compact<Record<string, unknown>>({
        type: 'web_search',
        filters: tool.allowedDomains && { allowed_domains: tool.allowedDomains },
        user_location: tool.userLocation,
      }) as JsonObject;
    case 'code-execution':
      return { type: 'code_interpreter', container: { type: 'auto' } };
    default:
      return undefined;
  }
}

function encodeFunction(tool: FunctionTool, dropped: string[]): JsonObject {
  for (const key in tool.extensions) dropped.push(`${tool.path}.function.${key}`);
  const { name, description, custom, parameters = { type: 'object', properties: {} } } = tool;
  if (custom !== undefined) {
    const asked = { description: custom.description, format: custom.format };
    return compact({ type: 'custom', name, ...asked }) as JsonObject;
  }
  // Strict is the default here and nowhere else.
  const fn = { type: 'function', name, description, parameters, strict: tool.strict ?? false };
  return compact(fn) as JsonObject;
}
