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
import { withoutReferences } from '../support/without-references.ts';

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
  responses: Record<string, Content & { $ref?: string }>;
}

const document = buildDocument({ version: '1.2.3', headerPrefix: 'x-service-' });
const paths = withoutReferences(document).paths as Record<
  string,
  Record<string, DescribedOperation>
>;

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
  const { responses: refusals } = document.components as { responses: Record<string, Content> };
  const bare = Object.values(paths)
    .flatMap((methods) => Object.values(methods))
    .flatMap(({ operationId, responses = {} }) =>
      Object.entries(responses)
        .filter(([status]) => status !== '200' && status !== 'default')
        .map(([status, { $ref = '' }]) => [
          operationId,
          status,
          JSON.stringify(refusals[lastOf($ref)]),
        ]),
    )
    .filter(([, status, refusal]) => !refusal?.includes(`${status}"}}`));
  expect(bare).toEqual([]);
});

describe('what clients are generated from', () => {
  it('has no default that its own schema refuses, and requires what is refused without', () => {
    const faults: string[] = [];
    eachSchema(document, (schema, at) => {
      const { default: standsFor, required = [] } = schema;
      if (typeof standsFor !== 'object' || standsFor === null || Array.isArray(standsFor)) return;
      const missing = required.filter((name) => !Object.hasOwn(standsFor, name));
      faults.push(...missing.map((name) => `${at}: the default lacks ${name}`));
    });
    expect(faults).toEqual([]);
    const checks =
      paths['/guardrails']?.post?.requestBody?.content['application/json']?.schema.properties
        ?.checks?.items?.oneOf;
    const requiredOf = (id: string) =>
      checks?.find((check) => check.properties?.id?.const === id)?.required;
    expect(requiredOf('default.regexMatch')).toEqual(['id', 'parameters']);
    expect(requiredOf('default.pii')).toEqual(['id']);
  });

  it('has a type of its own for each resource, wherever it is answered', () => {
    const { schemas } = document.components as { schemas: Record<string, JsonSchema> };
    const referring = document.paths as typeof paths;
    const answerOf = (path: string) =>
      referring[path]?.get?.responses[200]?.content['application/json']?.schema;
    const named = (name: string) => ({ $ref: `#/components/schemas/${name}` });
    expect(answerOf('/api-keys')?.properties?.data).toMatchObject({ items: named('ApiKey') });
    expect(answerOf('/api-keys/{id}')?.allOf?.[0]).toEqual(named('ApiKey'));
    expect(answerOf('/configs/{slug}')?.properties?.data).toMatchObject(named('Config'));
    expect(schemas.ApiKey?.properties?.usage_limits).toMatchObject(named('UsageLimit'));
    for (const name of ['Prompt', 'Guardrail', 'Provider', 'RateLimitsPolicy', 'Workspace'])
      expect(Object.keys(schemas)).toContain(name);
    expect(JSON.stringify(document)).not.toContain('x-shape-name');
  });

  it('asks of no generator for two types of one name', () => {
    // They are called by the name of the field in capitals, without what is between the words.
    const typeName = (name: string) => name.replaceAll('_', '').toLowerCase();
    const faults: string[] = [];
    eachSchema(document, ({ properties }, at) => {
      const own = Object.entries(properties ?? {}).filter(
        ([, field]) => field.enum ?? field.anyOf ?? field.oneOf ?? field.properties,
      );
      const names = own.map(([name]) => typeName(name));
      const twice = own.filter(([name], index) => names.indexOf(typeName(name)) !== index);
      faults.push(...twice.map(([name]) => `${at}: ${name}`));
    });
    expect(faults).toEqual([]);
  });

  it('has no optional fields beside others of a type that does not allow their absence', () => {
    const faults: string[] = [];
    eachSchema(document, ({ type, properties, additionalProperties, required = [] }, at) => {
      if (type !== 'object' || typeof additionalProperties !== 'object') return;
      if (Object.keys(additionalProperties).length === 0) return;
      const names = Object.keys(properties ?? {});
      const optional = names.filter((name) => !required.includes(name));
      faults.push(...optional.map((name) => `${at}: ${name}`));
    });
    expect(faults).toEqual([]);
  });

  it('says of an object all that stands for it', () => {
    const faults: string[] = [];
    eachSchema(document, ({ default: standsFor, properties = {} }, at) => {
      if (typeof standsFor !== 'object' || standsFor === null) return;
      const untold = Object.entries(properties)
        .filter(([name, field]) => field.default !== undefined && !Object.hasOwn(standsFor, name))
        .map(([name]) => `${at}: ${name}`);
      faults.push(...untold);
    });
    expect(faults).toEqual([]);
  });

  it('names the values of what is made uniform before it is looked at', () => {
    const parameter = (path: string, name: string) =>
      paths[path]?.get?.parameters.find((each) => each.name === name)?.schema;
    expect(parameter('/scim/workspaces', 'role')?.enum).toEqual(['admin', 'manager', 'member']);
    expect(parameter('/analytics/groups/users', 'order_by_type')?.enum).toEqual(['asc', 'desc']);
    expect(parameter('/admin/workspaces', 'status')?.pattern).toBe(
      '^(?:active|archived)(?:,(?:active|archived))*$',
    );
  });

  it('tells of warnings wherever an answer can have them', () => {
    const without = Object.values(paths)
      .flatMap((methods) => Object.values(methods))
      .filter((operation) => 'x-key-types' in operation)
      .filter(({ responses }) => {
        const schema = responses[200]?.content['application/json']?.schema;
        if (schema === undefined || schema.type === 'array') return false;
        const forms = schema.anyOf ?? [schema];
        return forms.some(
          (form) => form.type !== 'array' && form.properties?.warnings === undefined,
        );
      });
    expect(without.map(({ operationId }) => operationId)).toEqual([]);
  });

  it('tells of any other refusal, and of what stands in headers', () => {
    const { responses, headers } = document.components as {
      responses: Record<string, { headers: Record<string, { $ref: string }> }>;
      headers: Record<string, object>;
    };
    for (const operation of Object.values(paths).flatMap((methods) => Object.values(methods)))
      if (operation.operationId !== undefined)
        expect(operation.responses.default, operation.operationId).toBeDefined();
    expect(Object.keys(responses.Error503?.headers ?? {})).toEqual([
      'x-service-request-id',
      'x-request-id',
      'retry-after',
    ]);
    const referred = new Set<string>();
    JSON.stringify(document, (key, value: unknown) => {
      if (key === '$ref') referred.add(String(value));
      return value;
    });
    expect(
      Object.keys(headers).filter((name) => !referred.has(`#/components/headers/${name}`)),
    ).toEqual([]);
  });

  it('tells errors as whoever answers writes them', () => {
    const notFound = (path: string, method: string) =>
      paths[path]?.[method]?.responses[404]?.$ref?.split('/').at(-1);
    expect(notFound('/prompts/{promptId}/render', 'post')).toBe('ErrorGateway404');
    expect(notFound('/prompts/{promptId}/completions', 'post')).toBe('ErrorGateway404');
    expect(notFound('/prompts/{promptId}', 'get')).toBe('Error404');
    expect(notFound('/v0.1/servers', 'get')).toBe('Error404');
  });

  it('has addresses without variables, which some generators take for addresses', () => {
    const servers = [document, ...Object.values(paths)].map((each) => JSON.stringify(each.servers));
    expect([...new Set(servers)].sort()).toEqual(['[{"url":"/"}]', '[{"url":"/v1"}]', undefined]);
  });
});

/** Hands on every schema of a description. */
function eachSchema(value: unknown, see: (schema: JsonSchema, at: string) => void, at = ''): void {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) see(value as JsonSchema, at);
  for (const [name, inner] of Object.entries(value))
    if (name !== 'example' && name !== 'examples') eachSchema(inner, see, `${at}/${name}`);
}

/** Of a reference, the name of what it refers to. */
function lastOf(reference: string): string {
  return reference.split('/').at(-1) ?? '';
}

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
