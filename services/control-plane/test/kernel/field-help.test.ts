import { adminEndpoints, fieldWords } from '@sluice/contracts/admin';
import { expect, it } from 'vitest';
import { buildDocument } from '../../src/kernel/openapi/build-document.ts';
import { withoutReferences } from '../support/without-references.ts';

interface Described {
  readonly name: string;
  readonly at: string;
  readonly description: unknown;
}

type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null;

/** The fields of a schema, those within fields too. */
function fieldsOf(schema: unknown, at: string): Described[] {
  if (Array.isArray(schema)) return schema.flatMap((each) => fieldsOf(each, at));
  if (!isObject(schema)) return [];
  const { properties = {}, items, additionalProperties, anyOf, oneOf, allOf } = schema;
  return [
    ...Object.entries(properties as Record<string, Json>).flatMap(([name, field]) => [
      { name, at: `${at}.${name}`, description: field.description },
      ...fieldsOf(field, `${at}.${name}`),
    ]),
    ...[items, additionalProperties, anyOf, oneOf, allOf].flatMap((each) => fieldsOf(each, at)),
  ];
}

/** Of the one type that it has, JSON or lines of it. */
const contentOf = (body: unknown) =>
  Object.values(
    (body as { content?: Record<string, { schema: Json }> } | undefined)?.content ?? {},
  )[0]?.schema;

/** Every published field: parameters, bodies, answers, errors. */
function publishedFields(): Described[] {
  const document = withoutReferences(buildDocument({ version: '1', headerPrefix: 'x-service-' }));
  const paths = document.paths as Record<string, Record<string, Json>>;
  const fields = Object.values(paths).flatMap((path) =>
    Object.values(path).flatMap(({ operationId, parameters, requestBody, responses }) =>
      operationId === undefined
        ? []
        : [
            ...(parameters as Described[]).map(({ name, description }) => ({
              name,
              description,
              at: `${operationId}?${name}`,
            })),
            ...fieldsOf(contentOf(requestBody), `${operationId} `),
            ...fieldsOf(contentOf((responses as Json)[200]), `${operationId} > `),
          ],
    ),
  );
  return [...fields, ...fieldsOf(Object.values((document.components as Json).schemas as Json), '')];
}

it('every published field and parameter says what it means', () => {
  const fields = publishedFields();
  expect(fields.length).toBeGreaterThan(4_000);
  expect(fields.filter(({ description }) => !description).map(({ at }) => at)).toEqual([]);
});

it('every operation says in a line of its own what it does, and who may call it', () => {
  const operations = Object.values(adminEndpoints);
  const summaries = operations.map(({ summary }) => summary);
  expect(summaries.filter((each, at) => summaries.indexOf(each) !== at)).toEqual([]);
  expect(summaries.filter((each) => !/^[A-Z][^.]{8,90}$/.test(each))).toEqual([]);
});

it('every word is the meaning of a published field', () => {
  const said = new Set(publishedFields().map(({ name, description }) => `${name}: ${description}`));
  const unused = Object.entries(fieldWords).filter(
    ([word, meaning]) => !said.has(`${word.split('.').at(-1)}: ${meaning}`),
  );
  expect(unused.map(([word]) => word)).toEqual([]);
});
