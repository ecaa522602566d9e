/**
 * OpenAI's custom tools take one text, which need not be JSON. To all others
 * each is a function with one string, and the text travels in its arguments.
 */
import type { FunctionTool, JsonObject } from '@sluice/contracts';
import { compact, parseObject, stringOf } from '../json/json-access.ts';

const parameters: JsonObject = {
  type: 'object',
  properties: { input: { type: 'string', description: 'The whole input of the tool, as text.' } },
  required: ['input'],
  additionalProperties: false,
};

/** The tool as a function. `format` as the format of responses has it. */
export function customFunction(
  name: string,
  description: string | undefined,
  format: JsonObject | undefined,
  path: string,
): FunctionTool {
  const told = [description, grammarNote(format)].filter((text) => text !== undefined);
  return compact<FunctionTool>({
    type: 'function',
    name,
    path,
    description: told.length === 0 ? undefined : told.join('\n\n'),
    parameters,
    custom: compact({ description, format }),
  });
}

/** A model that is not held to a grammar has to be told of it. */
function grammarNote(format: JsonObject | undefined): string | undefined {
  const definition = stringOf(format?.definition);
  if (definition === undefined) return undefined;
  return `The input must follow this grammar (${stringOf(format?.syntax) ?? 'lark'}):\n${definition}`;
}

export function customArguments(input: string): string {
  return JSON.stringify({ input });
}

/** The text of a call; what is not the function's arguments is the text itself. */
export function customInput(args: string): string {
  const read = parseObject(args);
  return stringOf(read?.input) ?? (args === '{}' ? '' : args);
}
