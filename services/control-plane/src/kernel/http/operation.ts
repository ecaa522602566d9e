import { toolBaseUrl, unchangedHeader } from '@sluice/contracts';
import {
  type EndpointId,
  type GuardedEndpoint,
  generalFields,
  idempotencyKeyHeader,
  linesType,
  type OperationId,
  replayedHeader,
} from '@sluice/contracts/admin';
import { fromUnknown, GatewayError } from '@sluice/errors';
import type { Request, RequestHandler, Response, Router } from 'express';
import { authorise, isPermitted } from '../access/authorise.ts';
import type { Authenticate, Caller } from '../access/caller.ts';
import type { NewAuditEntry } from '../audit/chain.ts';
import { type Change, type Committed, commitChange } from '../database/change.ts';
import type { Database, DatabaseClient } from '../database/client.ts';
import { fromDatabase, isDatabaseAway } from '../database/faults.ts';
import { callerArrival, callerBase } from './arrival.ts';
import { type AskedFor, auditEntryOf } from './audit-entry.ts';
import type { Downloads } from './downloads.ts';
import {
  type Answer,
  type Attempt,
  type IdempotencyKeys,
  idempotencyKeyIn,
} from './idempotency.ts';
import { idleWarnings } from './idle-warnings.ts';
import { readBody, refuseUnstorableText } from './json-body.ts';
import type { InputNotes } from './parse-input.ts';
import type { RecordRefusal } from './record-refusal.ts';
import { inputNotes } from './request-context.ts';
import { inForceHeaders, type WhenPassed, whenInForce } from './tell-in-force.ts';

/** One call of an operation: who asks for what, and the ways to answer. */
export interface AdminRequest {
  readonly caller: Caller;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: unknown;
  /** What is to be done with fields that nobody knows, and what was. */
  readonly notes: InputNotes;
  readonly requestId: string;
  /** Where callers reach us, without a slash at the end: `https://sluice.example`. */
  readonly base: string;
  /** Where MCP servers and agents are reached; empty = nobody said it. */
  readonly toolBase: string;
  /** For reading. */
  readonly db: Database;
  readonly now: Date;
  /** Ends what is done for the answer when nobody waits for it any more. */
  readonly signal: AbortSignal;
  /**
   * Finds the workspace that an organisation key names, which stands with the caller from then on; once the input is
   * known to be well formed.
   * @throws 404 when there is none of this name, 400 when body and query name two
   */
  nameWorkspace(): Promise<void>;
  /** @throws 403 unless the caller may do this operation to this variant. */
  permit(variant: string): void;
  permits(variant: string): boolean;
  /** Runs the operation's change; its audit entry is committed with it. */
  change<T>(work: (change: Change) => Promise<T>): Promise<T>;
}

/** One public operation. The handler returns the body of a 200, the lines of one that answers lines, or throws. */
export interface Operation {
  readonly id: OperationId;
  readonly endpoint: GuardedEndpoint;
  /** As Express writes it. */
  readonly path: string;
  readonly handle: (call: AdminRequest) => Promise<object>;
}

export interface OperationParts {
  client: DatabaseClient;
  authenticate: Authenticate;
  /** The id of the workspace that an organisation key names, where every operation takes it. */
  nameWorkspace: (
    caller: Caller,
    body: unknown,
    query: Readonly<Record<string, unknown>>,
  ) => Promise<string | undefined>;
  jsonBody: RequestHandler;
  now: () => Date;
  recordRefusal: RecordRefusal;
  idempotencyKeys: IdempotencyKeys;
  /** Where callers reach us; unset = where this one did. */
  publicUrl: string | undefined;
  /** Where they reach MCP servers, when that is elsewhere. */
  mcpBaseUrl: string | undefined;
  /** The answer of a change waits for it. */
  whenPassed: WhenPassed;
  downloads: Downloads;
  /** Told of every answer, for metrics. */
  observe: (id: EndpointId, status: number, startedAt: number) => void;
}

/** The operation behind a mounted handler, for the test that walks the routes. */
export const operationOf = new WeakMap<RequestHandler, OperationId>();

/** Where operations go: below /v1, and at the root. */
export interface Mounts {
  v1: Router;
  root: Router;
}

/** Mounts operations: authenticate, read the body, authorise, run, answer; refusals of changes are recorded. */
export function mountOperations(
  mounts: Mounts,
  list: readonly Operation[],
  parts: OperationParts,
): void {
  for (const operation of list) {
    const handler: RequestHandler = (req, res) => answer(operation, req, res, parts);
    operationOf.set(handler, operation.id);
    const { atRoot, method } = operation.endpoint;
    const router = atRoot === true ? mounts.root : mounts.v1;
    router[method](operation.path, handler);
  }
}

async function answer(
  operation: Operation,
  req: Request,
  res: Response,
  parts: OperationParts,
): Promise<void> {
  const startedAt = performance.now();
  const { method, access, audit, errorForm, lines } = operation.endpoint;
  res.locals.errorForm = errorForm;
  res.locals.operation = operation.id;
  let call: ReturnType<typeof createCall> | undefined;
  try {
    if (access.keyHeaderOnly === true && !req.headers['x-service-api-key'])
      throw new GatewayError('auth.missing_key');
    const caller = await parts.authenticate(req);
    Object.assign(res.locals, { keyId: caller.keyId, organisationId: caller.organisationId });
    call = createCall(operation, caller, req, res, parts);
    if (method === 'post' || method === 'put') await readBody(req, res, parts.jsonBody);
    refuseUnstorableText(req.params, 'path');
    refuseUnstorableText(req.query, 'query');
    authorise(caller, access);
    if (lines === true) {
      const found = (await operation.handle(call)) as AsyncIterable<object>;
      await parts.downloads.send(req, res, { 'content-type': linesType }, asText(found));
      return parts.observe(operation.id, 200, startedAt);
    }
    const { headers, body } = await oncePerKey(operation, call, req, parts);
    parts.observe(operation.id, 200, startedAt);
    res.status(200).set(headers).json(body);
  } catch (caught) {
    const error = fromUnknown(fromDatabase(caught));
    parts.observe(operation.id, error.status, startedAt);
    if (call !== undefined && audit !== undefined)
      await parts.recordRefusal(call.entry(error.status), caught);
    throw error;
  }
}

/** Some lines a piece: one each would be a chunk of its own on the wire. */
async function* asText(lines: AsyncIterable<object>): AsyncGenerator<Buffer, void> {
  let text = '';
  for await (const line of lines) {
    text += `${JSON.stringify(line)}\n`;
    if (text.length < pieceLength) continue;
    yield Buffer.from(text);
    text = '';
  }
  yield Buffer.from(text);
}

const pieceLength = 65_536;

/** Carries it out, or answers what was answered under the caller's key for it. */
async function oncePerKey(
  operation: Operation,
  call: ReturnType<typeof createCall>,
  req: Request,
  { idempotencyKeys: keys, whenPassed, now }: OperationParts,
): Promise<Answer> {
  const run = async () => withWarnings(await operation.handle(call), call.notes);
  const said = () => (call.isUnchanged ? { [unchangedHeader]: 'true' } : undefined);
  const told = async () => ({ ...said(), ...(await whenInForce(call.committed, whenPassed)) });
  const key =
    req.method === 'POST' ? idempotencyKeyIn(req.headers[idempotencyKeyHeader]) : undefined;
  if (key === undefined) {
    const body = await run();
    return { headers: await told(), body };
  }
  const asked = [operation.id, call.params, call.query, call.body ?? null];
  const begun = await keys.begin(call.caller, key, asked, call.now);
  if ('replay' in begun) {
    const { headers, body } = begun.replay;
    return { headers: { ...headers, [replayedHeader]: 'true' }, body };
  }
  const { attempt } = begun;
  call.attempt = attempt;
  const body = await run().catch(async (error: unknown) => {
    // Where the database is away too, another request takes the key over in two minutes, and nobody waits here.
    const released = keys.release(attempt).catch(() => undefined);
    if (!isDatabaseAway(error)) await released;
    throw error;
  });
  // What is done is answered, kept or not: who sends it again is told that the answer is lost.
  const keep = (headers: Record<string, string>, isTold: boolean) =>
    keys.keep(attempt, { headers, body }, isTold, now()).catch(() => undefined);
  // Kept before gateways are waited for as well: the process may end meanwhile.
  if (call.committed.length > 0)
    await keep({ ...said(), ...inForceHeaders(call.committed, 'pending') }, false);
  const headers = await told();
  await keep(headers, true);
  return { headers, body };
}

/** Lists are not told: no operation that takes fields answers with one alone. */
export function withWarnings(body: object, { warnings }: InputNotes): object {
  return warnings.length === 0 || Array.isArray(body) ? body : { ...body, warnings };
}

function whenCallerGone(res: Response): AbortSignal {
  const gone = new AbortController();
  if (res.destroyed) gone.abort();
  res.once('close', () => gone.abort());
  return gone.signal;
}

function createCall(
  operation: Operation,
  caller: Caller,
  req: Request,
  res: Response,
  parts: OperationParts,
): AdminRequest & {
  caller: Caller;
  committed: readonly Committed[];
  attempt: Attempt | undefined;
  isUnchanged: boolean;
  entry(status: number): NewAuditEntry;
} {
  const now = parts.now();
  const { access, audit } = operation.endpoint;
  const asked: AskedFor = {
    organisationId: caller.organisationId,
    timestamp: now,
    userId: caller.userId ?? null,
    userType: caller.token === undefined ? 'api_key' : 'user',
    apiKeyId: caller.token === undefined ? caller.keyId : null,
    ...(caller.token === undefined ? {} : { detail: { subject: caller.token.subject ?? null } }),
    workspaceId: caller.workspaceId ?? null,
    resourceType: audit?.resourceType ?? '',
    action: audit?.action ?? '',
  };
  const entry = (status: number) => auditEntryOf(req, res, asked, status);
  const committed: Committed[] = [];
  const call = {
    attempt: undefined as Attempt | undefined,
    isUnchanged: false,
    caller,
    params: req.params as Record<string, string>,
    query: req.query,
    get body() {
      return req.body as unknown;
    },
    notes: inputNotes(res, access),
    requestId: String(res.locals.requestId),
    get base() {
      return parts.publicUrl ?? callerBase(req);
    },
    get toolBase() {
      return toolBaseUrl({ mcp: parts.mcpBaseUrl, public: parts.publicUrl }, callerArrival(req));
    },
    db: parts.client,
    now,
    get signal() {
      return whenCallerGone(res);
    },
    async nameWorkspace() {
      if (!generalFields(access).includes('workspace_id')) return;
      const namedWorkspaceId = await parts.nameWorkspace(caller, call.body, call.query);
      if (namedWorkspaceId !== undefined) call.caller = { ...caller, namedWorkspaceId };
    },
    permit: (variant: string) => authorise(caller, access, variant),
    permits: (variant: string) => isPermitted(caller, access, variant),
    change: async <T>(work: (change: Change) => Promise<T>) => {
      let after: object | undefined;
      const result = await commitChange(
        parts.client,
        entry(200),
        (change) =>
          underKey(
            {
              ...change,
              unchanged: () => tellUnchanged(change),
              describe: (facts) => {
                after = facts.after ?? after;
                change.describe(facts);
              },
            },
            work,
          ),
        (told) => committed.push(told),
      );
      call.notes.warnings.push(...idleWarnings(asked.resourceType, after, call.body));
      return result;
    },
    committed,
    entry,
  };
  return call;

  function tellUnchanged(change: Change): void {
    call.isUnchanged = true;
    change.unchanged();
  }

  async function underKey<T>(change: Change, work: (change: Change) => Promise<T>): Promise<T> {
    const { attempt } = call;
    if (attempt === undefined) return work(change);
    let resourceId: string | undefined;
    const describe: Change['describe'] = (facts) => {
      resourceId = facts.resourceId ?? resourceId;
      change.describe(facts);
    };
    const result = await work({ ...change, describe });
    await parts.idempotencyKeys.markChanged(change.db, attempt, resourceId);
    return result;
  }
}
