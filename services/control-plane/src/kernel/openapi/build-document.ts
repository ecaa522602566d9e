import { STATUS_CODES } from 'node:http';
import type { KeyType } from '@sluice/contracts';
import {
  adminEndpoints,
  type Endpoint,
  type ErrorForm,
  errorBodies,
  errorFormOf,
  generalFields,
  idempotencyKeyHeader,
  idempotencyKeyMax,
  linesType,
  pathHelp,
  tags,
} from '@sluice/contracts/admin';
import { adminErrorBody } from '@sluice/errors';
import { describeFields, descriptionOf } from './describe-fields.ts';
import { errorStatuses, exampleOfStatus } from './error-statuses.ts';
import { type OperationExample, readExamples } from './examples.ts';
import { headerComponents, headersOfAnswer, headersOfRefusal } from './headers.ts';
import { answerSchema, type JsonSchema, requestSchema, shapeNameKeyword } from './json-schema.ts';
import { type NamedShapes, withReferences } from './named-shapes.ts';
import { pathParameters, queryParameters } from './parameters.ts';

type Json = Readonly<Record<string, unknown>>;

/**
 * The OpenAPI description of the admin API, made of what checks its input, of
 * what its answers are typed by, and of what authorises its callers: it cannot
 * say anything else than what is done.
 */
export function buildDocument(options: { version: string; headerPrefix: string }): Json {
  const paths: Record<string, Record<string, unknown>> = {};
  const examples = readExamples();
  for (const [id, endpoint] of Object.entries<Endpoint>(adminEndpoints)) {
    paths[endpoint.path] ??= endpoint.atRoot === true ? { servers: [rootServer] } : {};
    Object.assign(paths[endpoint.path] ?? {}, {
      [endpoint.method]: describe(id, endpoint, examples[id], options.headerPrefix),
    });
  }
  const shapes: NamedShapes = {};
  const referring = withReferences(paths, shapes);
  return {
    openapi: '3.1.1',
    info: {
      title: 'Sluice admin API',
      version: options.version,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    // Without variables: generators of clients take what stands here as it stands.
    servers: [{ url: '/v1' }],
    security: [{ 'Service-Key': [] }, { Bearer: [] }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    paths: referring,
    components: {
      schemas: {
        ...Object.fromEntries(
          Object.entries(errorBodies).map(([form, schema]) => [
            errorName(form as ErrorForm),
            describeFields(answerSchema(schema), ['error']),
          ]),
        ),
        ...shapes,
      },
      ...refusalComponents(options.headerPrefix),
      headers: headerComponents(),
      securitySchemes: {
        'Service-Key': { type: 'apiKey', in: 'header', name: `${options.headerPrefix}api-key` },
        Bearer: { type: 'http', scheme: 'bearer' },
      },
    },
  };
}

const exampleRequestId = '0197b1b0-0001-7000-8000-000000000001';

const rootServer = { url: '/' };

function describe(
  id: string,
  endpoint: Endpoint,
  example: OperationExample | undefined,
  headerPrefix: string,
): Json {
  const { access, body } = endpoint;
  const context = [resourceOf(id)];
  return {
    operationId: endpoint.operationId,
    summary: endpoint.summary,
    description: whoMay(endpoint),
    tags: [endpoint.tag],
    parameters: parametersOf(endpoint, context, example),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: !body.safeParse(undefined).success,
            content: json(describeFields(requestSchema(body), context), example?.body),
          },
        }),
    responses: {
      200: {
        description: 'Done',
        headers: headersOfAnswer(endpoint, headerPrefix),
        content: content(
          endpoint.lines === true ? linesType : 'application/json',
          describeFields(withWarnings(endpoint), context),
          example?.answer,
        ),
      },
      ...refusals(endpoint),
    },
    ...(endpoint.plane === 'public' ? { security: [] } : {}),
    ...(access === undefined
      ? {}
      : { 'x-required-scopes': access.scopes, 'x-key-types': access.keys }),
    ...(endpoint.added === undefined ? {} : { 'x-added': endpoint.added }),
  };
}

/** `workspace-members.update` is about `workspace-members`. */
function resourceOf(id: string): string {
  return id.split('.', 1)[0] ?? id;
}

const keyNames: Readonly<Record<KeyType, string>> = {
  'organisation-service': 'organisation',
  'workspace-service': 'workspace service',
  'workspace-user': 'workspace user',
};

function whoMay({ access, plane }: Endpoint): string {
  if (access === undefined)
    return plane === 'public'
      ? 'Needs no key.'
      : 'Answered by the gateway; with a key that may ask models.';
  const { keys, scopes } = access;
  const accepted = Array.isArray(scopes) ? scopes : Object.values(scopes).flat();
  const kinds = keys.map((key) => keyNames[key]).join(', ');
  return `Keys: ${kinds}. Needs one of the scopes: ${accepted.map((scope) => `\`${scope}\``).join(', ')}.`;
}

function parametersOf(
  { path, pathValues, query, access, method }: Endpoint,
  context: readonly string[],
  example: OperationExample | undefined,
): Json[] {
  const described = queryParameters(query);
  const general = access === undefined ? [] : generalFields(access);
  return [
    ...pathParameters(path).map((name) => ({
      name,
      in: 'path',
      description: pathHelp(name),
      required: true,
      schema: { type: 'string', ...(pathValues?.[name] && { enum: pathValues[name] }) },
      ...exampleOf(example?.path?.[name]),
    })),
    ...Object.entries(described).map(([name, parameter]) => ({
      name,
      in: 'query',
      description: descriptionOf(name, parameter.schema, context),
      ...parameter,
      ...exampleOf(asTyped(example?.query?.[name], parameter.schema)),
    })),
    ...general
      .filter((name) => described[name] === undefined)
      .map((name) => ({
        name,
        in: 'query',
        description: descriptionOf(name, {}, []),
        schema: { type: 'string' },
        required: false,
        ...exampleOf(example?.query?.[name]),
      })),
    ...(method === 'post' && access !== undefined ? [idempotencyKey] : []),
  ];
}

const idempotencyKey = {
  name: idempotencyKeyHeader,
  in: 'header',
  description:
    'Chosen by the caller, 1 to 255 printable ASCII characters. The same request under the same key is carried out once within 24 hours: the first answer is answered again, with the header `idempotent-replayed: true`.',
  required: false,
  schema: { type: 'string', minLength: 1, maxLength: idempotencyKeyMax },
};

/** What is answered, with what else is told of the request: `withWarnings` of the operations adds it. */
function withWarnings({ answer, access, lines }: Endpoint): JsonSchema {
  const schema = answerSchema(answer);
  return access === undefined || lines === true ? schema : beside(schema, { warnings });
}

const warnings: JsonSchema = {
  type: 'array',
  items: { type: 'string' },
  description:
    'What was left out of the request, or does nothing where it stands, a sentence each; absent where there is nothing to tell.',
};

/** The same with optional fields in each form of it that is an object; lists have none, and a shape with a name stays what it is. */
function beside(schema: JsonSchema, fields: Readonly<Record<string, JsonSchema>>): JsonSchema {
  const { anyOf, properties } = schema;
  if (schema[shapeNameKeyword] !== undefined)
    return { allOf: [schema, { type: 'object', properties: fields }] };
  if (anyOf !== undefined) return { ...schema, anyOf: anyOf.map((each) => beside(each, fields)) };
  return schema.type === 'object'
    ? { ...schema, properties: { ...properties, ...fields } }
    : schema;
}

/** The refusals of an operation, each by its component. */
function refusals(endpoint: Endpoint): Json {
  return Object.fromEntries(
    refusalsOf(endpoint).map((refusal) => [
      refusal.status,
      { $ref: `#/components/responses/${componentOf(refusal)}` },
    ]),
  );
}

/** A status in the form in which an operation answers it. */
interface Refusal {
  readonly form: ErrorForm;
  /** `default`: whatever else stands between, a gateway that cannot reach the control plane, a proxy's limit. */
  readonly status: number | 'default';
}

function refusalsOf(endpoint: Endpoint): Refusal[] {
  const form = errorFormOf(endpoint);
  return [...errorStatuses(endpoint), 'default' as const].map((status) => ({ form, status }));
}

/** `Error404`; `ErrorDefault` is any other. */
function componentOf({ form, status }: Refusal): string {
  return `${errorName(form)}${status === 'default' ? 'Default' : status}`;
}

/** Each status in each form in which it is answered. */
function refusalComponents(headerPrefix: string): { responses: Json; examples: Json } {
  const responses: Record<string, Json> = {};
  const examples: Record<string, Json> = {};
  for (const refusal of Object.values<Endpoint>(adminEndpoints).flatMap(refusalsOf)) {
    const { form, status } = refusal;
    const component = componentOf(refusal);
    if (responses[component] !== undefined) continue;
    const isOther = status === 'default';
    if (!isOther)
      // As whoever meets it sees it.
      examples[component] = {
        value: adminErrorBody(exampleOfStatus(status, form), exampleRequestId, form),
      };
    responses[component] = {
      description: isOther ? 'Any other refusal' : (STATUS_CODES[status] ?? ''),
      headers: headersOfRefusal(status, headerPrefix),
      content: {
        'application/json': {
          schema: { $ref: `#/components/schemas/${errorName(form)}` },
          ...(isOther
            ? {}
            : { examples: { refused: { $ref: `#/components/examples/${component}` } } }),
        },
      },
    };
  }
  return { responses, examples };
}

/** `with-error` is `ErrorWithError`, the usual one `Error`. */
function errorName(form: ErrorForm): string {
  if (form === 'usual') return 'Error';
  return `Error${form.replace(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase())}`;
}

function json(schema: object, example?: unknown): Json {
  return content('application/json', schema, example);
}

/** Of lines, schema and example are those of one. */
function content(type: string, schema: object, example: unknown): Json {
  return { [type]: { schema, ...exampleOf(example) } };
}

function exampleOf(example: unknown): Json {
  return example === undefined ? {} : { example };
}

/** In a query everything is text; what is shown is what it means. */
function asTyped(text: string | undefined, { type }: JsonSchema): unknown {
  if (text === undefined) return undefined;
  if (type === 'boolean') return text === 'true';
  return type === 'number' || type === 'integer' ? Number(text) : text;
}
