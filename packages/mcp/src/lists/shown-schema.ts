import type { JsonObject } from '@sluice/contracts';
import type { JsonEdit } from '@sluice/json';
import type { CapabilityRow } from '../access/server-view.ts';
import { isObject } from '../envelope/read-message.ts';

/** Arguments that callers neither see nor send. */
export function ownArguments(row: CapabilityRow): ReadonlySet<string> {
  return new Set([...row.hiddenArguments, ...Object.keys(row.fixedArguments ?? {})]);
}

/** Takes the arguments that callers do not see out of a tool's input schema, or of a prompt's list of them. */
export function hideArguments(
  edit: JsonEdit,
  path: readonly (string | number)[],
  row: CapabilityRow,
  definition: JsonObject,
): void {
  const hidden = ownArguments(row);
  if (hidden.size === 0) return;
  const { inputSchema, arguments: listed } = definition;
  if (Array.isArray(listed))
    for (const [index, argument] of listed.entries())
      if (isObject(argument) && typeof argument.name === 'string' && hidden.has(argument.name))
        edit.set([...path, 'arguments', index], undefined);
  if (!isObject(inputSchema)) return;
  const { properties, required } = inputSchema;
  if (isObject(properties))
    for (const name of hidden)
      if (Object.hasOwn(properties, name))
        edit.set([...path, 'inputSchema', 'properties', name], undefined);
  if (Array.isArray(required))
    for (const [index, name] of required.entries())
      if (typeof name === 'string' && hidden.has(name))
        edit.set([...path, 'inputSchema', 'required', index], undefined);
}
