import {
  type AnswerOf,
  adminEndpoints,
  type BodyOf,
  type Endpoint,
  type GuardedEndpoint,
  type LinesId,
  type OperationId,
  type QueryOf,
} from '@sluice/contracts/admin';
import { GatewayError } from '@sluice/errors';
import { z } from 'zod';
import { refuseUnstorableText } from './json-body.ts';
import type { AdminRequest, Operation } from './operation.ts';
import { type InputNotes, parseInput, refuseAny } from './parse-input.ts';

export interface Input<Id extends OperationId> {
  readonly query: QueryOf<Id>;
  readonly body: BodyOf<Id>;
}

/** What an operation does. Where it answers an empty object, it need not say so. */
export type Handler<Id extends OperationId> = (
  call: AdminRequest,
  input: Input<Id>,
) => Promise<
  Id extends LinesId
    ? AsyncIterable<AnswerOf<Id>>
    : AnswerOf<Id> extends Record<string, never>
      ? void
      : AnswerOf<Id>
>;

/** What stands before the last part of an operation's name: of `prompts.versions.list`, `prompts.versions`. */
export type Resource = ResourceOf<OperationId>;
type ResourceOf<Id extends string> = Id extends `${infer First}.${infer Rest}`
  ? Rest extends `${string}.${string}`
    ? `${First}.${ResourceOf<Rest>}`
    : First
  : never;

export type OperationsOf<Of extends Resource> = Exclude<
  Extract<OperationId, `${Of}.${string}`>,
  `${Of}.${string}.${string}`
>;

/** One handler for each operation that is published of a resource, by the last part of its name. */
export type Handlers = {
  readonly [Of in Resource]: {
    readonly [Id in OperationsOf<Of> as Id extends `${Of}.${infer Name}`
      ? Name
      : never]: Handler<Id>;
  };
};

/** Operations by their names. */
export type Implemented<Id extends OperationId> = { readonly [Each in Id]: Operation };

/**
 * Joins what is published of a resource to what it does: query and body are
 * checked before a handler runs, and what it returns has the published shape.
 * An operation without a handler, or a handler without an operation, does not
 * compile. Paths are matched in the order in which handlers stand.
 */
export function implementAll<Of extends Resource>(
  resource: Of,
  handlers: Handlers[Of],
): Implemented<OperationsOf<Of>> {
  const operations = Object.entries<Handler<OperationId>>(handlers).map(([name, handle]) => {
    const id = `${resource}.${name}` as OperationsOf<Of>;
    return [id, operationOf(id, handle)] as const;
  });
  return Object.fromEntries(operations) as Implemented<OperationsOf<Of>>;
}

function operationOf(id: OperationId, handle: Handler<OperationId>): Operation {
  const endpoint: GuardedEndpoint = adminEndpoints[id];
  const { query, body, listName } = endpoint;
  const shown = shownBy(id);
  return {
    id,
    endpoint,
    path: endpoint.path.replace(/\{([^}]+)\}/g, (_, name: string) => `:${camelCase(name)}`),
    handle: async (call) => {
      refuseUnknownKinds(endpoint, call);
      const notes = { ...call.notes, shown };
      const input = {
        query: read(query, call.query, 'query', notes),
        body: read(body, underItsName(call.body, listName), 'body', notes),
      } as Input<OperationId>;
      await call.nameWorkspace();
      const answer: unknown = await handle(call, input);
      return (answer ?? {}) as object;
    },
  };
}

/** How the resource of an operation is shown by the one that reads it, without an envelope: there, or where one is read. */
function shownBy(id: OperationId): z.ZodType | undefined {
  const endpoints: Readonly<Record<string, Endpoint>> = adminEndpoints;
  const { path } = adminEndpoints[id];
  const there = Object.values(endpoints).find(
    (each) => each.method === 'get' && each.path === path && each.path.includes('{'),
  );
  const { answer } = there ?? endpoints[id.replace(/\.\w+$/, '.read')] ?? {};
  if (!(answer instanceof z.ZodObject)) return answer;
  const { data } = answer.shape;
  // Of a list, each field that it does not show itself has what stands in it: `data` has another name where it is sent.
  if (data instanceof z.ZodArray) return answer.catchall(data);
  return data instanceof z.ZodType ? data : answer;
}

/** A body whose list has the name under which it is shown. */
function underItsName(body: unknown, listName: string | undefined): unknown {
  if (listName === undefined || typeof body !== 'object' || body === null) return body;
  if (!Object.hasOwn(body, 'data') || Object.hasOwn(body, listName)) return body;
  const { data, ...others } = body as { data: unknown };
  return { ...others, [listName]: data };
}

function read(
  schema: z.ZodType | undefined,
  value: unknown,
  part: 'query' | 'body',
  notes: InputNotes,
): unknown {
  if (schema !== undefined) {
    const input: unknown = parseInput(schema, value, part, notes);
    // Text may have become an object, with text in it that nobody has seen so far.
    refuseUnstorableText(input, part);
    return input;
  }
  refuseAny(value, part, notes);
  return undefined;
}

/** Before anything is said of the body: it was meant for another path. */
function refuseUnknownKinds({ pathValues = {} }: GuardedEndpoint, call: AdminRequest): void {
  for (const [name, values] of Object.entries(pathValues))
    if (!values.includes(pathParameter(call, camelCase(name))))
      throw new GatewayError('request.route_not_found');
}

/** Express knows no hyphen in the name of a parameter. */
function camelCase(name: string): string {
  return name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** A parameter of the path; the router has seen that it is there. */
export function pathParameter(call: AdminRequest, name: string): string {
  return call.params[name] ?? '';
}
