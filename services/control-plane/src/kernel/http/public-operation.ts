import {
  type AnswerOf,
  adminEndpoints,
  type BodyOf,
  type Endpoint,
  type EndpointId,
} from '@sluice/contracts/admin';
import { fromUnknown } from '@sluice/errors';
import type { Request, RequestHandler, Response, Router } from 'express';
import { type Change, type Committed, commitChange } from '../database/change.ts';
import type { Database } from '../database/client.ts';
import { fromDatabase } from '../database/faults.ts';
import { type AskedFor, auditEntryOf } from './audit-entry.ts';
import { jsonBody, readBody } from './json-body.ts';
import { type OperationParts, withWarnings } from './operation.ts';
import { parseInput, refuseAny } from './parse-input.ts';
import { inputNotes } from './request-context.ts';
import { whenInForce } from './tell-in-force.ts';

/** One call of an operation that needs no key: all that is known of the caller is what they sent. */
export interface PublicCall {
  /** For reading. */
  readonly db: Database;
  readonly now: Date;
  /** Runs a change of the organisation it turned out to be about; done or refused, its audit log says so. */
  change<T>(organisationId: string, work: (change: Change) => Promise<T>): Promise<T>;
}

/** An operation without a caller. */
export interface PublicOperation {
  readonly id: EndpointId;
  readonly handle: (call: PublicCall, body: unknown) => Promise<object>;
}

/** Joins what is published of a public operation to what it does. */
export function implementPublic<Id extends EndpointId>(
  id: Id,
  handle: (call: PublicCall, body: BodyOf<Id>) => Promise<AnswerOf<Id>>,
): PublicOperation {
  return {
    id,
    handle: async (call, body) => (await handle(call, body as BodyOf<Id>)) as object,
  };
}

/** Nobody who has no key has much to say. */
const bodyBytesMax = 16_384;

/** Mounts operations that anybody may call. They go before the others, whose paths may hold parameters in their place. */
export function mountPublicOperations(
  v1: Router,
  list: readonly PublicOperation[],
  parts: Pick<OperationParts, 'client' | 'now' | 'recordRefusal' | 'observe' | 'whenPassed'>,
): void {
  const readJson = jsonBody({ bytesMax: bodyBytesMax });
  for (const operation of list) {
    const endpoint: Endpoint = adminEndpoints[operation.id];
    const handler: RequestHandler = async (req, res) => {
      const startedAt = performance.now();
      try {
        if (endpoint.body !== undefined) await readBody(req, res, readJson);
        const notes = inputNotes(res);
        const body =
          endpoint.body === undefined
            ? undefined
            : parseInput(endpoint.body, req.body, 'body', notes);
        // A link that a person opens has what mailers append to links.
        if (endpoint.method !== 'get') refuseAny(req.query, 'query', notes);
        const call = createCall(endpoint, req, res, parts);
        const answer = await operation.handle(call, body);
        res.set(await whenInForce(call.committed, parts.whenPassed));
        parts.observe(operation.id, 200, startedAt);
        res.status(200).json(withWarnings(answer, notes));
      } catch (caught) {
        const error = fromUnknown(fromDatabase(caught));
        parts.observe(operation.id, error.status, startedAt);
        throw error;
      }
    };
    v1[endpoint.method](endpoint.path, handler);
  }
}

function createCall(
  { audit }: Endpoint,
  req: Request,
  res: Response,
  parts: Pick<OperationParts, 'client' | 'now' | 'recordRefusal'>,
): PublicCall & { committed: readonly Committed[] } {
  const now = parts.now();
  const committed: Committed[] = [];
  return {
    committed,
    db: parts.client,
    now,
    async change(organisationId, work) {
      const asked: AskedFor = {
        organisationId,
        timestamp: now,
        userId: null,
        userType: 'user',
        apiKeyId: null,
        resourceType: audit?.resourceType ?? '',
        action: audit?.action ?? '',
      };
      try {
        const entry = auditEntryOf(req, res, asked, 200);
        return await commitChange(parts.client, entry, work, (told) => committed.push(told));
      } catch (caught) {
        const { status } = fromUnknown(caught);
        await parts.recordRefusal(auditEntryOf(req, res, asked, status), caught);
        throw caught;
      }
    },
  };
}
