/**
 * OpenAI's custom tools take one text, which need not be JSON. To all others
 * each is a function with one string, and the text travels in its arguments.
 */
import type { ChatRequest, FunctionTool, JsonObject } from '@sluice/contracts';
import { compact, parseObject, stringOf } from '../json/json-access.ts';

const parameters: JsonObject = {
  type: 'object',
  properties: { input: { type: 'string', description: 'The whole input of the tool, as text.' } },
  required: ['input'],
  additionalProperties: false,
};

interface AskedCustomTool {
  name: string;
  description: string | undefined;
  /** As the format of responses has it. */
  format: JsonObject | undefined;
  /** Where the caller wrote the tool, and its format. */
  path: string;
  formatPath: string;
}

/** The tool as a function. */
export function customFunction(asked: AskedCustomTool): FunctionTool {
  const { name, description, format, path, formatPath } = asked;
  const told = [description, grammarNote(format)].filter((text) => text !== undefined);
  return compact<FunctionTool>({
    type: 'function',
    name,
    path,
    description: told.length === 0 ? undefined : told.join('\n\n'),
    parameters,
    custom: compact({ description, format, formatPath }),
  });
}

/** The paths of the grammars that a format without custom tools only tells of, and holds no model to. */
export function grammarsOnlyTold({ tools }: ChatRequest): string[] {
  return (tools ?? []).flatMap((tool) => {
    const custom = tool.type === 'function' ? tool.custom : undefined;
    return custom?.format?.type === 'grammar' ? [custom.formatPath] : [];
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

/** The same where the text comes in pieces. */
export const customPieces = {
  start: '{"input":"',
  of: (piece: string) => JSON.stringify(piece).slice(1, -1),
  end: '"}',
};

/** The text of a call; what is not the function's arguments is the text itself. */
export function customInput(args: string): string {
  const read = parseObject(args);
  return stringOf(read?.input) ?? (args === '{}' ? '' : args);
}
