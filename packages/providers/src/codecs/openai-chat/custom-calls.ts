/** Custom tools in the words of chat completions: asked for, called and told. */
import type { FunctionTool, JsonObject, ToolCallPart } from '@sluice/contracts';
import { invalidField } from '../../json/invalid-field.ts';
import { arrayOf, objectOf, stringOf } from '../../json/json-access.ts';
import { customArguments, customFunction, customInput } from '../custom-tools.ts';

export function decodeCustomTool(tool: JsonObject, path: string): FunctionTool {
  const custom = objectOf(tool.custom);
  const name = stringOf(custom?.name);
  if (custom === undefined || name === undefined)
    throw invalidField(`${path}.custom.name`, 'must be a string');
  const formatPath = `${path}.custom.format`;
  const format = decodeFormat(objectOf(custom.format), formatPath);
  const description = stringOf(custom.description);
  return customFunction({ name, description, format, formatPath, path });
}

/** Chat has the grammar in an object of its own, responses beside the type. */
function decodeFormat(format: JsonObject | undefined, path: string): JsonObject | undefined {
  if (format?.type !== 'grammar') return format;
  const grammar = objectOf(format.grammar) ?? {};
  if (typeof grammar.definition !== 'string')
    throw invalidField(`${path}.grammar.definition`, 'must be a string');
  return { type: 'grammar', ...grammar };
}

/** Of a request; undefined where it is no call of a custom tool. */
export function decodeCustomCall(call: JsonObject, path: string): ToolCallPart | undefined {
  if (!isCustomCall(call)) return undefined;
  const { name, input } = objectOf(call.custom) ?? {};
  if (typeof name !== 'string') throw invalidField(`${path}.custom.name`, 'must be a string');
  if (typeof input !== 'string') throw invalidField(`${path}.custom.input`, 'must be a string');
  const id = stringOf(call.id) ?? '';
  return { type: 'tool-call', id, name, arguments: customArguments(input), isCustom: true };
}

export function isCustomCall(call: JsonObject): boolean {
  return call.type === 'custom' && call.function === undefined;
}

/** The call of a function as that of the custom tool which it stands for. */
export function encodeCustomCall({ id, name, arguments: args }: ToolCallPart): JsonObject {
  return { id, type: 'custom', custom: { name, input: customInput(args) } };
}

const none: ReadonlySet<string> = new Set();

/** The names of a request's custom tools. */
export function askedCustomTools(request: JsonObject): ReadonlySet<string> {
  let names: Set<string> | undefined;
  for (const value of arrayOf(request.tools) ?? []) {
    const tool = objectOf(value);
    const name = tool?.type === 'custom' ? stringOf(objectOf(tool.custom)?.name) : undefined;
    if (name === undefined) continue;
    names ??= new Set();
    names.add(name);
  }
  return names ?? none;
}
