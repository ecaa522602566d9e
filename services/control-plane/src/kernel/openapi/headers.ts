import {
  canonicalPrefix,
  changedHeader,
  inForceHeader,
  requestIdHeader,
  shownRequestIdHeader,
  unchangedHeader,
} from '@sluice/contracts';
import { type Endpoint, replayedHeader } from '@sluice/contracts/admin';

/** A header of answers: its name, what it is, and what it may say. */
interface AnswerHeader {
  readonly name: string;
  readonly description: string;
  readonly schema: Readonly<Record<string, unknown>>;
}

const text = { type: 'string' };

/** All that answers have beside what HTTP itself and browsers want, by the names of their components. */
const headers = {
  RequestId: {
    name: requestIdHeader,
    description: 'The id of the request, as errors and logs show it.',
    schema: { type: 'string', format: 'uuid' },
  },
  ShownRequestId: {
    name: shownRequestIdHeader,
    description: 'The same, where SDKs of vendors look for it.',
    schema: { type: 'string', format: 'uuid' },
  },
  InForce: {
    name: inForceHeader,
    description:
      'Whether gateways act on the change; absent where they hold nothing of what was changed.',
    schema: { type: 'string', enum: ['everywhere', 'here', 'pending'] },
  },
  Changed: {
    name: changedHeader,
    description:
      'What of the gateways’ state the change was of: `workspace=<id>@<revision>`, `key=<id>`, `organisation=<id>`, with commas between them.',
    schema: text,
  },
  Unchanged: {
    name: unchangedHeader,
    description: 'There when everything was as it was sent, and nothing was changed.',
    schema: { type: 'string', enum: ['true'] },
  },
  Replayed: {
    name: replayedHeader,
    description: 'There when this is the answer of an earlier request with the same key.',
    schema: { type: 'string', enum: ['true'] },
  },
  RetryAfter: {
    name: 'retry-after',
    description: 'After how many seconds it is worth to ask again; not always there.',
    schema: { type: 'integer', minimum: 0 },
  },
} satisfies Record<string, AnswerHeader>;

type HeaderName = keyof typeof headers;

const always: readonly HeaderName[] = ['RequestId', 'ShownRequestId'];

/** The components that answers refer to. */
export function headerComponents(): Readonly<Record<string, object>> {
  return Object.fromEntries(
    Object.entries<AnswerHeader>(headers).map(([component, { description, schema }]) => [
      component,
      { description, schema },
    ]),
  );
}

/** Those of a success. */
export function headersOfAnswer(
  endpoint: Endpoint,
  prefix: string,
): Readonly<Record<string, object>> {
  const { access, audit, method } = endpoint;
  const isPost = method === 'post' && access !== undefined;
  return referred(prefix, [
    ...always,
    ...(audit === undefined ? [] : (['InForce', 'Changed', 'Unchanged'] as const)),
    ...(isPost ? (['Replayed'] as const) : []),
  ]);
}

/** Those of a refusal. */
export function headersOfRefusal(
  status: number | 'default',
  prefix: string,
): Readonly<Record<string, object>> {
  return referred(prefix, [
    ...always,
    ...(waited.includes(status) ? (['RetryAfter'] as const) : []),
  ]);
}

/** Refusals that pass by themselves. */
const waited: readonly (number | 'default')[] = [409, 429, 503, 'default'];

/** Under the prefix that callers are told of. */
function referred(
  prefix: string,
  components: readonly HeaderName[],
): Readonly<Record<string, object>> {
  return Object.fromEntries(
    components.map((component) => {
      const { name } = headers[component];
      const spelled = name.startsWith(canonicalPrefix)
        ? prefix + name.slice(canonicalPrefix.length)
        : name;
      return [spelled, { $ref: `#/components/headers/${component}` }];
    }),
  );
}
