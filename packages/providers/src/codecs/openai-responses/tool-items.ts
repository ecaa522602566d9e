/** Calls of tools that are no functions, as items: read into calls of functions, and written again. */
import type { ChatPart, JsonObject, ToolCallPart } from '@sluice/contracts';
import { invalidField } from '../../json/invalid-field.ts';
import {
  arrayOf,
  compact,
  numberOf,
  objectOf,
  parseObject,
  stringOf,
} from '../../json/json-access.ts';
import { customArguments, customInput } from '../custom-tools.ts';
import { type AskedTool, nameIn } from './asked-tools.ts';
import { type FunctionCall, functionCallItem, type ItemStatus } from './output-items.ts';

/** Undefined when the item is no call that a caller answers. */
export function decodeCall(item: JsonObject, path: string): ToolCallPart | undefined {
  switch (item.type) {
    case 'function_call':
      return callOf(item, path, stringOf(item.arguments) ?? '');
    case 'custom_tool_call': {
      const call = callOf(item, path, customArguments(stringOf(item.input) ?? ''));
      return { ...call, isCustom: true };
    }
    case 'local_shell_call':
      return callOf({ ...item, name: 'local_shell' }, path, argumentsOf(item.action));
    case 'shell_call':
      return callOf({ ...item, name: 'shell' }, path, argumentsOf(item.action));
    case 'apply_patch_call':
      return callOf({ ...item, name: 'apply_patch' }, path, argumentsOf(item.operation));
    default:
      return undefined;
  }
}

function callOf(item: JsonObject, path: string, args: string): ToolCallPart {
  // Only the older of the shells may have no id but the item's.
  const id = stringOf(item.call_id) ?? (item.type === 'local_shell_call' ? stringOf(item.id) : '');
  const name = stringOf(item.name);
  if (id === undefined || id === '') throw invalidField(`${path}.call_id`, 'must be a string');
  if (name === undefined) throw invalidField(`${path}.name`, 'must be a string');
  return {
    type: 'tool-call',
    id,
    name: nameIn(stringOf(item.namespace), name),
    arguments: args,
  };
}

/** The fields of an action that the function has as parameters. */
function argumentsOf(action: JsonObject[string] | undefined): string {
  const { type, env, ...rest } = objectOf(action) ?? {};
  const kept: JsonObject = {};
  // `exec` is all that a shell's action can be; a patch says what it does.
  if (type !== undefined && type !== 'exec') kept.type = type;
  for (const key in rest) {
    const value = rest[key];
    if (value !== undefined && value !== null) kept[key] = value;
  }
  if (Object.keys(objectOf(env) ?? {}).length > 0) kept.env = env as JsonObject;
  return JSON.stringify(kept);
}

/** The item that tells the caller of a call; `asked` is undefined where it is a plain function's. */
export function callItem(
  call: FunctionCall,
  asked: AskedTool | undefined,
  status: ItemStatus,
): JsonObject {
  if (asked === undefined) return functionCallItem(call, status);
  const base = { id: call.id, status, call_id: call.callId };
  const { kind, name, namespace } = asked;
  const within: JsonObject = namespace === undefined ? {} : { namespace };
  switch (kind) {
    case 'function':
      return { ...functionCallItem({ ...call, name }, status), ...within };
    case 'custom': {
      const input = customInput(call.arguments);
      return { ...base, type: 'custom_tool_call', name, input, ...within };
    }
    case 'local_shell':
      return { ...base, type: 'local_shell_call', action: execAction(call.arguments) };
    case 'shell':
      return { ...base, type: 'shell_call', action: shellAction(call.arguments) };
    case 'apply_patch': {
      // A patch is whole or on its way: it has no word for one that was cut off.
      const so = status === 'completed' ? status : 'in_progress';
      const operation = patchOperation(call.arguments);
      return { ...base, type: 'apply_patch_call', status: so, operation };
    }
  }
}

function execAction(args: string): JsonObject {
  const { command, env, timeout_ms, working_directory } = parseObject(args) ?? {};
  return compact<Record<string, unknown>>({
    type: 'exec',
    command: wordsOf(command),
    env: objectOf(env) ?? {},
    timeout_ms: numberOf(timeout_ms),
    working_directory: stringOf(working_directory),
  }) as JsonObject;
}

/** Models write one command as a text as often as not. */
function wordsOf(command: JsonObject[string] | undefined): string[] {
  if (typeof command === 'string') return ['bash', '-lc', command];
  return textsOf(command);
}

function shellAction(args: string): JsonObject {
  const { commands, timeout_ms, max_output_length } = parseObject(args) ?? {};
  return {
    commands: typeof commands === 'string' ? [commands] : textsOf(commands),
    timeout_ms: numberOf(timeout_ms) ?? null,
    max_output_length: numberOf(max_output_length) ?? null,
  };
}

function patchOperation(args: string): JsonObject {
  const { type, path, diff } = parseObject(args) ?? {};
  const kind = stringOf(type) ?? 'update_file';
  const where = { type: kind, path: stringOf(path) ?? '' };
  return kind === 'delete_file' ? where : { ...where, diff: stringOf(diff) ?? '' };
}

function textsOf(list: JsonObject[string] | undefined): string[] {
  return (arrayOf(list) ?? []).filter((entry) => typeof entry === 'string');
}

/** What a tool of the caller's returned, where it is told in a field of its own; undefined = it is no such item. */
export function decodeOutput(
  item: JsonObject,
): { content: ChatPart[]; isError?: boolean } | undefined {
  switch (item.type) {
    case 'local_shell_call_output':
      return { content: [{ type: 'text', text: stringOf(item.output) ?? '' }] };
    case 'shell_call_output':
      return { content: [{ type: 'text', text: JSON.stringify(item.output ?? []) }] };
    case 'apply_patch_call_output': {
      const text = stringOf(item.output) ?? stringOf(item.status) ?? '';
      const content: ChatPart[] = [{ type: 'text', text }];
      return item.status === 'failed' ? { content, isError: true } : { content };
    }
    default:
      return undefined;
  }
}
