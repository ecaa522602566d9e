import type { ChatTool, FunctionTool, JsonObject, JsonValue, ToolChoice } from '@sluice/contracts';
import { invalidField } from '../../json/invalid-field.ts';
import { arrayOf, compact, objectOf, stringOf } from '../../json/json-access.ts';
import { cacheControlOf } from '../openai-chat/decode-parts.ts';

export interface DecodedTools {
  tools?: ChatTool[];
  toolChoice?: ToolChoice;
}

/** `tools` and `tool_choice`, which may leave some of the tools out. */
export function decodeTools(body: JsonObject, dropped: string[]): DecodedTools {
  const tools = arrayOf(body.tools)?.map((tool, index) => decodeTool(tool, `tools[${index}]`));
  const choice = objectOf(body.tool_choice);
  if (choice?.type !== 'allowed_tools')
    return compact<DecodedTools>({
      tools,
      toolChoice: decodeChoice(body.tool_choice ?? undefined),
    });
  const allowed = new Set(
    (arrayOf(choice.tools) ?? []).map((tool) => stringOf(objectOf(tool)?.name)),
  );
  for (const tool of tools ?? []) if (!allowed.has(tool.name)) dropped.push(tool.path);
  return compact<DecodedTools>({
    tools: tools?.filter((tool) => allowed.has(tool.name)),
    toolChoice: { type: choice.mode === 'required' ? 'required' : 'auto' },
  });
}

const fields = new Set(['type', 'name', 'description', 'parameters', 'strict', 'cache_control']);

function decodeTool(value: JsonValue, path: string): FunctionTool {
  const tool = objectOf(value);
  if (tool === undefined) throw invalidField(path, 'must be an object');
  if (tool.type !== 'function')
    throw invalidField(`${path}.type`, 'must be function: this provider runs no tools itself');
  const name = stringOf(tool.name);
  if (name === undefined) throw invalidField(`${path}.name`, 'must be a string');
  const extensions: JsonObject = {};
  for (const key in tool) {
    const field = tool[key];
    if (!fields.has(key) && field !== undefined && field !== null) extensions[key] = field;
  }
  const rest = compact({
    description: stringOf(tool.description),
    parameters: objectOf(tool.parameters),
    // Only here must it be said that a tool is not strict.
    strict: tool.strict === true ? true : undefined,
    extensions: Object.keys(extensions).length === 0 ? undefined : extensions,
  });
  return { type: 'function', name, path, ...rest, ...cacheControlOf(tool) };
}

function decodeChoice(value: JsonValue | undefined): ToolChoice | undefined {
  if (value === undefined) return undefined;
  if (value === 'none' || value === 'auto' || value === 'required') return { type: value };
  const choice = objectOf(value);
  const name = stringOf(choice?.name);
  if (choice?.type !== 'function' || name === undefined)
    throw invalidField('tool_choice', 'must be none, auto, required, allowed_tools or a function');
  return { type: 'tool', name };
}
