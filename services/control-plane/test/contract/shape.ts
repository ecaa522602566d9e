/** Says what is wrong with a value, as "path: what" lines; nothing when it fits. */
export type Check = (value: unknown, path: string) => string[];

function kind(name: string, fits: (value: unknown) => boolean): Check {
  return (value, path) =>
    fits(value) ? [] : [`${path}: ${JSON.stringify(value) ?? 'nothing'} is no ${name}`];
}

const matches = (pattern: RegExp) => (value: unknown) =>
  typeof value === 'string' && pattern.test(value);

export const text = kind('text', (value) => typeof value === 'string');
export const integer = kind('integer', Number.isSafeInteger);
export const number = kind('number', Number.isFinite);
export const boolean = kind('boolean', (value) => typeof value === 'boolean');
export const uuid = kind(
  'uuid',
  matches(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/),
);
export const instant = kind('instant', matches(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/));
/** Two characters of a secret at each end, at most. */
export const masked = kind('masked secret', matches(/^.{0,2}\*{7}.{0,2}$/));
/** A key in clear: shown once, when it is made. */
export const secret = kind('service key', matches(/^sl_[\w-]{49}$/));
export const anything: Check = () => [];
export const jsonText = kind('JSON text', (value) => {
  if (typeof value !== 'string') return false;
  if (value === '') return true;
  try {
    return typeof JSON.parse(value) === 'object';
  } catch {
    return false;
  }
});

export function oneOf(...values: (string | number)[]): Check {
  return kind(`one of ${values.join(', ')}`, (value) => values.some((each) => each === value));
}

export function nullable(check: Check): Check {
  return (value, path) => (value === null ? [] : check(value, path));
}

const absentAllowed = new WeakSet<Check>();

/** May be left out; null is not leaving out. */
export function optional(check: Check): Check {
  const wrapped: Check = (value, path) => check(value, path);
  absentAllowed.add(wrapped);
  return wrapped;
}

export function list(check: Check): Check {
  return (value, path) =>
    Array.isArray(value)
      ? value.flatMap((item, index) => check(item, `${path}[${index}]`))
      : [`${path}: is no list`];
}

export function record(check: Check): Check {
  return (value, path) =>
    isObject(value)
      ? Object.entries(value).flatMap(([name, inner]) => check(inner, `${path}.${name}`))
      : [`${path}: is no object`];
}

/** These fields, all of them unless optional, and no others. */
export function object(fields: Readonly<Record<string, Check>>): Check {
  return (value, path) => {
    if (!isObject(value)) return [`${path}: is no object`];
    const strangers = Object.keys(value).filter((name) => !(name in fields));
    return [
      ...strangers.map((name) => `${path}.${name}: is not expected`),
      ...Object.entries(fields).flatMap(([name, check]) => {
        if (name in value) return check(value[name], `${path}.${name}`);
        return absentAllowed.has(check) ? [] : [`${path}.${name}: is missing`];
      }),
    ];
  };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The envelope of most lists. */
export function listOf(row: Check): Check {
  return object({ object: oneOf('list'), total: integer, data: list(row) });
}

export const nothing = object({});
