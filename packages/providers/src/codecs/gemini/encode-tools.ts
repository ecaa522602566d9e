import type {
  ChatRequest,
  FunctionTool,
  JsonObject,
  JsonValue,
  ProviderTool,
} from '@sluice/contracts';
import { objectOf, stringOf } from '../../json/json-access.ts';
import { type HostedTool, hostedTool, lostOptions } from '../hosted-tools.ts';
import { formatName } from './wire.ts';

/** Tools the provider runs itself, by the names callers of other formats give them. */
const builtIn = new Map<string, string>(
  [
    'googleSearch',
    'googleSearchRetrieval',
    'enterpriseWebSearch',
    'googleMaps',
    'computerUse',
    'codeExecution',
    'urlContext',
    'fileSearch',
  ].flatMap((name) => [
    [name, name],
    [name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), name],
  ]),
);

const functionFields = new Set(['behavior', 'response', 'responseJsonSchema']);

/** `tools` and `toolConfig`; all declarations of functions stand in one entry. */
export function encodeTools(request: ChatRequest, dropped: string[]): JsonObject {
  const tools: JsonObject[] = [];
  const declarations: JsonObject[] = [];
  const config: JsonObject = {};
  for (const tool of request.tools ?? []) {
    const own =
      tool.type === 'function'
        ? builtInFunction(tool)
        : (providerTool(tool) ?? hosted(tool, request, dropped));
    if (own !== undefined) tools.push(withoutRetrieval(own, config));
    else if (tool.type === 'function') declarations.push(encodeFunction(tool, dropped));
    else dropped.push(tool.path);
  }
  if (declarations.length > 0) tools.unshift({ functionDeclarations: declarations });
  if (request.parallelToolCalls === false) dropped.push('parallel_tool_calls');
  if (tools.length === 0) {
    if (request.toolChoice !== undefined) dropped.push('tool_choice');
    return {};
  }
  const calling = callingConfig(request);
  if (calling !== undefined) config.functionCallingConfig = calling;
  return Object.keys(config).length === 0 ? { tools } : { tools, toolConfig: config };
}

/** A function with the name of a tool of the provider's, whose parameters are options and no schema. */
function builtInFunction(tool: FunctionTool): JsonObject | undefined {
  const name = builtIn.get(tool.name);
  const { parameters = {} } = tool;
  const isSchema =
    parameters.type !== undefined ||
    parameters.properties !== undefined ||
    parameters.$ref !== undefined;
  return name === undefined || isSchema ? undefined : { [name]: camelKeys(parameters) };
}

function providerTool(tool: ProviderTool): JsonObject | undefined {
  if (tool.format === formatName) return tool.value;
  const type = stringOf(tool.value.type);
  const name = type === undefined ? undefined : builtIn.get(type);
  if (type === undefined || name === undefined) return undefined;
  const options = objectOf(tool.value[type]);
  // Of OpenAI's tools one has the name of Google's; whose stores it searches stands beside it.
  if (name === 'fileSearch' && options === undefined) return undefined;
  return { [name]: camelKeys(options ?? {}) };
}

/**
 * What another provider would run, run by this one. Beside functions its own
 * tools are refused by most of its models, and the functions matter more.
 */
function hosted(
  tool: ProviderTool,
  { tools }: ChatRequest,
  dropped: string[],
): JsonObject | undefined {
  if (tools?.some(({ type }) => type === 'function') === true) return undefined;
  const kind = hostedTool(tool)?.kind;
  if (kind === undefined) return undefined;
  dropped.push(...lostOptions(tool));
  return ownTools[kind];
}

/** They take no options. */
const ownTools: Readonly<Record<HostedTool['kind'], JsonObject>> = {
  'web-search': { googleSearch: {} },
  'web-fetch': { urlContext: {} },
  'code-execution': { codeExecution: {} },
};

/** Where the user is belongs to `toolConfig`. */
function withoutRetrieval(tool: JsonObject, config: JsonObject): JsonObject {
  const maps = objectOf(tool.googleMaps);
  if (maps?.retrievalConfig === undefined) return tool;
  const { retrievalConfig, ...rest } = maps;
  config.retrievalConfig = retrievalConfig as JsonValue;
  return { ...tool, googleMaps: rest };
}

function encodeFunction(tool: FunctionTool, dropped: string[]): JsonObject {
  const result: JsonObject = { name: tool.name };
  if (tool.description !== undefined) result.description = tool.description;
  // The schema as it is: the older `parameters` takes only a part of JSON Schema.
  if (tool.parameters !== undefined) result.parametersJsonSchema = tool.parameters;
  if (tool.strict === true) dropped.push(`${tool.path}.function.strict`);
  for (const key in tool.extensions) {
    const value = tool.extensions[key];
    if (functionFields.has(key) && value !== undefined) result[key] = value;
    else dropped.push(`${tool.path}.function.${key}`);
  }
  return result;
}

const modes = { none: 'NONE', auto: 'AUTO', required: 'ANY', tool: 'ANY' } as const;

function callingConfig({ toolChoice }: ChatRequest): JsonObject | undefined {
  if (toolChoice === undefined) return undefined;
  const mode = modes[toolChoice.type];
  return toolChoice.type === 'tool' ? { mode, allowedFunctionNames: [toolChoice.name] } : { mode };
}

/** Options in the style of OpenAI's callers; values are left as they are, but for nested options. */
export function camelKeys(value: JsonObject): JsonObject {
  const result: JsonObject = {};
  for (const key in value) {
    const camel = key.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
    const field = value[key] as JsonValue;
    const nested = objectOf(field);
    result[camel] = nested === undefined ? field : camelKeys(nested);
  }
  return result;
}
