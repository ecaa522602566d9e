import { type Json, type JsonRecord, listOf, recordOf } from './refusal.ts';

const refused = new Set(
  `minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength pattern maxItems
  uniqueItems contains minProperties maxProperties patternProperties propertyNames oneOf not if then
  else prefixItems dependentSchemas dependentRequired unevaluatedProperties`.split(/\s+/),
);

const formats = 'date-time time date duration email hostname uri ipv4 ipv6 uuid'.split(' ');

/** What is wrong with a schema for constrained answers; undefined = nothing. */
export function refuseSchema(root: Json, path: string): string | undefined {
  return faultOf(recordOf(root), path, recordOf(root), []);
}

function faultOf(
  schema: JsonRecord,
  path: string,
  root: JsonRecord,
  above: readonly JsonRecord[],
): string | undefined {
  if (above.includes(schema)) return `${path}: Recursive schemas are not supported.`;
  for (const key in schema)
    if (refused.has(key))
      return `${path}: For '${schema.type}' type, property '${key}' is not supported`;
  if (typeof schema.minItems === 'number' && schema.minItems > 1)
    return `${path}: For 'array' type, 'minItems' values other than 0 or 1 are not supported`;
  if (schema.format !== undefined && !formats.includes(String(schema.format)))
    return `${path}: String format '${schema.format}' is not supported`;
  if (listOf(schema.enum).some((value) => typeof value === 'object' && value !== null))
    return `${path}: Enum values must be primitive`;
  const isObject = schema.type === 'object' || listOf(schema.type).includes('object');
  if (isObject && schema.additionalProperties !== false)
    return `${path}: For 'object' type, 'additionalProperties' must be explicitly set to false`;
  const within = [...above, schema];
  for (const [at, part] of partsOf(schema, path)) {
    const fault = faultOf(recordOf(part), at, root, within);
    if (fault !== undefined) return fault;
  }
  const target = targetOf(root, schema.$ref);
  return target === undefined ? undefined : faultOf(target, path, root, within);
}

function partsOf(schema: JsonRecord, path: string): [path: string, part: Json][] {
  const parts: [string, Json][] = [];
  // Definitions are looked at where they are pointed at.
  for (const key of ['properties', '$defs', 'definitions'])
    for (const [name, part] of Object.entries(recordOf(schema[key])))
      if (key === 'properties') parts.push([`${path}.${name}`, part]);
  for (const key of ['anyOf', 'allOf'])
    for (const part of listOf(schema[key])) parts.push([`${path}.${key}`, part]);
  if (schema.items !== undefined) parts.push([`${path}.items`, schema.items]);
  return parts;
}

function targetOf(root: JsonRecord, reference: Json | undefined): JsonRecord | undefined {
  if (typeof reference !== 'string') return undefined;
  let found: Json = root;
  for (const step of reference.split('/').slice(1)) found = recordOf(found)[step] ?? null;
  return recordOf(found);
}
