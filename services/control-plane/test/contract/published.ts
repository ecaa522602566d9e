import { readFileSync } from 'node:fs';
import { alternatives, type JsonSchema } from '../../src/kernel/openapi/json-schema.ts';

/** The facts of one operation of the published description. */
export interface PublishedOperation {
  readonly operationId: string;
  readonly method: string;
  readonly path: string;
  readonly plane: 'control' | 'data' | 'public';
  readonly statuses: readonly number[];
  /** Only the existence of the operation is documented, not what it takes and answers. */
  readonly uncertain?: true;
  readonly query?: Readonly<Record<string, PublishedSchema>>;
  readonly requiredQuery?: readonly string[];
  readonly body?: PublishedSchema;
  readonly answer?: PublishedSchema;
}

/** As in OpenAPI 3.0: `nullable` instead of a type `null`, and named schemas by `$ref`. */
export type PublishedSchema = JsonSchema & { readonly nullable?: boolean };

const facts: {
  operations: PublishedOperation[];
  schemas: Record<string, PublishedSchema>;
} = JSON.parse(readFileSync(new URL('fixtures/published.json', import.meta.url), 'utf8'));

export const publishedOperations: readonly PublishedOperation[] = facts.operations;

/** Where our description of requests does not take what is published, as "path: what" lines. */
export function requestFaults(published: JsonSchema, ours: JsonSchema, at: string): string[] {
  const [theirs, own] = [formsOf(published), formsOf(ours)];
  if (own.takesAnything || theirs.takesAnything) return [];
  const refused = [...theirs.types].filter((type) => !includesType(own.types, type));
  const unknown = missing(theirs.values, own.values);
  return [
    ...refused.map((type) => `${at}: does not take ${type}`),
    ...unknown.map((value) => `${at}: does not take ${JSON.stringify(value)}`),
    ...[...own.required]
      .filter((name) => !theirs.required.has(name))
      .map((name) => `${at}.${name}: is required`),
    ...inner(theirs, own, at, requestFaults),
  ];
}

/** Where our description of answers is not what is published. */
export function answerFaults(published: JsonSchema, ours: JsonSchema, at: string): string[] {
  const [theirs, own] = [formsOf(published), formsOf(ours)];
  if (theirs.takesAnything) return [];
  if (own.takesAnything) return [`${at}: may be anything`];
  const strange = [...own.types].filter((type) => !includesType(theirs.types, type));
  const unknown = theirs.values === undefined ? [] : missing(own.values, theirs.values);
  return [
    ...strange.map((type) => `${at}: may be ${type}`),
    ...unknown.map((value) => `${at}: may be ${JSON.stringify(value)}`),
    ...inner(theirs, own, at, answerFaults),
  ];
}

/** What the field of a schema may have in it, in all of its forms. */
export function namesWithin(schema: JsonSchema, field: string): string[] {
  const within = formsOf(schema).properties[field];
  return within === undefined ? [] : Object.keys(formsOf(within).properties);
}

/** All the forms of a schema taken together. */
interface Forms {
  readonly takesAnything: boolean;
  readonly types: ReadonlySet<string>;
  /** The only values there are, when they are listed. */
  readonly values: readonly unknown[] | undefined;
  readonly properties: Readonly<Record<string, JsonSchema>>;
  readonly required: ReadonlySet<string>;
  readonly items: JsonSchema | undefined;
  /** Has properties of any name. */
  readonly isOpen: boolean;
}

function formsOf(schema: JsonSchema): Forms {
  const forms = resolved(schema);
  const objects = forms.filter((form) => typeOf(form) === 'object');
  const listed = forms.map(valuesOf);
  const names = objects.flatMap((form) => Object.keys(form.properties ?? {}));
  return {
    takesAnything: forms.some((form) => typeOf(form) === undefined),
    types: new Set(
      forms.flatMap((form) => [typeOf(form) ?? '', ...(form.nullable === true ? ['null'] : [])]),
    ),
    values: listed.every((values) => values !== undefined) ? listed.flat() : undefined,
    properties: Object.fromEntries(
      names.map((name) => [name, together(objects.map((form) => form.properties?.[name]))]),
    ),
    required: new Set(
      names.filter((name) => objects.every((form) => form.required?.includes(name))),
    ),
    items: forms.some((form) => form.items) ? together(forms.map((form) => form.items)) : undefined,
    isOpen: objects.some(
      (form) => form.properties === undefined || typeof form.additionalProperties === 'object',
    ),
  };
}

function resolved(schema: JsonSchema): PublishedSchema[] {
  return alternatives(schema).flatMap((form) => {
    const named = typeof form.$ref === 'string' ? facts.schemas[form.$ref] : undefined;
    return named === undefined ? [form] : resolved(named);
  });
}

function typeOf(form: JsonSchema): string | undefined {
  if (typeof form.type === 'string') return form.type;
  const [value] = valuesOf(form) ?? [];
  return value === undefined ? undefined : typeof value;
}

function valuesOf(form: JsonSchema): readonly unknown[] | undefined {
  if (form.type === 'null') return [];
  return form.const === undefined ? form.enum : [form.const];
}

function together(schemas: readonly (JsonSchema | undefined)[]): JsonSchema {
  return { anyOf: schemas.filter((schema) => schema !== undefined) };
}

function includesType(types: ReadonlySet<string>, type: string): boolean {
  return types.has(type) || (type === 'integer' && types.has('number'));
}

function missing(
  values: readonly unknown[] | undefined,
  known: readonly unknown[] | undefined,
): unknown[] {
  if (known === undefined) return [];
  return values === undefined ? ['any text'] : values.filter((value) => !known.includes(value));
}

/** The same question, asked of properties and of elements. */
function inner(theirs: Forms, own: Forms, at: string, faults: typeof requestFaults): string[] {
  const properties = Object.entries(theirs.properties).flatMap(([name, schema]) => {
    const ours = own.properties[name];
    if (ours !== undefined) return faults(schema, ours, `${at}.${name}`);
    return own.isOpen ? [] : [`${at}.${name}: is not known`];
  });
  if (theirs.items === undefined || own.items === undefined) return properties;
  return [...properties, ...faults(theirs.items, own.items, `${at}[]`)];
}
