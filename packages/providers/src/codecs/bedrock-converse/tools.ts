import type { ChatRequest, FunctionTool, JsonObject } from '@sluice/contracts';
import { encodeProviderTool } from '../anthropic-messages/encode-request.ts';
import type { Family } from './models.ts';
import { encodeCachePoint, formatName } from './wire.ts';

export interface EncodedTools {
  toolConfig?: JsonObject;
  /** Claude's own tools, which travel among the model's further fields. */
  modelTools: JsonObject[];
}

/**
 * Converse wants the tools of every conversation that ever used one, so those
 * of earlier turns that are no longer offered are named with an empty schema.
 */
export function encodeTools(
  request: ChatRequest,
  family: Family,
  usedTools: ReadonlySet<string>,
  mustChooseFreely: boolean,
  dropped: string[],
): EncodedTools {
  const tools: JsonObject[] = [];
  const modelTools: JsonObject[] = [];
  for (const tool of request.tools ?? []) {
    if (tool.type === 'function') tools.push(...encodeFunction(tool, family, dropped));
    else if (tool.format === formatName) tools.push(tool.value);
    else if (!family.isClaude) dropped.push(tool.path);
    else {
      const encoded = encodeProviderTool(tool, dropped);
      if (encoded !== undefined) modelTools.push(encoded);
    }
  }
  if (request.parallelToolCalls === false) dropped.push('parallel_tool_calls');
  const offered = tools.length > 0;
  const isRefused = request.toolChoice?.type === 'none';
  if (!offered || isRefused) {
    const isObeyed = isRefused && usedTools.size === 0;
    if (request.toolChoice !== undefined && !isObeyed) dropped.push('tool_choice');
    // There is no word for "none": without a history of calls, tools are simply not offered.
    if (usedTools.size === 0) return { modelTools: isRefused ? [] : modelTools };
    return { toolConfig: { tools: offered ? tools : [...usedTools].map(placeholder) }, modelTools };
  }
  const choice = toolChoice(request, mustChooseFreely, dropped);
  const toolConfig: JsonObject = choice === undefined ? { tools } : { tools, toolChoice: choice };
  return { toolConfig, modelTools };
}

function placeholder(name: string): JsonObject {
  return { toolSpec: { name, inputSchema: { json: { type: 'object', properties: {} } } } };
}

function encodeFunction(tool: FunctionTool, family: Family, dropped: string[]): JsonObject[] {
  const spec: JsonObject = {
    name: tool.name,
    inputSchema: { json: { type: 'object', ...(tool.parameters ?? { properties: {} }) } },
  };
  if (tool.description !== undefined && tool.description !== '')
    spec.description = tool.description;
  if (tool.strict !== undefined) spec.strict = tool.strict;
  for (const key in tool.extensions) dropped.push(`${tool.path}.function.${key}`);
  const blocks: JsonObject[] = [{ toolSpec: spec }];
  if (tool.cacheControl === undefined) return blocks;
  if (family.toolCachePoints) blocks.push(encodeCachePoint(tool.cacheControl));
  else dropped.push(`${tool.path}.cache_control`);
  return blocks;
}

function toolChoice(
  { toolChoice: choice }: ChatRequest,
  mustChooseFreely: boolean,
  dropped: string[],
): JsonObject | undefined {
  switch (choice?.type) {
    case 'auto':
      return { auto: {} };
    case 'required':
    case 'tool':
      if (mustChooseFreely) {
        dropped.push('tool_choice');
        return undefined;
      }
      return choice.type === 'tool' ? { tool: { name: choice.name } } : { any: {} };
    default:
      return undefined;
  }
}
