import { compileSafeRegex } from '@sluice/engine';
import type { JsonObject } from '@sluice/providers';
import {
  Ajv2020,
  type AnySchemaObject,
  type ErrorObject,
  type KeywordDefinition,
  type Options,
} from 'ajv/dist/2020.js';
import { CheckError } from '../check.ts';
import { costKeyword, countedSchema } from './counted-schema.ts';

export interface SchemaVerdict {
  readonly isValid: boolean;
  /** Where it is not, and why: the first fault. */
  readonly fault: string | undefined;
}

/** Of a schema as it is written: more than a document has a use for. */
const schemaLengthMax = 64 * 1024;
/** For one value: some ten milliseconds. */
const stepsMax = 100_000;

/**
 * A validator for a schema of JSON Schema 2020-12.
 *
 * It is code that ajv writes of the schema, so what reaches ajv is bounded: size
 * and depth here, patterns by the engine's own machine, references to the schema
 * itself, steps by a keyword that counts. Ajv keeps every schema it compiles:
 * each has an instance of its own, which goes when the check goes.
 * @throws CheckError `InvalidParameters` when it is no schema
 */
export function compileSchema(schema: JsonObject, parameter: string) {
  const refuse = (why: string) =>
    new CheckError('InvalidParameters', `parameters.${parameter}: ${why}.`, parameter);
  if (JSON.stringify(schema).length > schemaLengthMax)
    throw refuse(`is longer than ${schemaLengthMax} characters`);
  const dialect = schema.$schema;
  if (dialect !== undefined && !(typeof dialect === 'string' && dialects.test(dialect)))
    throw refuse('is of another version than JSON Schema 2020-12');
  const steps = { left: 0 };
  const validate = (() => {
    try {
      const counted = countedSchema(schema);
      checkForm(schema);
      return new Ajv2020(options).addKeyword(counting(steps)).compile(counted);
    } catch (error) {
      if (error instanceof Error)
        throw refuse(`is no JSON Schema that can be used: ${error.message.slice(0, 500)}`);
      throw error;
    }
  })();
  return (value: unknown): SchemaVerdict => {
    steps.left = stepsMax;
    try {
      if (validate(value)) return { isValid: true, fault: undefined };
      return { isValid: false, fault: told(validate.errors?.[0]) };
    } catch (error) {
      // References in a circle end at whichever bound comes first.
      if (error instanceof StepsSpent || error instanceof RangeError)
        throw new CheckError('TimeSpent', 'Holding the JSON to the schema takes too long.');
      throw error;
    }
  };
}

/** 2020-12, and the older ones whose documents nearly always mean the same. */
const dialects =
  /^https?:\/\/json-schema\.org\/(draft\/2020-12|draft\/2019-09|draft-0[67])\/schema#?$/;

class StepsSpent extends Error {}

/** Ajv's own pattern is JavaScript's, which a text can hold for ever. */
const linearPattern = Object.assign(
  (pattern: string, _flags: string) => {
    const compiled = compileSafeRegex(pattern);
    if (!compiled.ok) throw new Error(`a pattern ${compiled.fault}`);
    const { regex } = compiled;
    return {
      test(text: string) {
        if (text.length > regex.textMax) throw new StepsSpent();
        return regex.test(text);
      },
    } as RegExp;
  },
  { code: 'linearPattern' },
);

const options: Options = {
  meta: false,
  validateSchema: false,
  // What is unknown says nothing, as the specification has it.
  strict: false,
  logger: false,
  validateFormats: false,
  // A schema that is referred to often would be written out as often.
  inlineRefs: false,
  // What every object inherits is no member of a document.
  ownProperties: true,
  code: { regExp: linearPattern },
};

/** Runs before any other keyword of a schema, `$ref` among them. */
function counting(steps: { left: number }): KeywordDefinition {
  return {
    keyword: costKeyword,
    before: '$ref',
    schemaType: 'number',
    errors: false,
    validate(cost: number, data: unknown, schema?: AnySchemaObject): boolean {
      const items = Array.isArray(data) ? data.length : 0;
      // Objects are told apart by comparing each with each.
      steps.left -= cost + (schema?.uniqueItems === true ? items * items : items);
      if (steps.left < 0) throw new StepsSpent();
      return true;
    },
  };
}

let formOfSchemas: Ajv2020 | undefined;

/** Whether it is written as schemas are; made on first use, since few configs have any. */
function checkForm(schema: JsonObject): void {
  formOfSchemas ??= new Ajv2020({ strict: false, logger: false });
  const { $schema: _dialect, ...rest } = schema;
  if (formOfSchemas.validateSchema(rest)) return;
  throw new Error(told(formOfSchemas.errors?.[0]));
}

function told(error: ErrorObject | undefined): string {
  const where = error?.instancePath === '' ? 'the value' : (error?.instancePath ?? 'the value');
  return `${where} ${error?.message ?? 'is not valid'}`.slice(0, 300);
}
