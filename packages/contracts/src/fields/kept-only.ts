import { z } from 'zod';
import { type Form, namesOf, sentFields } from './sent-fields.ts';

const reasons = z.registry<{ why: string }>();

/**
 * Says of a field, or of a whole body, that it is kept, shown and changed, and that nothing acts by it: whoever sends
 * one is warned, as long as that is so. It is said of this very schema: of one that other fields are made of as well, say
 * it of a wrapper around it.
 */
export function keptOnly<S extends z.ZodType>(schema: S, why: string): S {
  reasons.add(schema, { why });
  return schema;
}

/**
 * An object whose further names are kept as they are, because others' settings have them: nothing acts by those, and
 * whoever sends one is warned, since it may be a slip.
 */
export function openObject<S extends z.core.$ZodLooseShape>(shape: S) {
  return z.object(shape).catchall(unknownName);
}

const unknownName = keptOnly(z.unknown(), 'nothing here has this name');

/** A field that was sent, and does nothing. */
export interface KeptField {
  readonly path: readonly PropertyKey[];
  readonly why: string;
  /** Of a name that nobody knows, those that there are. */
  readonly known: readonly string[];
}

/** Fields with a value that nothing acts by, each named once: what stands in a list, as its first. */
export function keptFields(schema: z.ZodType, value: unknown): readonly KeptField[] {
  const found = new Map<string, KeptField>();
  const why = reasonOf(schema as unknown as Form);
  if (why !== undefined) found.set('', { path: [], why, known: [] });
  for (const { path, value: sent, meant, around } of sentFields(schema, value)) {
    if (saysNothing(sent)) continue;
    const name = path.filter((step) => typeof step !== 'number').join('.');
    const told = meant.map(reasonOf).find((reason) => reason !== undefined);
    if (told === undefined || found.has(name)) continue;
    const names = around.flatMap(namesOf);
    const known = names.includes(String(path.at(-1))) ? [] : names;
    found.set(name, { path, why: told, known });
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
