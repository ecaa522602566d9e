import type { JsonObject, ResponseFormat } from '@sluice/contracts';
import type { ClaudeFacts } from '../../models/claude.ts';
import { outputInWords } from '../output-in-words.ts';
import { closedSchema } from './closed-schema.ts';

export interface EncodedOutput {
  /** For models that answer by a schema. */
  schema?: JsonObject;
  /** For those that can only be told. */
  instruction?: string;
}

/**
 * How the answer has to look. A schema that the model has no way to be held to,
 * or that cannot be said in its part of the language, is told and not enforced:
 * an open object that were closed would be answered empty.
 */
export function encodeOutput(
  format: ResponseFormat | undefined,
  { structuredOutputs }: Pick<ClaudeFacts, 'structuredOutputs'>,
  dropped: string[],
): EncodedOutput {
  if (format === undefined || format.type === 'text') return {};
  if (format.type === 'json') return { instruction: outputInWords(format) };
  const path = 'response_format.json_schema';
  const schema = structuredOutputs
    ? closedSchema(format.schema, `${path}.schema`, dropped)
    : undefined;
  if (schema !== undefined) return { schema };
  dropped.push(path);
  return { instruction: outputInWords(format) };
}
