/**
 * JSON schemas as Anthropic's constrained answers and strict tools take them: a
 * part of the language, every object closed. What the rest says is told in the
 * description, which the model reads and nothing enforces.
 * https://platform.claude.com/docs/en/build-with-claude/structured-outputs
 */
import type { JsonObject, JsonValue } from '@sluice/contracts';
import { arrayOf, objectOf, stringOf } from '../../json/json-access.ts';

/** Taken as they are. Values within are data, whatever they look like. */
const plainKeywords = new Set([
  'type',
  'default',
  'title',
  'description',
  'required',
  '$ref',
  '$id',
  '$schema',
  '$comment',
]);

/** Each member is a schema. */
const mapKeywords = new Set(['properties', '$defs', 'definitions']);

const listKeywords = new Set(['anyOf', 'allOf']);

const formats = new Set(
  'date-time time date duration email hostname uri ipv4 ipv6 uuid'.split(' '),
);

/** Say nothing of a value. */
const silentKeywords = new Set(['deprecated', 'readOnly', 'writeOnly', '$anchor']);

/**
 * The schema, closed; `undefined` when it has what cannot be closed without
 * changing what it means: objects of any members, and schemas within themselves.
 * `moved` gets the paths of what went into descriptions.
 */
export function closedSchema(
  schema: JsonObject,
  path: string,
  moved: string[],
): JsonObject | undefined {
  return new Openness(schema).isOpen(schema) ? undefined : closed(schema, path, moved);
}

function closed(schema: JsonObject, path: string, moved: string[]): JsonObject {
  const result: JsonObject = {};
  const told: string[] = [];
  for (const key in schema) {
    const value = schema[key] as JsonValue;
    const at = `${path}.${key}`;
    if (plainKeywords.has(key) || isTaken(key, value)) result[key] = value;
    else if (mapKeywords.has(key)) result[key] = closedMembers(value, at, moved);
    else if (listKeywords.has(key)) result[key] = closedList(value, at, moved);
    // Which of them holds is told by the answer: what fits two of them is the model's to avoid.
    else if (key === 'oneOf' && schema.anyOf === undefined)
      result.anyOf = closedList(value, at, moved);
    else if (key === 'items' && objectOf(value) !== undefined)
      result.items = closed(value as JsonObject, at, moved);
    else if (key === 'additionalProperties') {
      if (value === true) moved.push(at);
    } else if (!silentKeywords.has(key)) {
      told.push(`${key}: ${JSON.stringify(value)}`);
      moved.push(at);
    }
  }
  if (isObjectSchema(schema)) result.additionalProperties = false;
  if (told.length > 0) result.description = describe(schema, told);
  return result;
}

/** Keywords that are taken with some values only. */
function isTaken(key: string, value: JsonValue): boolean {
  if (key === 'format') return formats.has(String(value));
  if (key === 'const') return isScalar(value);
  if (key === 'enum') return arrayOf(value)?.every(isScalar) === true;
  return key === 'minItems' && (value === 0 || value === 1);
}

function isScalar(value: JsonValue): boolean {
  return typeof value !== 'object' || value === null;
}

function describe(schema: JsonObject, told: readonly string[]): string {
  const own = stringOf(schema.description);
  const rules = `Must hold: ${told.join('; ')}.`;
  return own === undefined || own === '' ? rules : `${own}\n${rules}`;
}

function closedMembers(value: JsonValue, path: string, moved: string[]): JsonObject {
  const members = objectOf(value) ?? {};
  const result: JsonObject = {};
  for (const name in members)
    result[name] = closedValue(members[name] as JsonValue, `${path}.${name}`, moved);
  return result;
}

function closedList(value: JsonValue, path: string, moved: string[]): JsonValue {
  return (arrayOf(value) ?? []).map((entry, index) =>
    closedValue(entry, `${path}[${index}]`, moved),
  );
}

function closedValue(value: JsonValue, path: string, moved: string[]): JsonValue {
  const schema = objectOf(value);
  return schema === undefined ? value : closed(schema, path, moved);
}

function isObjectSchema(schema: JsonObject): boolean {
  const types = arrayOf(schema.type) ?? [schema.type];
  return types.includes('object') || objectOf(schema.properties) !== undefined;
}

/** Whether a schema has values that nobody lists, or leads back to itself. */
class Openness {
  #root: JsonObject;
  /** Those that a value is looked for in, and those known to be closed: definitions may be used often. */
  #above = new Set<JsonObject>();
  #closed = new Set<JsonObject>();

  constructor(root: JsonObject) {
    this.#root = root;
  }

  isOpen(schema: JsonObject): boolean {
    if (this.#closed.has(schema)) return false;
    if (this.#above.has(schema) || isAnything(schema) || isMap(schema)) return true;
    this.#above.add(schema);
    const parts = partsOf(schema);
    if (schema.$ref !== undefined) parts.push(pointedAt(this.#root, schema.$ref));
    const isOpen = parts.some((part) => {
      const inner = objectOf(part);
      return inner === undefined ? part === true : this.isOpen(inner);
    });
    this.#above.delete(schema);
    if (!isOpen) this.#closed.add(schema);
    return isOpen;
  }
}

const shaping = ['type', 'anyOf', 'oneOf', 'allOf', '$ref', 'properties'];

/** Values that go into the description shape nothing. */
function isAnything(schema: JsonObject): boolean {
  const isListed = ['enum', 'const'].some((key) => {
    const value = schema[key];
    return value !== undefined && isTaken(key, value);
  });
  return !isListed && shaping.every((key) => schema[key] === undefined);
}

function isMap(schema: JsonObject): boolean {
  if (!isObjectSchema(schema)) return false;
  const { additionalProperties: further } = schema;
  if (objectOf(further) !== undefined || schema.patternProperties !== undefined) return true;
  const isListed = objectOf(schema.properties) !== undefined;
  const isElsewhere = ['$ref', 'anyOf', 'oneOf', 'allOf'].some((key) => schema[key] !== undefined);
  return !isListed && !isElsewhere && further !== false;
}

/** The schemas directly within one that say how its value looks. Definitions count where they are pointed at. */
function partsOf(schema: JsonObject): (JsonValue | undefined)[] {
  return [
    ...Object.values(objectOf(schema.properties) ?? {}),
    ...(arrayOf(schema.anyOf) ?? []),
    ...(arrayOf(schema.oneOf) ?? []),
    ...(arrayOf(schema.allOf) ?? []),
    schema.items,
  ];
}

function pointedAt(root: JsonObject, reference: JsonValue): JsonValue | undefined {
  const [start, ...steps] = String(reference).split('/');
  let found: JsonValue | undefined = start === '#' ? root : undefined;
  for (const step of steps)
    found = objectOf(found)?.[step.replaceAll('~1', '/').replaceAll('~0', '~')];
  return found;
}
