import { z } from 'zod';
import { type Form, sentFields } from './sent-fields.ts';

const reasons = z.registry<{ why: string }>();

/**
 * Says of a field, or of a whole body, that it is kept, shown and changed, and that nothing acts by it: whoever sends
 * one is warned, as long as that is so.
 */
export function keptOnly<S extends z.ZodType>(schema: S, why: string): S {
  reasons.add(schema, { why });
  return schema;
}

/** A field that was sent, and does nothing. */
export interface KeptField {
  readonly path: readonly PropertyKey[];
  readonly why: string;
}

/** Fields with a value that nothing acts by, each named once: what stands in a list, as its first. */
export function keptFields(schema: z.ZodType, value: unknown): readonly KeptField[] {
  const found = new Map<string, KeptField>();
  const why = reasonOf(schema as unknown as Form);
  if (why !== undefined) found.set('', { path: [], why });
  for (const { path, value: sent, meant } of sentFields(schema, value)) {
    if (saysNothing(sent)) continue;
    const name = path.filter((step) => typeof step !== 'number').join('.');
    const told = meant.map(reasonOf).find((reason) => reason !== undefined);
    if (told !== undefined && !found.has(name)) found.set(name, { path, why: told });
  }
  return [...found.values()];
}

function saysNothing(value: unknown): boolean {
  return value === null || (Array.isArray(value) && value.length === 0);
}

/** Of a schema, or of what is wrapped in it. */
function reasonOf(schema: Form): string | undefined {
  for (let form: Form | undefined = schema; form !== undefined; form = form._zod.def.innerType) {
    const reason = reasons.get(form as unknown as z.ZodType);
    if (reason !== undefined) return reason.why;
  }
  return undefined;
}
