/**
 * Writes docs/operations.md from the operations of the data plane.
 * `npm run generate` runs it; `npm run check` fails when the page has fallen behind.
 */
import {
  type CalledOperation,
  type EndpointOperation,
  endpoints,
  type Operation,
  type OperationId,
  objectOperations,
  operationIds,
  operations,
  type PublishedOperation,
  publishedOperations,
} from '@sluice/contracts';
import { providersKeeping } from '@sluice/providers';
import { table } from './table.ts';

const head = `# Operations of the data plane

Made from \`packages/contracts/src/operations/operations.ts\` by \`npm run generate\`; do not edit. What differs between operations by value stands
there and nowhere else: routes, scopes, limits, hooks, the cache, error bodies, records and metrics read it.

To add one that asks a model: a row there, then what the compiler asks for in turn – the texts of its format where hooks see them
(\`packages/providers/src/texts\`), both tellings of an answer where it is kept for streams (\`replay\`, \`assemble\`), a column of the providers'
page – and the providers that offer it. What only stays at providers is a row of \`object-operations.ts\`, which no code has to follow. Where its body is \`json\` or \`form\` it is routed, let in, limited, recorded and explained by its row alone.

Every other path below \`/v1\` is the admin API's ([admin-api.md](admin-api.md)) or passes through (\`proxy\`).
`;

/** The whole page. */
export function operationsPage(): string {
  return `${head}
## What is asked

- **id**: how records, metrics, policies (\`endpoint_type\`) and checks (\`allowedRequestTypes\`) call it
- **body**: \`form\`: multipart, or the same fields as JSON; \`raw\`: anything, passed through untouched
- **scopes**: any of these lets a key in
- **spends**: what limits and budgets count
- **again**: \`safe\`: only reads, may be asked again; \`idempotent\`: twice leaves what once leaves; \`fresh\`: each request is new work
- **refusals**: in whose words they are told

${table(['id', 'at', 'about', 'body', 'scopes', 'spends', 'again', 'refusals'], operationIds.map(asked))}
## What endpoints do with it

An endpoint asks a model, by way of a provider.

- **format**: the [wire format](wire-formats.md) callers speak
- **reply**: \`events\`: a body, or events when a stream is asked for; \`sound\`: heard while it is made
- **input hooks**: \`guardrails\`: those that judge, without those that change; \`type\`: only checks of which operation it is
- **output hooks**: the same, of the answer
- **cache**: \`body\`: a kept answer serves the same request; \`stream\`: also one that wants it told as a stream, and one kept as a stream serves one that wants the body
- **model**: where its name stands; \`address\`: wherever the provider's own paths put it
- **makes**: what stays at the provider, under an id
- **names**: ids in the request; it goes to the one who has them, see [what stays at providers](stored-objects.md)

${table(['id', 'format', 'reply', 'input hooks', 'output hooks', 'cache', 'model', 'makes', 'names'], endpoints.map(done))}
## What is asked of what stays at providers

Passed through, byte by byte: stored responses and completions, conversations, vector stores, assistants and threads, files and jobs.

- **takes**: \`json\`: read before it is sent on, for the ids in it, and for checks; \`anything\`: unread
- **checks**: \`guardrails\`: a target's own checks judge its texts; \`type\`: only checks of which operation it is. What is enforced looks at everything
- **at**: providers that are known to have it; others are refused by 400, save at a custom host or below \`/v1/proxy\`. Nothing = nobody is refused
- **billed**: by what it says of work that went on after its answer, once for each \`response\` or \`run\`

${table(['id', 'takes', 'checks', 'makes', 'names', 'at', 'billed'], objectOperations.map(kept))}
## The published data plane

Each of the ${publishedOperations.length} operations that the published description has, and how it is served. \`npm test -- services/gateway/test/owned-objects.test.ts\` calls each.

${table(['operation', 'row', 'served by'], publishedOperations.map(served))}`;
}

function asked(id: OperationId): string[] {
  const { at, about, body, scopes, spends, repeat, errors }: Operation = operations[id];
  const held = scopes.map((scope) => `\`${scope}\``).join(', ');
  return [`\`${id}\``, `\`${at}\``, about, body, held, spends, repeat, errors];
}

function done(endpoint: EndpointOperation): string[] {
  const { id, format, reply, hooks, cache, names } = endpoint;
  return [
    `\`${id}\``,
    `\`${format}\``,
    reply,
    hooks.input,
    hooks.output,
    cache,
    names.model,
    ...objectsOf(endpoint),
  ];
}

function objectsOf({ objects }: CalledOperation): string[] {
  const made = new Set(
    objects?.makes?.map(({ kind, id }) => (id === 'id' ? kind : `${kind} (\`${id}\`)`)),
  );
  const named = objects?.names?.map(({ at }) => `\`${at}\``) ?? [];
  return [[...made].join(', '), named.join(', ')];
}

function kept(operation: (typeof objectOperations)[number]): string[] {
  const { id, takes, hooks, of, bills } = operation;
  return [
    `\`${id}\``,
    takes,
    hooks.input,
    ...objectsOf(operation),
    of === undefined ? '' : providersKeeping(of).join(', '),
    bills ?? '',
  ];
}

function served({ at, operation, other }: PublishedOperation): string[] {
  return [
    `\`${at}\``,
    operation === undefined ? '' : `\`${operation.id}\``,
    server(operation, other),
  ];
}

function server(operation: PublishedOperation['operation'], other: PublishedOperation['other']) {
  switch (operation?.about) {
    case undefined:
      return other === 'proxy' ? 'passes through' : (other ?? '');
    case 'model':
      return operation.body === 'raw'
        ? 'passes through'
        : 'every provider with the endpoint ([providers](providers.md)), translated where it speaks another format';
    case 'object':
      if (operation.id === operations.retrieveModel.id)
        return 'the gateway, or the provider that is named';
      return operation.of === undefined
        ? operation.objects.names === undefined
          ? 'passes through'
          : 'passes through to its owner'
        : `passes through to its owner: ${providersKeeping(operation.of).join(', ')}`;
    case 'prompt':
      return 'the gateway, then the provider of the prompt';
    case 'agent':
      return 'the agent of that address';
    default:
      return 'the gateway';
  }
}
