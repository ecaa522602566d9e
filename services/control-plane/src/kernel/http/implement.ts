import {
  type AnswerOf,
  adminEndpoints,
  type BodyOf,
  type Endpoint,
  type EndpointId,
  type QueryOf,
} from '@sluice/contracts/admin';
import { GatewayError } from '@sluice/errors';
import type { OperationId } from '../access/table.ts';
import type { AdminCall, Operation } from './operation.ts';
import { parseInput } from './parse-input.ts';

/** Published, and answered here to whoever the authorisation table lets in. */
type Implemented = EndpointId & OperationId;

export interface Input<Id extends EndpointId> {
  readonly query: QueryOf<Id>;
  readonly body: BodyOf<Id>;
}

/**
 * Joins what is published of an operation to what it does: query and body are
 * checked before the handler runs, and what it returns has the published shape.
 */
export function implement<Id extends Implemented>(
  id: Id,
  handle: (call: AdminCall, input: Input<Id>) => Promise<AnswerOf<Id>>,
): Operation {
  const endpoint: Endpoint = adminEndpoints[id];
  const { query, body } = endpoint;
  return {
    id,
    method: endpoint.method,
    path: endpoint.path.replace(/\{([^}]+)\}/g, (_, name: string) => `:${camelCase(name)}`),
    atRoot: endpoint.atRoot ?? false,
    errorForm: endpoint.errorForm,
    handle: async (call) => {
      refuseUnknownKinds(endpoint, call);
      return (await handle(call, {
        query: query === undefined ? undefined : parseInput(query, call.query, 'query'),
        body: body === undefined ? undefined : parseInput(body, call.body, 'body'),
      } as Input<Id>)) as object;
    },
  };
}

/** Before anything is said of the body: it was meant for another path. */
function refuseUnknownKinds({ pathValues = {} }: Endpoint, call: AdminCall): void {
  for (const [name, values] of Object.entries(pathValues))
    if (!values.includes(pathParameter(call, camelCase(name))))
      throw new GatewayError('request.route_not_found');
}

/** Express knows no hyphen in the name of a parameter. */
function camelCase(name: string): string {
  return name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** A parameter of the path; the router has seen that it is there. */
export function pathParameter(call: AdminCall, name: string): string {
  return call.params[name] ?? '';
}
