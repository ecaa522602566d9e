import type { ChatTool, FunctionTool, JsonObject, JsonValue, ToolChoice } from '@sluice/contracts';
import { invalidField } from '../../json/invalid-field.ts';
import { arrayOf, booleanOf, compact, objectOf, stringOf } from '../../json/json-access.ts';
import { decodeCustomTool } from './custom-calls.ts';
import { cacheControlOf } from './decode-parts.ts';
import { formatName } from './wire.ts';

interface AskedTools {
  tools: ChatTool[] | undefined;
  toolChoice: ToolChoice | undefined;
  parallelToolCalls: boolean | undefined;
}

const functionFields = new Set(['name', 'description', 'parameters', 'strict', 'cache_control']);

function decodeTool(value: JsonValue, path: string): ChatTool {
  const tool = objectOf(value);
  if (tool === undefined) throw invalidField(path, 'must be an object');
  if (tool.type === 'custom') return { ...decodeCustomTool(tool, path), ...cacheControlOf(tool) };
  if (tool.type !== 'function') return { type: 'provider', format: formatName, value: tool, path };
  const fn = decodeFunction(objectOf(tool.function), path, `${path}.function`);
  return { ...fn, ...cacheControlOf(tool) };
}

/** `path`: of the tool; `at`: where its name and parameters stand. */
function decodeFunction(fn: JsonObject | undefined, path: string, at: string): FunctionTool {
  const name = stringOf(fn?.name);
  if (fn === undefined || name === undefined) throw invalidField(`${at}.name`, 'must be a string');
  const extensions: JsonObject = {};
  for (const key in fn) {
    const field = fn[key];
    if (!functionFields.has(key) && field !== undefined) extensions[key] = field;
  }
  const rest = compact({
    description: stringOf(fn.description),
    parameters: objectOf(fn.parameters),
    strict: booleanOf(fn.strict),
    extensions: Object.keys(extensions).length === 0 ? undefined : extensions,
  });
  return { type: 'function', name, path, ...rest, ...cacheControlOf(fn) };
}

/** The tools of a request, or the functions that were there before them, and what is said of their calls. */
export function decodeTools(body: JsonObject, dropped: string[]): AskedTools {
  const functions = body.functions ?? undefined;
  if (functions === undefined) {
    if ((body.function_call ?? null) !== null) dropped.push('function_call');
    const toolChoice = decodeToolChoice(body.tool_choice ?? undefined, dropped);
    return {
      tools: toolsInForce(body, dropped),
      toolChoice,
      parallelToolCalls: booleanOf(body.parallel_tool_calls),
    };
  }
  if ((body.tools ?? null) !== null)
    throw invalidField('functions', 'cannot be given together with tools');
  for (const key of ['tool_choice', 'parallel_tool_calls'])
    if ((body[key] ?? null) !== null) dropped.push(key);
  return decodeFunctions(functions, body.function_call ?? undefined, dropped);
}

/** Their answer has room for one call. */
function decodeFunctions(
  value: JsonValue,
  asked: JsonValue | undefined,
  dropped: string[],
): AskedTools {
  const functions = arrayOf(value);
  if (functions === undefined) throw invalidField('functions', 'must be a list');
  const tools = functions.map((fn, index) => {
    const path = `functions[${index}]`;
    return decodeFunction(objectOf(fn), path, path);
  });
  const name = stringOf(objectOf(asked)?.name);
  let toolChoice: ToolChoice | undefined;
  if (asked === 'none' || asked === 'auto') toolChoice = { type: asked };
  else if (name !== undefined) toolChoice = { type: 'tool', name };
  else if (asked !== undefined) dropped.push('function_call');
  const mayCall = tools.length > 0 && asked !== 'none';
  return { tools, toolChoice, parallelToolCalls: mayCall ? false : undefined };
}

/** A choice may leave some of them out. */
function toolsInForce(body: JsonObject, dropped: string[]): ChatTool[] | undefined {
  const tools = arrayOf(body.tools)?.map((tool, index) => decodeTool(tool, `tools[${index}]`));
  const { tools: listed } = objectOf(objectOf(body.tool_choice)?.allowed_tools) ?? {};
  if (listed === undefined) return tools;
  const allowed = new Set((arrayOf(listed) ?? []).map(allowedName));
  return tools?.filter((tool) => {
    const name = tool.type === 'function' ? tool.name : stringOf(tool.value.type);
    const isAllowed = allowed.has(name);
    if (!isAllowed) dropped.push(tool.path);
    return isAllowed;
  });
}

function allowedName(value: JsonValue): string | undefined {
  const tool = objectOf(value);
  const named = objectOf(tool?.function) ?? objectOf(tool?.custom);
  return stringOf(named?.name) ?? stringOf(tool?.type);
}

function decodeToolChoice(value: JsonValue | undefined, dropped: string[]): ToolChoice | undefined {
  if (value === undefined) return undefined;
  if (value === 'none' || value === 'auto' || value === 'required') return { type: value };
  const allowed = objectOf(objectOf(value)?.allowed_tools);
  if (allowed !== undefined) return { type: allowed.mode === 'required' ? 'required' : 'auto' };
  const choice = objectOf(value);
  const name = stringOf((objectOf(choice?.function) ?? objectOf(choice?.custom))?.name);
  if (name !== undefined) return { type: 'tool', name };
  dropped.push('tool_choice');
  return undefined;
}
