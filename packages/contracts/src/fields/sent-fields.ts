import type { z } from 'zod';

/** As much of a schema's inner side as is looked at; Zod publishes it for libraries (`_zod.def`). */
export interface Form {
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

/** A field of a value, with what a schema says of it. */
export interface SentField {
  readonly path: readonly PropertyKey[];
  readonly value: unknown;
  /** What it may be; none where no form of the object around it knows its name. */
  readonly meant: readonly Form[];
  /** The objects that it may be a field of. */
  readonly around: readonly Form[];
}

/** The fields of a value at any depth, as far as a schema tells what they are, in the order in which they were sent. */
export function sentFields(schema: z.ZodType, value: unknown): Generator<SentField> {
  return search([schema as unknown as Form], value, []);
}

function* search(
  schemas: readonly Form[],
  value: unknown,
  path: readonly PropertyKey[],
): Generator<SentField> {
  if (typeof value !== 'object' || value === null) return;
  const forms = schemas.flatMap((schema) => plainForms(schema, value));
  if (Array.isArray(value)) yield* searchItems(forms, value, path);
  // Else whatever is in there has a meaning that no schema tells.
  else if (!forms.includes(anything)) yield* searchFields(forms, value, path);
}

function* searchFields(
  forms: readonly Form[],
  value: object,
  path: readonly PropertyKey[],
): Generator<SentField> {
  const around = forms.filter(({ _zod: { def } }) => def.shape ?? def.valueType);
  if (around.length === 0) return;
  for (const [name, inner] of Object.entries(value)) {
    const meant = around.flatMap((form) => fieldOf(form, name) ?? []);
    const at = [...path, name];
    yield { path: at, value: inner, meant, around };
    if (meant.length > 0) yield* search(meant, inner, at);
  }
}

function* searchItems(
  forms: readonly Form[],
  value: readonly unknown[],
  path: readonly PropertyKey[],
): Generator<SentField> {
  for (const [index, item] of value.entries()) {
    const meant = forms.flatMap(({ _zod: { def } }) => {
      if (def.type === 'array') return def.element ?? [];
      return def.items?.[index] ?? def.rest ?? [];
    });
    yield* search(meant, item, [...path, index]);
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

/** The names that an object declares. */
export function namesOf({ _zod: { def } }: Form): string[] {
  return Object.keys(def.shape ?? {});
}
