import { shapeNameOf } from '@sluice/contracts/admin';
import { z } from 'zod';

/** As much of a JSON Schema as is looked at here. */
export interface JsonSchema {
  readonly [keyword: string]: unknown;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: JsonSchema | boolean;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
}

/** Where a shape has a name, which the document refers to it by. */
export const shapeNameKeyword = 'x-shape-name';

/** What a caller may send. */
export function requestSchema(schema: z.ZodType): JsonSchema {
  return describe(schema, 'input');
}

/** What a caller gets. Later versions may answer more, so nothing is said of fields that are not listed. */
export function answerSchema(schema: z.ZodType): JsonSchema {
  return describe(schema, 'output');
}

function describe(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  const { $schema: _dialect, ...described } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override({ zodSchema, jsonSchema }) {
      if (io === 'input') tellWhatIsTaken(zodSchema, jsonSchema);
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
      // A number or a flag in a query is text to the parser, and not to who sends it.
      if (jsonSchema.type !== 'string') delete jsonSchema.pattern;
      if (jsonSchema.type === 'boolean') delete jsonSchema.enum;
      nameIdByPattern(jsonSchema);
      const name = shapeNameOf(zodSchema);
      if (name !== undefined) jsonSchema[shapeNameKeyword] = name;
    },
  });
  return described as JsonSchema;
}

/**
 * What zod does not tell of an input: that a field must be there although something stands for it when it is absent
 * (of an empty object, `{}`, a required field is missing), and which values are taken after text was made uniform.
 */
function tellWhatIsTaken(schema: z.core.$ZodType, described: z.core.JSONSchema.JSONSchema): void {
  if (described.default !== undefined) tellWhatStandsFor(schema, described);
  if (schema instanceof z.ZodObject && described.properties !== undefined) {
    const needed = Object.keys(described.properties).filter(
      (name) => schema.shape[name] !== undefined && !takes(schema.shape[name], undefined),
    );
    if (needed.length > 0) described.required = needed;
  }
  if (schema instanceof z.ZodPipe && described.type === 'string') {
    const { out } = schema.def;
    if (out instanceof z.ZodEnum) described.enum = out.options;
    // A list as text.
    if (out instanceof z.ZodArray && out.element instanceof z.ZodEnum) {
      const one = `(?:${out.element.options.join('|')})`;
      described.pattern = `^${one}(?:,${one})*$`;
    }
  }
}

/**
 * Of an object, all that `{}` comes to: a client's type asks for each field that has a value when none is sent. What the
 * schema refuses stands for nothing.
 */
function tellWhatStandsFor(schema: z.core.$ZodType, described: z.core.JSONSchema.JSONSchema): void {
  const { success, data } = z.safeParse(schema, described.default);
  if (!success) delete described.default;
  else if (isObject(described.default) && takes(schema, data)) described.default = data as object;
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function takes(schema: z.core.$ZodType, value: unknown): boolean {
  return z.safeParse(schema, value).success;
}

/** Readers of OpenAPI take anything called `$id` for the address of a schema, even a property. */
function nameIdByPattern(schema: z.core.JSONSchema.JSONSchema): void {
  const { $id, ...properties } = schema.properties ?? {};
  if ($id !== undefined)
    Object.assign(schema, { properties, patternProperties: { '^\\$id$': $id } });
}

/** A schema without unions and intersections: all the forms that it may have, each of one type. */
export function alternatives(schema: JsonSchema): JsonSchema[] {
  const parts = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])];
  if (parts.length > 0) return parts.flatMap(alternatives);
  return Array.isArray(schema.type) ? schema.type.map((type) => ({ ...schema, type })) : [schema];
}

/** The properties of an object, whatever it is put together from. */
export function propertiesOf(schema: JsonSchema): Record<string, JsonSchema> {
  return Object.assign({}, ...alternatives(schema).map((each) => each.properties ?? {}));
}
