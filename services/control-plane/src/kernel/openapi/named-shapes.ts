import { isDeepStrictEqual } from 'node:util';
import { type JsonSchema, shapeNameKeyword } from './json-schema.ts';

/** What stands under `components.schemas`, by name. */
export type NamedShapes = Record<string, JsonSchema>;

/**
 * The same description with a reference in place of each shape that has a name. What is said of the place beside the
 * shape, its description and its default, stays there.
 * @param shapes  gets each of them once
 * @throws Error when two different shapes have one name
 */
export function withReferences<T>(described: T, shapes: NamedShapes): T {
  return replaced(described, shapes) as T;
}

function replaced(value: unknown, shapes: NamedShapes): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((each) => replaced(each, shapes));
  const inner = Object.fromEntries(
    Object.entries(value).map(([name, field]) => [name, replaced(field, shapes)]),
  );
  const { [shapeNameKeyword]: name, description, default: standsFor, ...shape } = inner;
  if (typeof name !== 'string') return inner;
  shapes[name] ??= shape;
  if (!isDeepStrictEqual(shapes[name], shape))
    throw new Error(`Two shapes of the admin API are called ${name}.`);
  return {
    $ref: `#/components/schemas/${name}`,
    ...(description !== undefined && { description }),
    ...(standsFor !== undefined && { default: standsFor }),
  };
}
