import type { z } from 'zod';
import { type CheckId, checkDeclarations, type ParametersOf } from './declarations.ts';

export type ReadParameters<Parameters> =
  | { readonly ok: true; readonly parameters: Parameters }
  /** A sentence that names the parameter. */
  | { readonly ok: false; readonly fault: string };

const schemas: { readonly [Id in CheckId]: { readonly parameters: z.ZodType<ParametersOf<Id>> } } =
  checkDeclarations;

/** The parameters of a check as its declaration has them, with what was left out filled in. */
export function readParameters<Id extends CheckId>(
  id: Id,
  given: unknown,
): ReadParameters<ParametersOf<Id>> {
  const result = schemas[id].parameters.safeParse(given);
  if (result.success) return { ok: true, parameters: result.data };
  const issue = result.error.issues[0];
  const path = ['parameters', ...(issue?.path ?? [])].map(String).join('.');
  return { ok: false, fault: `${path}: ${issue?.message ?? 'is not valid'}.` };
}
