import { isObject, type JsonObject } from './protocol.ts';

const depthMax = 20;

/**
 * A value that a JSON schema accepts, plausible and always the same: the
 * schema's own default, example or first choice where it has one. `hint` is
 * the user's text; it fills the first plain string.
 */
export function sampleFor(schema: unknown, hint = 'example'): unknown {
  const root = isObject(schema) ? schema : {};
  return sample(root, { root, hint, depth: 0 });
}

interface Sampling {
  root: JsonObject;
  hint: string;
  depth: number;
}

function sample(schema: unknown, sampling: Sampling): unknown {
  if (!isObject(schema) || sampling.depth > depthMax) return sampling.hint;
  const deeper = { ...sampling, depth: sampling.depth + 1 };
  const resolved = typeof schema.$ref === 'string' ? lookUp(schema.$ref, sampling.root) : undefined;
  if (resolved !== undefined) return sample(resolved, deeper);
  for (const key of ['const', 'default'] as const)
    if (schema[key] !== undefined) return schema[key];
  for (const key of ['enum', 'examples'] as const) {
    const choices = schema[key];
    if (Array.isArray(choices) && choices.length > 0) return choices[0];
  }
  for (const key of ['anyOf', 'oneOf', 'allOf'] as const) {
    const choices = schema[key];
    if (Array.isArray(choices) && choices.length > 0) return sample(choices[0], deeper);
  }
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  if (type === 'object' || schema.properties !== undefined) return sampleObject(schema, deeper);
  if (type === 'array') return schema.minItems === 0 ? [] : [sample(schema.items, deeper)];
  if (type === 'number' || type === 'integer')
    return typeof schema.minimum === 'number' ? schema.minimum : 1;
  if (type === 'boolean') return true;
  if (type === 'null') return null;
  return sampleString(schema, sampling.hint);
}

/** Required properties only when they are named; else all, as a model tends to fill them. */
function sampleObject(schema: JsonObject, sampling: Sampling): JsonObject {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required)
    ? schema.required.map(String)
    : Object.keys(properties);
  return Object.fromEntries(
    required.map((name) => [name, sample(properties[name] ?? {}, sampling)]),
  );
}

function sampleString(schema: JsonObject, hint: string): string {
  if (schema.format === 'date-time') return '2025-01-01T00:00:00Z';
  if (schema.format === 'date') return '2025-01-01';
  if (schema.format === 'uuid') return '00000000-0000-4000-8000-000000000000';
  if (schema.format === 'email') return 'someone@example.com';
  if (schema.format === 'uri') return 'https://example.com/';
  return typeof schema.maxLength === 'number' ? hint.slice(0, schema.maxLength) : hint;
}

function lookUp(reference: string, root: JsonObject): unknown {
  if (!reference.startsWith('#/')) return undefined;
  let value: unknown = root;
  for (const step of reference.slice(2).split('/'))
    value = isObject(value) ? value[step] : undefined;
  return value;
}
