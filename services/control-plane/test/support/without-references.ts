import { type JsonSchema, propertiesOf } from '../../src/kernel/openapi/json-schema.ts';

/**
 * A description as it would be without names for its shapes, for tests of what is said of each operation: references
 * to schemas replaced by what they refer to, and what is said beside a shape among its own fields.
 */
export function withoutReferences<T>(document: T): T {
  const { schemas } = (document as { components: { schemas: Record<string, JsonSchema> } })
    .components;
  const plain = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map(plain);
    const fields = Object.entries(value).map(([name, field]) => [name, plain(field)]);
    const { $ref, ...others } = Object.fromEntries(fields) as JsonSchema;
    const named = typeof $ref === 'string' ? schemas[$ref.replace(schemaPrefix, '')] : undefined;
    if (named !== undefined) return { ...(plain(named) as object), ...others };
    const [shape, beside] = others.allOf ?? [];
    if ($ref === undefined && isShape(value) && shape !== undefined && beside !== undefined)
      return { ...shape, properties: propertiesOf(others) };
    return Object.fromEntries(fields);
  };
  return plain(document) as T;
}

const schemaPrefix = '#/components/schemas/';

/** A shape with a name, and what is said beside it. */
function isShape({ allOf }: { readonly allOf?: readonly JsonSchema[] }): boolean {
  return allOf?.length === 2 && typeof allOf[0]?.$ref === 'string';
}
