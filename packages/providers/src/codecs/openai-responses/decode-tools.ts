import type { ChatTool, FunctionTool, JsonObject, JsonValue, ToolChoice } from '@sluice/contracts';
import { runsAtCaller } from '../../bills/charged-tools.ts';
import { invalidField } from '../../json/invalid-field.ts';
import { arrayOf, compact, objectOf, stringOf } from '../../json/json-access.ts';
import { cacheControlOf } from '../openai-chat/decode-parts.ts';
import { builtInFunction, customTool, isBuiltIn, nameIn } from './asked-tools.ts';
import { toolsInRequest } from './tools-in-request.ts';
import { formatName } from './wire.ts';

export interface DecodedTools {
  tools?: ChatTool[];
  allTools?: ChatTool[];
  toolChoice?: ToolChoice;
}

/** `tools` and `tool_choice`, which may leave some of the tools out. */
export function decodeTools(body: JsonObject, dropped: string[]): DecodedTools {
  const tools = lastOfEachName(
    toolsInRequest(body)?.flatMap(({ tool, path }) => decodeTool(tool, path)),
  );
  const choice = objectOf(body.tool_choice);
  if (choice?.type !== 'allowed_tools')
    return compact<DecodedTools>({
      tools,
      toolChoice: decodeChoice(body.tool_choice ?? undefined, dropped),
    });
  const allowed = new Set((arrayOf(choice.tools) ?? []).map((tool) => allowedName(objectOf(tool))));
  const isAllowed = (tool: ChatTool): boolean => allowed.has(nameOf(tool));
  for (const tool of tools ?? []) if (!isAllowed(tool)) dropped.push(tool.path);
  return compact<DecodedTools>({
    tools: tools?.filter(isAllowed),
    allTools: tools?.every(isAllowed) === true ? undefined : tools,
    toolChoice: { type: choice.mode === 'required' ? 'required' : 'auto' },
  });
}

/** A tool may be told of again later, where it is found by a search: no provider takes two of one name. */
function lastOfEachName(tools: ChatTool[] | undefined): ChatTool[] | undefined {
  if (tools === undefined) return undefined;
  const last = new Map<unknown, ChatTool>();
  for (const tool of tools) last.set(tool.type === 'function' ? tool.name : tool, tool);
  return last.size === tools.length ? tools : [...last.values()];
}

/** Tools without a name are meant by their type. */
function allowedName(tool: JsonObject | undefined): string | undefined {
  const name = stringOf(tool?.name);
  return name === undefined ? stringOf(tool?.type) : nameIn(stringOf(tool?.namespace), name);
}

function nameOf(tool: ChatTool): string | undefined {
  return tool.type === 'function' ? tool.name : stringOf(tool.value.type);
}

const common = ['type', 'name', 'description', 'cache_control'];
const fieldsOfFunction = new Set([...common, 'parameters', 'strict']);
/** Its text may be anything all the same where its format is just `text`. */
const fieldsOfCustom = new Set([...common, 'format']);
/** The caller's own computer is what it runs on here. */
const fieldsOfBuiltIn = new Set(['type', 'environment']);

/** A namespace holds several. What the provider would run is its own: see `hosted-tools.ts`. */
function decodeTool(value: JsonValue, path: string, namespace?: string): ChatTool[] {
  const tool = objectOf(value);
  if (tool === undefined) throw invalidField(path, 'must be an object');
  const { type } = tool;
  if (isBuiltIn(type) && runsAtCaller(tool))
    return [{ ...builtInFunction(type, tool, path), ...furtherFields(tool, fieldsOfBuiltIn) }];
  if (type === 'namespace') {
    const inner = arrayOf(tool.tools) ?? [];
    const within = stringOf(tool.name);
    return inner.flatMap((entry, index) => decodeTool(entry, `${path}.tools[${index}]`, within));
  }
  if (type !== 'function' && type !== 'custom')
    return [{ type: 'provider', format: formatName, value: tool, path }];
  const name = stringOf(tool.name);
  if (name === undefined) throw invalidField(`${path}.name`, 'must be a string');
  const whole = nameIn(namespace, name);
  if (type === 'function') return [decodeFunction(tool, whole, path)];
  return [{ ...customTool(tool, whole, path), ...furtherFields(tool, fieldsOfCustom) }];
}

function decodeFunction(tool: JsonObject, name: string, path: string): FunctionTool {
  const rest = compact({
    description: stringOf(tool.description),
    parameters: objectOf(tool.parameters),
    // Only here must it be said that a tool is not strict.
    strict: tool.strict === true ? true : undefined,
  });
  const further = furtherFields(tool, fieldsOfFunction);
  return { type: 'function', name, path, ...rest, ...further, ...cacheControlOf(tool) };
}

function furtherFields(
  tool: JsonObject,
  known: ReadonlySet<string>,
): Pick<FunctionTool, 'extensions'> {
  const extensions: JsonObject = {};
  for (const key in tool) {
    const field = tool[key];
    if (!known.has(key) && field !== undefined && field !== null) extensions[key] = field;
  }
  return Object.keys(extensions).length === 0 ? {} : { extensions };
}

/** That a provider's own tool must be used is a wish that no other provider can be asked. */
function decodeChoice(value: JsonValue | undefined, dropped: string[]): ToolChoice | undefined {
  if (value === undefined) return undefined;
  if (value === 'none' || value === 'auto' || value === 'required') return { type: value };
  const choice = objectOf(value);
  const type = stringOf(choice?.type);
  if (type === undefined)
    throw invalidField('tool_choice', 'must be none, auto, required, allowed_tools or a tool');
  if (isBuiltIn(type)) return { type: 'tool', name: type };
  const name = stringOf(choice?.name);
  if ((type === 'function' || type === 'custom') && name !== undefined)
    return { type: 'tool', name: nameIn(stringOf(choice?.namespace), name) };
  dropped.push('tool_choice');
  return undefined;
}
