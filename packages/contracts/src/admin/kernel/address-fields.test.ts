import { expect, it } from 'vitest';
import type { z } from 'zod';
import { hostField } from '../../fields/fields.ts';
import { adminEndpoints } from '../endpoints.ts';
import {
  bearsAddress,
  isDeclaredAddressName,
  settingBearsAddress,
  soundsLikeAddressName,
} from './address-fields.ts';

interface Field {
  name: string;
  at: string;
  isHost: boolean;
  isText: boolean;
}

/** Every property of every body, at any depth. */
const fields = Object.entries(adminEndpoints).flatMap(
  ([id, { body }]: [string, { body?: z.ZodType }]) =>
    body === undefined ? [] : fieldsOf(body, id),
);

function fieldsOf(schema: z.ZodType, at: string, depth = 0): Field[] {
  if (depth > 30) return [];
  const { def } = schema as unknown as { def: Record<string, unknown> };
  const inner = [def.innerType, def.in, def.element, def.valueType, def.left, def.right].filter(
    (part): part is z.ZodType => part !== undefined,
  );
  const forms = [...inner, ...((def.options as z.ZodType[] | undefined) ?? [])];
  const shape = (def.shape ?? {}) as Record<string, z.ZodType>;
  return [
    ...forms.flatMap((form) => fieldsOf(form, at, depth + 1)),
    ...Object.entries(shape).flatMap(([name, field]) => [
      { name, at: `${at}.${name}`, ...kindOf(field) },
      ...fieldsOf(field, `${at}.${name}`, depth + 1),
    ]),
  ];
}

/** What a field holds, without what makes it optional. */
function kindOf(schema: z.ZodType): { isHost: boolean; isText: boolean } {
  if (schema === hostField) return { isHost: true, isText: true };
  const { def } = schema as unknown as { def: { type: string; innerType?: z.ZodType } };
  return def.innerType === undefined
    ? { isHost: false, isText: def.type === 'string' }
    : kindOf(def.innerType);
}

it('walks the fields of every body', () => {
  expect(fields.length).toBeGreaterThan(500);
  expect(fields.filter(({ isHost }) => isHost).length).toBeGreaterThan(15);
});

it('knows every field that holds an address', () => {
  const unknown = fields.filter(({ name, isHost }) => isHost && !bearsAddress(name));
  expect(unknown.map(({ at }) => at)).toEqual([]);
});

it('was told of every text that sounds like an address whether it is one', () => {
  const undecided = fields.filter(
    ({ name, isText }) => isText && soundsLikeAddressName(name) && !isDeclaredAddressName(name),
  );
  expect([...new Set(undecided.map(({ at }) => at))]).toEqual([]);
});

it.each([
  ['customHost', true],
  ['webhookURL', true],
  ['vertex-region', true],
  ['some_base_url', true],
  ['tomorrow_account_id', true],
  ['max_tokens', false],
  ['provider_responses_proxy', false],
  ['name', false],
])('%s: %s', (name, expected) => {
  expect(bearsAddress(name)).toBe(expected);
});

it('assumes of a setting that nobody declared that it is part of an address', () => {
  expect(settingBearsAddress('a_setting_of_tomorrow')).toBe(true);
  expect(settingBearsAddress('azureApiVersion')).toBe(false);
});
