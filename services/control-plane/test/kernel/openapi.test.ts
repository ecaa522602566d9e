import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Validator } from '@seriousme/openapi-schema-validator';
import { generalSettings, publishedSettings } from '@sluice/contracts/admin';
import { describe, expect, it } from 'vitest';
import { buildDocument } from '../../src/kernel/openapi/build-document.ts';
import type { JsonSchema } from '../../src/kernel/openapi/json-schema.ts';
import { leftOut } from '../contract/coverage.ts';
import { differences } from '../contract/differences.ts';
import {
  answerFaults,
  namesWithin,
  type PublishedOperation,
  publishedOperations,
  requestFaults,
} from '../contract/published.ts';

interface Content {
  content: Record<string, { schema: JsonSchema; example?: unknown }>;
}

interface DescribedOperation {
  operationId: string;
  parameters: {
    name: string;
    in: string;
    required: boolean;
    schema: JsonSchema;
    example?: unknown;
  }[];
  requestBody?: Content;
  responses: Record<string, Content>;
}

const document = buildDocument({ version: '1.2.3', headerPrefix: 'x-service-' });
const paths = document.paths as Record<string, Record<string, DescribedOperation>>;

it('is valid OpenAPI 3.1', async () => {
  const validator = new Validator();
  const { valid, errors } = await validator.validate(structuredClone(document));
  expect(errors ?? []).toEqual([]);
  expect([valid, validator.version]).toEqual([true, '3.1']);
});

/** Three seconds of CPU: each example is checked against its schema. */
const lintMs = 60_000;

it('has nothing that a linter’s recommended rules object to, its examples included', {
  timeout: lintMs,
}, async () => {
  const problems = await lintFromString({
    source: JSON.stringify(document),
    absoluteRef: '/openapi.json',
    config: await createConfig({ extends: ['recommended'] }),
  });
  const told = problems.map(({ ruleId, message, location }) =>
    [ruleId, message, location[0]?.pointer].join(' '),
  );
  expect(told.filter((problem) => !meant.some(([which]) => which.test(problem)))).toEqual([]);
  expect(meant.filter(([which]) => !told.some((problem) => which.test(problem)))).toEqual([]);
});

/** What a linter objects to, and why it stays. */
const meant = [
  [
    /^no-ambiguous-paths .*`\/prompts\/partials\/\{promptPartialId\}`/,
    'The published paths: no prompt is called `partials`.',
  ],
] as const;

it('has each operationId once', () => {
  const ids = Object.values(paths).flatMap((methods) =>
    Object.values(methods).map(({ operationId }) => operationId),
  );
  expect(ids.filter((id, at) => id !== undefined && ids.indexOf(id) !== at)).toEqual([]);
});

it('shows of each operation a call, and what it answers', () => {
  // An operation without one: docs/adding-an-operation.md says how it is recorded.
  const operations = Object.values(paths)
    .flatMap((methods) => Object.values(methods))
    .filter(({ operationId }) => operationId !== undefined);
  const isBare = ({ parameters, requestBody, responses }: DescribedOperation) =>
    parameters.some(({ required, example }) => required && example === undefined) ||
    [requestBody, responses[200]].some(
      (part) => part !== undefined && Object.values(part.content)[0]?.example === undefined,
    );
  const bare = operations.filter(isBare).map(({ operationId }) => operationId);
  expect(bare).toEqual([]);
});

it('shows of each refusal what it says', () => {
  const { examples } = document.components as {
    examples: Record<string, { value: { data?: { code: string } } }>;
  };
  const shown = Object.entries(examples).map(([name, { value }]) => [name, value.data?.code]);
  expect(shown).toContainEqual(['Error404', 'admin.not_found']);
  expect(shown).toContainEqual(['ErrorText404', undefined]);
  const bare = Object.values(paths)
    .flatMap((methods) => Object.values(methods))
    .flatMap(({ operationId, responses = {} }) =>
      Object.entries(responses)
        .filter(([status]) => status !== '200')
        .map(([status, { content }]) => [operationId, status, content['application/json']]),
    )
    .filter(([, status, content]) => !JSON.stringify(content).includes(`${status}"}}`));
  expect(bare).toEqual([]);
});

describe('beside the published description', () => {
  const expected = publishedOperations.filter(
    ({ operationId }) => leftOut[operationId] === undefined,
  );
  const found = expected.map((operation) => ({ operation, faults: faultsOf(operation) }));

  it.each(found)('$operation.operationId takes and answers the same', ({ faults }) => {
    const told = faults.filter((fault) => !differences.some(([where]) => where.test(fault)));
    expect(told.join('\n')).toBe('');
  });

  it('each difference that is meant is one', () => {
    const all = found.flatMap(({ faults }) => faults);
    const idle = differences.filter(([where]) => !all.some((fault) => where.test(fault)));
    expect(idle.map(([where]) => where.source)).toEqual([]);
  });

  it('the settings of providers that are taken of all are the published ones', () => {
    const names = publishedOperations
      .filter(({ path }) => /^\/integrations(\/\{slug\})?$/.test(path))
      .flatMap(({ body }) => (body === undefined ? [] : namesWithin(body, 'configurations')))
      .filter((name) => !generalSettings.includes(name));
    expect([...publishedSettings].sort()).toEqual([...new Set(names)].sort());
  });
});

function faultsOf(published: PublishedOperation): string[] {
  const ours = paths[published.path]?.[published.method];
  const at = published.operationId;
  if (ours?.operationId !== at) return [`${at}: is ${ours?.operationId ?? 'not there'}`];
  if (published.uncertain) return [];
  const body = ours.requestBody?.content['application/json']?.schema;
  const answer = ours.responses[200]?.content['application/json']?.schema;
  return [
    ...queryFaults(published, ours),
    ...(published.body === undefined
      ? []
      : body === undefined
        ? [`${at} body: is not read`]
        : requestFaults(published.body, body, `${at} body`)),
    ...(published.answer === undefined
      ? []
      : answerFaults(published.answer, answer ?? {}, `${at} answer`)),
  ];
}

function queryFaults(published: PublishedOperation, ours: DescribedOperation): string[] {
  const at = `${published.operationId} query`;
  const parameters = ours.parameters.filter((each) => each.in === 'query');
  const required = parameters.filter(
    (each) => each.required && !published.requiredQuery?.includes(each.name),
  );
  return [
    ...required.map(({ name }) => `${at}.${name}: is required`),
    ...Object.entries(published.query ?? {}).flatMap(([name, schema]) => {
      const parameter = parameters.find((each) => each.name === name);
      if (parameter === undefined) return [`${at}.${name}: is not known`];
      return requestFaults(schema, parameter.schema, `${at}.${name}`);
    }),
  ];
}
