import { z } from 'zod';
import type { CheckDeclaration } from '../declaration.ts';
import { not, parameters, subjects } from '../parameter-fields.ts';

/** Checks that hold what is written to a schema. */
export const schemaChecks = {
  'default.jsonSchema': {
    parameters: parameters({ schema: z.record(z.string(), z.unknown()), not, subjects }),
  },
} satisfies Record<string, CheckDeclaration>;
