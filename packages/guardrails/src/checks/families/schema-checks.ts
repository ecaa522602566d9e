import type { schemaChecks } from '@sluice/contracts/checks';
import type { CompilersOf } from '../../compile.ts';
import { jsonSchema } from '../json-schema.ts';

export const schemaCompilers: CompilersOf<typeof schemaChecks> = {
  'default.jsonSchema': jsonSchema,
};
