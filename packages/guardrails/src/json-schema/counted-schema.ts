import { arrayOf, type JsonObject, objectOf } from '@sluice/providers';

/** The keyword that counts: set on every schema within a schema, to what it costs. */
export const costKeyword = 'sluiceCost';

export class SchemaTooLarge extends Error {}

/** Some 50 ms of writing the validator, once for each check of a config. */
const schemasMax = 300;
const depthMax = 64;

/**
 * A copy in which every schema says what it costs, so that whoever validates can
 * count and stop: references make a small schema endless, or double its work with
 * each level of the data.
 * @throws SchemaTooLarge
 */
export function countedSchema(schema: JsonObject): JsonObject {
  let schemas = 0;

  function counted(given: JsonObject, depth: number): JsonObject {
    schemas++;
    if (schemas > schemasMax) throw new SchemaTooLarge(`has more than ${schemasMax} schemas`);
    if (depth > depthMax) throw new SchemaTooLarge(`has more than ${depthMax} levels`);
    const copy: JsonObject = { [costKeyword]: costOf(given) };
    for (const [keyword, value] of Object.entries(given)) {
      if (keyword === costKeyword || keyword === '$schema') continue;
      copy[keyword] = withinKeyword(keyword, value, depth + 1) as JsonObject[string];
    }
    return copy;
  }

  function withinKeyword(keyword: string, value: unknown, depth: number): unknown {
    if (single.has(keyword)) return within(value, depth);
    if (lists.has(keyword)) return arrayOf(value)?.map((item) => within(item, depth)) ?? value;
    if (!maps.has(keyword)) return value;
    const entries = Object.entries(objectOf(value) ?? {});
    // Names are the schema's author's: `__proto__` among them is a name like others.
    return Object.fromEntries(entries.map(([name, item]) => [name, within(item, depth)]));
  }

  function within(value: unknown, depth: number): unknown {
    const inner = objectOf(value);
    return inner === undefined ? value : counted(inner, depth);
  }

  return counted(schema, 0);
}

/** Keywords whose value is a schema, a list of schemas, or schemas by name. */
const single: ReadonlySet<string> = new Set([
  'additionalProperties',
  'contains',
  'contentSchema',
  'else',
  'if',
  'items',
  'not',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
]);
const lists: ReadonlySet<string> = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems']);
const maps: ReadonlySet<string> = new Set([
  '$defs',
  'definitions',
  'dependentSchemas',
  'patternProperties',
  'properties',
]);

/** In steps: what is compared one by one, beside the schema itself. */
function costOf(schema: JsonObject): number {
  const names = ['properties', 'patternProperties', 'dependentSchemas', 'dependentRequired'];
  const named = names.map((keyword) => Object.keys(objectOf(schema[keyword]) ?? {}).length);
  const listed = ['required', 'enum'].map((keyword) => arrayOf(schema[keyword])?.length ?? 0);
  return 1 + Math.ceil([...named, ...listed].reduce((sum, count) => sum + count, 0) / 4);
}
