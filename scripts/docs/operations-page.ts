/**
 * Writes docs/operations.md from the operations of the data plane.
 * `npm run generate` runs it; `npm run check` fails when the page has fallen behind.
 */
import {
  type EndpointOperation,
  endpoints,
  type Operation,
  type OperationId,
  operationIds,
  operations,
} from '@sluice/contracts';
import { table } from './table.ts';

const head = `# Operations of the data plane

Made from \`packages/contracts/src/operations/operations.ts\` by \`npm run generate\`; do not edit. What differs between operations by value stands
there and nowhere else: routes, scopes, limits, hooks, the cache, error bodies, records and metrics read it.

To add one that asks a model: a row there, then what the compiler asks for in turn – the texts of its format where hooks see them
(\`packages/providers/src/texts\`), both tellings of an answer where it is kept for streams (\`replay\`, \`assemble\`), a column of the providers'
page – and the providers that offer it. Where its body is \`json\` or \`form\` it is routed, let in, limited, recorded and explained by its row alone.

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

${table(['id', 'format', 'reply', 'input hooks', 'output hooks', 'cache', 'model', 'makes'], endpoints.map(done))}`;
}

function asked(id: OperationId): string[] {
  const { at, about, body, scopes, spends, repeat, errors }: Operation = operations[id];
  const held = scopes.map((scope) => `\`${scope}\``).join(', ');
  return [`\`${id}\``, `\`${at}\``, about, body, held, spends, repeat, errors];
}

function done(endpoint: EndpointOperation): string[] {
  const { id, format, reply, hooks, cache, names, makes } = endpoint;
  return [
    `\`${id}\``,
    `\`${format}\``,
    reply,
    hooks.input,
    hooks.output,
    cache,
    names.model,
    makes ?? '',
  ];
}
