import { fieldWords, wordOf } from '@sluice/contracts/admin';
import type { JsonSchema } from './json-schema.ts';

/** What a field says of itself, or else what its name means. */
export function descriptionOf(
  name: string,
  schema: JsonSchema,
  context: readonly string[],
): string | undefined {
  if (typeof schema.description === 'string') return schema.description;
  const word = wordOf(name, context);
  return word === undefined ? undefined : fieldWords[word];
}

/**
 * The same schema, with what each of its fields means.
 * @param context the names it stands in, the innermost first
 */
export function describeFields(schema: JsonSchema, context: readonly string[]): JsonSchema {
  const inner = (each: JsonSchema) => describeFields(each, context);
  const { properties, items, additionalProperties, anyOf, oneOf, allOf } = schema;
  return {
    ...schema,
    ...(properties && { properties: describedFields(properties, context) }),
    ...(items && { items: inner(items) }),
    ...(typeof additionalProperties === 'object' && {
      additionalProperties: inner(additionalProperties),
    }),
    ...(anyOf && { anyOf: anyOf.map(inner) }),
    ...(oneOf && { oneOf: oneOf.map(inner) }),
    ...(allOf && { allOf: allOf.map(inner) }),
  };
}

function describedFields(fields: Readonly<Record<string, JsonSchema>>, context: readonly string[]) {
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => {
      const description = descriptionOf(name, field, context);
      const described = describeFields(field, envelopes.has(name) ? context : [name, ...context]);
      return [name, description === undefined ? described : { ...described, description }];
    }),
  );
}

/** What stands in these is what the resource is about. */
const envelopes = new Set(['data', 'records']);
