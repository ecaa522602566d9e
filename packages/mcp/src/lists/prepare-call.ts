import type { JsonObject, JsonValue } from '@sluice/contracts';
import type { Decision } from '../access/decide.ts';
import type { MessageEdit } from '../envelope/edit-message.ts';
import { isObject, type McpRequest } from '../envelope/read-message.ts';
import { ownArguments } from './shown-schema.ts';

/**
 * Makes an allowed call the upstream's: its own name for the tool, the arguments that are fixed, none of those that callers
 * do not see. @returns the arguments as they are sent, for headers and checks
 */
export function prepareCall(
  edit: MessageEdit,
  message: McpRequest,
  decision: Extract<Decision, { allowed: true }>,
): JsonObject {
  const { name, row } = decision;
  if (message.subject !== undefined && name !== message.subject) edit.setSubject(name);
  const sent = message.params?.arguments;
  const args: Record<string, JsonValue | undefined> = isObject(sent) ? { ...sent } : {};
  const isCall = message.method === 'tools/call' || message.method === 'prompts/get';
  if (
    row === undefined ||
    !isCall ||
    row.type !== (message.method === 'tools/call' ? 'tool' : 'prompt')
  )
    return args as JsonObject;
  for (const argument of ownArguments(row)) {
    const fixed = row.fixedArguments;
    const value =
      fixed !== undefined && Object.hasOwn(fixed, argument) ? fixed[argument] : undefined;
    if (value === undefined && !Object.hasOwn(args, argument)) continue;
    edit.setArgument(argument, value);
    if (value === undefined) delete args[argument];
    else
      Object.defineProperty(args, argument, {
        value,
        enumerable: true,
        configurable: true,
        writable: true,
      });
  }
  return args as JsonObject;
}
