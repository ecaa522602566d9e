import { z } from 'zod';
import { nameField, referenceField } from './fields.ts';

/** The document itself is checked by `parseConfigDocument`; here it only has to be an object, or one as text. */
const document = z.union([
  z.record(z.string(), z.unknown()),
  z.string().transform((text, context): Record<string, unknown> => {
    try {
      const value: unknown = JSON.parse(text);
      if (typeof value === 'object' && value !== null && !Array.isArray(value))
        return value as Record<string, unknown>;
    } catch {
      // Reported below, together with what is JSON but not an object.
    }
    context.issues.push({ code: 'custom', message: 'must be a JSON object', input: text });
    return z.NEVER;
  }),
]);

const flag = z.union([z.literal(0), z.literal(1), z.boolean()]).transform(Boolean);

export const createConfigBody = z.object({
  name: nameField,
  config: document,
  isDefault: flag.optional(),
  is_default: flag.optional(),
});
export type CreateConfigBody = z.infer<typeof createConfigBody>;

export const updateConfigBody = z.object({
  name: nameField.optional(),
  config: document.optional(),
  status: z.enum(['active', 'archived']).optional(),
  isDefault: flag.optional(),
  is_default: flag.optional(),
});
export type UpdateConfigBody = z.infer<typeof updateConfigBody>;

/** How an organisation key says which workspace it means. */
export const workspaceQuery = z.object({ workspace_id: referenceField.optional() });
