/** Kinds of request fields; a question mark says that null is allowed, and clears. */
export type FieldKind = keyof typeof wrong | `${keyof typeof wrong}?`;
export type Fields = Readonly<Record<string, FieldKind>>;

const huge = '99999999999999999999';

/** Values that are not of the kind, whatever the field. */
const wrong = {
  text: [5, true, [], {}],
  slug: [5, true, {}, 'two words', 'ü', '', 's'.repeat(256)],
  texts: [5, true, {}],
  integer: ['5', 1.5, -1, true, [], {}, Number.MAX_SAFE_INTEGER * 4],
  number: ['5', true, [], {}],
  boolean: ['true', 1, [], {}],
  flag: ['1', 2, 0.5, [], {}],
  object: ['x', 5, true, []],
  document: ['x', '[]', 5, true, []],
  list: ['x', 5, true, {}],
  limits: ['x', 5, true, {}],
  enum: ['other', '', 5, true, [], {}],
  uuid: ['x', 5, true, {}, '00000000-0000'],
  email: ['x', 5, '@', {}],
  url: ['x', 5, {}, 'ftp://example.org', 'https://', 'https://user:password@example.org'],
  instant: [
    'soon',
    5,
    true,
    [],
    {},
    '2024-02-30T00:00:00Z',
    '0000-01-01T00:00:00Z',
    '2024-01-01T25:00:00Z',
  ],
  // In queries, where everything is text.
  count: ['-1', '1.5', 'x', '', '1e3', '0x1', huge, 'Infinity', 'NaN'],
  decimal: ['x', '', '-1', '1e3', '0x1', 'Infinity'],
  score: ['x', '', '11', '-11'],
  status: ['x', '2000', '200,x'],
  json: ['x', '[]', '5', 'null', '{'],
  uuids: ['x', '00000000-0000', 'a,b'],
  'status-names': ['x', 'active,x', 'active;archived'],
} satisfies Record<string, readonly unknown[]>;

export function wrongValues(kind: FieldKind): unknown[] {
  const required = !kind.endsWith('?');
  const values: readonly unknown[] = wrong[kind.replace('?', '') as keyof typeof wrong];
  return required ? [...values, null] : [...values];
}

/** A copy of the body with one value replaced, wherever it is. */
export function withValue(body: unknown, path: string, value: unknown): unknown {
  const [name = '', ...rest] = path.split('.');
  if (Array.isArray(body)) {
    const copy = [...body];
    copy[Number(name)] =
      rest.length === 0 ? value : withValue(copy[Number(name)], rest.join('.'), value);
    return copy;
  }
  const inner = (body as Record<string, unknown> | undefined)?.[name];
  return {
    ...(body as object),
    [name]: rest.length === 0 ? value : withValue(inner, rest.join('.'), value),
  };
}
