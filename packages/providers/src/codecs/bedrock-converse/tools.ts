import type { ChatRequest, FunctionTool, JsonObject } from '@sluice/contracts';
import { encodeProviderTool } from '../anthropic-messages/encode-provider-tool.ts';
import { offeredTools } from '../anthropic-messages/offered-tools.ts';
import { StrictTools } from '../anthropic-messages/strict-tools.ts';
import { demandsCall } from '../anthropic-messages/tool-choice.ts';
import type { Family } from './models.ts';
import { encodeCachePoint, formatName } from './wire.ts';

export interface EncodedTools {
  toolConfig?: JsonObject;
  /** Claude's own tools, which travel among the model's further fields. */
  modelTools: JsonObject[];
}

export interface ToolRules {
  family: Family;
  /** Tools that earlier turns used, whether they are offered again or not. */
  usedTools: ReadonlySet<string>;
  /** Earlier thoughts are shown, which are bound to the tools that were offered. */
  hasThoughts: boolean;
  /** Whether the model may be told to call a tool. */
  mayDemand: boolean;
  structuredOutputs: boolean;
  /** A signed thought is refused when the tools before it have changed. */
  bindsThoughts: boolean;
}

/**
 * Converse wants the tools of every conversation that ever used one, so those
 * of earlier turns that are no longer offered are named with an empty schema.
 */
export function encodeTools(
  request: ChatRequest,
  rules: ToolRules,
  dropped: string[],
): EncodedTools {
  const { family, usedTools, hasThoughts } = rules;
  const strict = new StrictTools(rules, dropped);
  const tools: JsonObject[] = [];
  const modelTools: JsonObject[] = [];
  for (const tool of offeredTools(request, rules.bindsThoughts, dropped)) {
    if (tool.type === 'function') tools.push(...encodeFunction(tool, strict, dropped));
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
    // There is no word for "none": without a history that needs them, tools are simply not offered.
    const isFree = usedTools.size === 0 && !(offered && hasThoughts);
    if (request.toolChoice !== undefined && !(isRefused && isFree)) dropped.push('tool_choice');
    if (isFree) return { modelTools: isRefused ? [] : modelTools };
    return { toolConfig: { tools: offered ? tools : [...usedTools].map(placeholder) }, modelTools };
  }
  const choice = toolChoice(request, rules.mayDemand, dropped);
  const toolConfig: JsonObject = choice === undefined ? { tools } : { tools, toolChoice: choice };
  return { toolConfig, modelTools };
}

function placeholder(name: string): JsonObject {
  return { toolSpec: { name, inputSchema: { json: { type: 'object', properties: {} } } } };
}

function encodeFunction(tool: FunctionTool, strict: StrictTools, dropped: string[]): JsonObject[] {
  const parameters: JsonObject = { type: 'object', ...(tool.parameters ?? { properties: {} }) };
  const closed = strict.schemaOf(tool, parameters);
  const spec: JsonObject = { name: tool.name, inputSchema: { json: closed ?? parameters } };
  if (tool.description !== undefined && tool.description !== '')
    spec.description = tool.description;
  if (closed !== undefined) spec.strict = true;
  for (const key in tool.extensions) dropped.push(`${tool.path}.function.${key}`);
  const blocks: JsonObject[] = [{ toolSpec: spec }];
  if (tool.cacheControl !== undefined) blocks.push(encodeCachePoint(tool.cacheControl));
  return blocks;
}

function toolChoice(
  request: ChatRequest,
  mayDemand: boolean,
  dropped: string[],
): JsonObject | undefined {
  const { toolChoice: choice } = request;
  if (choice?.type === 'auto') return { auto: {} };
  if (!demandsCall(request)) return undefined;
  if (!mayDemand) {
    dropped.push('tool_choice');
    return undefined;
  }
  return choice?.type === 'tool' ? { tool: { name: choice.name } } : { any: {} };
}
