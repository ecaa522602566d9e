import type { ParametersOf } from '@sluice/contracts/checks';
import { type JsonObject, textsOf } from '@sluice/providers';
import { CheckError, type CheckFunction } from '../check.ts';
import { jsonValuesIn } from '../json-objects.ts';
import { compileSchema } from '../json-schema/compile-schema.ts';
import { excerpt, requiredSubject } from '../text-check.ts';

/** Passes when some JSON of the text is as the schema has it; without any JSON it fails, turned or not. */
export function jsonSchema({
  schema,
  not,
  subjects,
}: ParametersOf<'default.jsonSchema'>): CheckFunction {
  const validate = compileSchema(schema as JsonObject, 'schema');
  return (context) => {
    const text = requiredSubject(textsOf(context, subjects).joined);
    if (text.length > textMax)
      throw new CheckError('TextTooLong', `The text is longer than ${textMax} characters.`);
    const common = { not, textExcerpt: excerpt(text) };
    const values = jsonValuesIn(text);
    if (values.length === 0)
      return {
        verdict: false,
        data: { verdict: false, explanation: 'The text has no JSON.', ...common },
      };
    let fault: string | undefined;
    const found = values.slice(0, valuesMax).some((value) => {
      const judged = validate(value);
      fault ??= judged.fault;
      return judged.isValid;
    });
    const verdict = found !== not;
    return {
      verdict,
      data: {
        verdict,
        explanation: found
          ? 'The text has JSON that is as the schema has it.'
          : `No JSON of the text is as the schema has it: ${fault}.`,
        ...common,
      },
    };
  };
}

/** Reading JSON takes some 15 ms for as much. */
const textMax = 512 * 1024;
/** Each may take all the steps there are. */
const valuesMax = 2;
