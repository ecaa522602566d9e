import type { z } from 'zod';

/** A field that was sent and has no meaning where it stands. */
export interface UnknownField {
  readonly path: readonly PropertyKey[];
  /** The names that have one there, in the order in which they are declared. */
  readonly known: readonly string[];
}

/** Bodies are bounded in bytes and in depth; this bounds the answer. */
const unknownMax = 20;

/**
 * Finds what a schema would leave out of a value without a word: properties that no form of an object knows, at any
 * depth. Of a value that may have several forms, each that fits its discriminator counts.
 * @returns at most 20, in the order in which they were sent
 */
export function unknownFields(schema: z.ZodType, value: unknown): readonly UnknownField[] {
  const found: UnknownField[] = [];
  search([schema as unknown as Form], value, [], found);
  return found;
}

/** As much of a schema's inner side as is looked at; Zod publishes it for libraries (`_zod.def`). */
interface Form {
  readonly _zod: {
    readonly def: {
      readonly type: string;
      readonly shape?: Readonly<Record<string, Form>>;
      readonly catchall?: Form;
      readonly element?: Form;
      readonly items?: readonly Form[];
      readonly rest?: Form | null;
      readonly valueType?: Form;
      readonly options?: readonly Form[];
      readonly discriminator?: string;
      readonly left?: Form;
      readonly right?: Form;
      readonly in?: Form;
      readonly out?: Form;
      readonly innerType?: Form;
      readonly getter?: () => Form;
    };
    readonly propValues?: Readonly<Record<string, ReadonlySet<unknown>>>;
  };
}

function search(
  schemas: readonly Form[],
  value: unknown,
  path: readonly PropertyKey[],
  found: UnknownField[],
): void {
  if (typeof value !== 'object' || value === null) return;
  const forms = schemas.flatMap((schema) => plainForms(schema, value));
  if (Array.isArray(value)) searchItems(forms, value, path, found);
  // Else whatever is in there has a meaning that no schema tells.
  else if (!forms.includes(anything)) searchFields(forms, value, path, found);
}

function searchFields(
  forms: readonly Form[],
  value: object,
  path: readonly PropertyKey[],
  found: UnknownField[],
): void {
  const objects = forms.filter(({ _zod: { def } }) => def.shape ?? def.valueType);
  if (objects.length === 0) return;
  for (const [name, inner] of Object.entries(value)) {
    if (found.length >= unknownMax) return;
    const meant = objects.flatMap((form) => fieldOf(form, name) ?? []);
    if (meant.length > 0) search(meant, inner, [...path, name], found);
    else found.push({ path: [...path, name], known: objects.flatMap(namesOf) });
  }
}

function searchItems(
  forms: readonly Form[],
  value: readonly unknown[],
  path: readonly PropertyKey[],
  found: UnknownField[],
): void {
  for (const [index, item] of value.entries()) {
    if (found.length >= unknownMax) return;
    const meant = forms.flatMap(({ _zod: { def } }) => {
      if (def.type === 'array') return def.element ?? [];
      return def.items?.[index] ?? def.rest ?? [];
    });
    search(meant, item, [...path, index], found);
  }
}

/** What a schema says of a value, without what is wrapped around it. */
function plainForms(schema: Form, value: object): readonly Form[] {
  const { def } = schema._zod;
  switch (def.type) {
    case 'union':
      return meantOptions(def, value).flatMap((option) => plainForms(option, value));
    case 'intersection':
      return [def.left, def.right].flatMap((side) => (side ? plainForms(side, value) : []));
    case 'pipe': {
      // What is prepared for a schema has that schema's fields; what is made of one had them before.
      const side = def.in?._zod.def.type === 'transform' ? def.out : def.in;
      return side ? plainForms(side, value) : [];
    }
    case 'lazy':
      return def.getter ? plainForms(def.getter(), value) : [];
    case 'unknown':
    case 'any':
    case 'custom':
      return [anything];
    default:
      return def.innerType ? plainForms(def.innerType, value) : [schema];
  }
}

const anything: Form = { _zod: { def: { type: 'any' } } };

/** All options, or those that the value's discriminator names, where there are such. */
function meantOptions(def: Form['_zod']['def'], value: object): readonly Form[] {
  const { options = [], discriminator } = def;
  if (discriminator === undefined) return options;
  const told = (value as Record<string, unknown>)[discriminator];
  const meant = options.filter((option) => option._zod.propValues?.[discriminator]?.has(told));
  return meant.length > 0 ? meant : options;
}

function fieldOf({ _zod: { def } }: Form, name: string): Form | undefined {
  if (def.shape === undefined) return def.valueType;
  if (Object.hasOwn(def.shape, name)) return def.shape[name];
  // `strictObject` has `never` here, and says itself what it does not know.
  return def.catchall;
}

function namesOf({ _zod: { def } }: Form): string[] {
  return Object.keys(def.shape ?? {});
}
