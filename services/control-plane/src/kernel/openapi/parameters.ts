import type { Endpoint } from '@sluice/contracts/admin';
import { alternatives, type JsonSchema, propertiesOf, requestSchema } from './json-schema.ts';

/** The parameters in a path, in order. */
export function pathParameters(path: string): string[] {
  return [...path.matchAll(/\{([^}]+)\}/g)].map(([, name = '']) => name);
}

/** The parameters of a query by name, and whether each must be there. */
export function queryParameters(
  query: Endpoint['query'],
): Record<string, { schema: JsonSchema; required: boolean }> {
  if (query === undefined) return {};
  const described = requestSchema(query);
  const required = alternatives(described).flatMap((each) => each.required ?? []);
  return Object.fromEntries(
    Object.entries(propertiesOf(described)).map(([name, schema]) => [
      name,
      { schema, required: required.includes(name) },
    ]),
  );
}
