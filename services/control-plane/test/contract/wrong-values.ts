import { inTurns, isLongForm } from '@sluice/testkit';
import type { z } from 'zod';
import {
  alternatives,
  type JsonSchema,
  requestSchema,
} from '../../src/kernel/openapi/json-schema.ts';
import { queryParameters } from '../../src/kernel/openapi/parameters.ts';

/** A change of a valid body that makes it invalid. */
export interface WrongValue {
  readonly path: readonly (string | number)[];
  readonly value: unknown;
  /** Where the fault may be told to be: mostly the field itself, or one that it goes with. */
  readonly faultIn: readonly string[];
}

const bodyBytesMax = 1_000_000;
const addressBytesMax = 8_000;
const huge = '99999999999999999999';
/** A value of every kind, and what is nearly one. */
const values = [null, true, 5, -1, 1.5, 2 ** 60, '', 'ü ! ü', 'soon', '5', [], [[]], {}, ['x']];
/** The same for a query, where everything is text, and comes once. */
const texts = ['', 'x', '-1', '1.5', '1e3', '0x1', huge, '[]', '{', 'a,b', ['1', '1']];

/**
 * Wrong values for every field of a valid body, as deep as it goes: other types,
 * values just beyond each limit, and nothing where something is required. What a
 * field takes is left out, so a field that takes anything has none. The suite takes some of each, in turns.
 */
export function wrongValues(schema: z.ZodType, body: unknown): WrongValue[] {
  const described = requestSchema(schema);
  return pathsOf(body).flatMap((path, at) => {
    const limits = () =>
      schemasAt(described, path).flatMap((each) =>
        beyond(
          each,
          valueAt(body, path),
          bodyBytesMax,
          (list) => schema.safeParse(withValue(body, path, list)).success,
        ),
      );
    // A missing element of a list is null.
    const nothing = typeof path.at(-1) === 'string' ? [undefined] : [];
    const asWrong = (value: unknown) => {
      const faultIn = faultsIn(schema, withValue(body, path, value));
      return faultIn.length > 0 ? [{ path, value, faultIn }] : [];
    };
    const kinds = [
      () => inTurns(limits().flatMap(asWrong), 4, at),
      () => (isLongForm ? halved(values.flatMap(asWrong), at) : firstOf(values, asWrong, at)),
      () => nothing.flatMap(asWrong),
    ];
    return ofKinds(kinds, path.length === 1 ? 2 : 1, at);
  });
}

/** In the suite as many kinds as are wanted, others for the next field; in the long form (`npm run abuse`) all. */
function ofKinds<T>(kinds: readonly (() => T[])[], wanted: number, turn: number): T[] {
  const first = turn % kinds.length;
  const found: T[][] = [];
  for (const kind of [...kinds.slice(first), ...kinds.slice(0, first)]) {
    const some = kind();
    if (some.length > 0) found.push(some);
    if (!isLongForm && found.length === wanted) break;
  }
  return found.flat();
}

/** The first that is wrong, beginning at another one for each turn. */
function firstOf<V, T>(tried: readonly V[], asWrong: (value: V) => T[], turn: number): T[] {
  for (let step = 0; step < tried.length; step += 1) {
    const found = asWrong(tried[(turn + step) % tried.length] as V);
    if (found.length > 0) return found;
  }
  return [];
}

/** Also in the long form a field of a body gets every second value, and the next field the others. */
function halved<T>(wrong: readonly T[], turn: number): T[] {
  return wrong.filter((_value, index) => (index + turn) % Math.min(2, wrong.length) === 0);
}

/** The top fields that are wrong in a body as it arrives: JSON has no undefined. */
function faultsIn(schema: z.ZodType, body: unknown): string[] {
  const { error } = schema.safeParse(JSON.parse(JSON.stringify(body)));
  return (error?.issues ?? []).map(({ path }) => ['body', ...path.slice(0, 1)].join('.'));
}

/** The same for every parameter that an operation takes. */
export function wrongParameters(
  schema: z.ZodType,
  query: Readonly<Record<string, string>>,
): { name: string; value: string | readonly string[] | undefined }[] {
  return Object.entries(queryParameters(schema)).flatMap(([name, described], at) => {
    const limits = () =>
      alternatives(described.schema)
        .flatMap((each) => beyond(each, query[name], addressBytesMax))
        .map(String);
    const asWrong = (value: string | readonly string[] | undefined) =>
      schema.safeParse({ ...query, [name]: value }).success ? [] : [{ name, value }];
    const kinds = [
      () => inTurns(limits().flatMap(asWrong), 4, at),
      () => (isLongForm ? texts.flatMap(asWrong) : firstOf(texts, asWrong, at)),
      () => asWrong(undefined),
    ];
    return ofKinds(kinds, 1, at);
  });
}

/** The smallest steps over the limits of a schema. */
function beyond(
  schema: JsonSchema,
  valid: unknown,
  bytesMax: number,
  isValid: (list: unknown[]) => boolean = () => true,
): unknown[] {
  const { minimum, maximum, minLength, maxLength, maxItems } = schema as Record<string, number>;
  const found: unknown[] = [];
  if (minimum !== undefined) found.push(minimum - 1);
  if (maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER) found.push(maximum + 1);
  if (minLength === 1) found.push('');
  if (maxLength !== undefined) found.push('x'.repeat(maxLength + 1));
  if (maxItems !== undefined && Array.isArray(valid)) {
    // Of thousands in full the body would be refused before its schema is asked.
    const bare = requiredOnly(schema.items ?? {}, valid[0]);
    const item = isValid([bare]) ? bare : valid[0];
    found.push(Array.from({ length: maxItems + 1 }, () => item));
  }
  // More than this would be refused for its size.
  return found.filter((value) => JSON.stringify(value).length <= bytesMax);
}

/** An element of a list without what may be left out. */
function requiredOnly(schema: JsonSchema, item: unknown): unknown {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) return item;
  const required = new Set(alternatives(schema).flatMap((each) => each.required ?? []));
  return Object.fromEntries(Object.entries(item).filter(([name]) => required.has(name)));
}

/** Every field in a body, the inner ones after those they are in. */
export function pathsOf(
  value: unknown,
  path: readonly (string | number)[] = [],
): (string | number)[][] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const here = [...path, Array.isArray(value) ? Number(name) : name];
    return [here, ...pathsOf(inner, here)];
  });
}

function schemasAt(schema: JsonSchema, path: readonly (string | number)[]): JsonSchema[] {
  return path
    .reduce<JsonSchema[]>(
      (schemas, step) =>
        schemas.flatMap(alternatives).flatMap((each) => {
          const next = typeof step === 'number' ? each.items : each.properties?.[step];
          return next === undefined ? [] : [next];
        }),
      [schema],
    )
    .flatMap(alternatives);
}

export function valueAt(body: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((value, step) => (value as Record<string, unknown>)[step], body);
}

/** A copy of the body with one value replaced, wherever it is. */
export function withValue(
  body: unknown,
  [step, ...rest]: readonly (string | number)[],
  value: unknown,
): unknown {
  if (step === undefined) return value;
  const inner = withValue((body as Record<string, unknown>)[step], rest, value);
  if (Array.isArray(body)) return body.with(Number(step), inner);
  return { ...(body as object), [step]: inner };
}
