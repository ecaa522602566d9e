import { z } from 'zod';

/**
 * What a shape is called in the description of the API, where clients that are generated from it have a type of that
 * name: `const apiKey = z.object({ … }).register(shapeNames, { name: 'ApiKey' })`. It is said of this very schema; what
 * is made of it, by `extend` or `omit`, is another.
 */
export const shapeNames = z.registry<{ name: string }>();

/** What a schema was registered as. */
export function shapeNameOf(schema: z.core.$ZodType): string | undefined {
  return shapeNames.get(schema as z.ZodType)?.name;
}
