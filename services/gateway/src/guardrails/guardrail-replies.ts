import { type CalledId, operations } from '@sluice/contracts';
import { denialBody, GatewayError, shapeHeaders } from '@sluice/errors';
import { encodeFurtherEvent, type JsonObject } from '@sluice/providers';
import type { BodyReply } from '../exchange/reply.ts';
import { addMember, editMembers } from '../http/edit-members.ts';
import { type HookResult, hasRun } from './hook-results.ts';
import { type DeniedRequest, isSoft, softAnswer, softEvents } from './soft-denial.ts';

/** How a 200 is told from one that some guardrail failed without denying it. */
export const softFailureStatus = 246;

/** The status a caller sees. An upstream's own failure says more than ours. */
export function statusWithHooks(upstreamStatus: number, failed: boolean): number {
  return failed && upstreamStatus === 200 ? softFailureStatus : upstreamStatus;
}

/**
 * The answer with `hook_results`, and every other byte as it was; the very same
 * bytes when no hook ran. `document` is what they are as JSON.
 */
export function withHookResults(
  bytes: Buffer,
  document: JsonObject,
  before: readonly HookResult[],
  after: readonly HookResult[],
): Buffer {
  if (!before.some(hasRun) && !after.some(hasRun)) return bytes;
  const results = resultsJson(before, after);
  // A provider that is a gateway itself may have told its own.
  if ('hook_results' in document) return editMembers(bytes, { hook_results: results });
  return addMember(bytes, 'hook_results', JSON.stringify(results));
}

/**
 * Status 446: an error in the shape the caller's client reads, and the results
 * that explain it. A soft denial is an answer that says the same, where the
 * operation has one.
 */
export function deniedReply(
  denied: DeniedRequest,
  before: readonly HookResult[],
  after: readonly HookResult[],
): BodyReply {
  const { errors, requestId } = denied;
  const error = new GatewayError('guardrail.denied');
  if (isSoft([...before, ...after])) {
    const answer = softAnswer(denied, error.message);
    if (answer !== undefined) return softReply(denied, answer, before, after);
  }
  const body = denialBody(errors, error, requestId);
  body.hook_results = resultsJson(before, after);
  const reply = refusal(error.status, 'application/json', Buffer.from(JSON.stringify(body)));
  Object.assign(reply.headers, shapeHeaders(errors, error));
  return reply;
}

function softReply(
  denied: DeniedRequest,
  answer: JsonObject,
  before: readonly HookResult[],
  after: readonly HookResult[],
): BodyReply {
  const events = denied.wantsStream ? softEvents(denied, answer) : undefined;
  if (events === undefined) {
    const told = { ...answer, hook_results: resultsJson(before, after) };
    return refusal(200, 'application/json', Buffer.from(JSON.stringify(told)));
  }
  const { endpoint, isStrict } = denied;
  const first = isStrict ? undefined : hookResultsItem(endpoint, 'before_request_hooks', before);
  const last = isStrict ? undefined : hookResultsItem(endpoint, 'after_request_hooks', after);
  const parts = [first, events, last].filter((part) => part !== undefined);
  return refusal(200, 'text/event-stream', Buffer.concat(parts));
}

function refusal(status: number, contentType: string, body: Buffer): BodyReply {
  return { kind: 'body', status, headers: { 'content-type': contentType }, body, isDenial: true };
}

/** The one event of a stream that carries results. Undefined when no hook ran. */
export function hookResultsItem(
  endpoint: CalledId,
  key: 'before_request_hooks' | 'after_request_hooks',
  results: readonly HookResult[],
): Buffer | undefined {
  if (!results.some(hasRun)) return undefined;
  const { format } = operations[endpoint];
  return encodeFurtherEvent(format, 'hook_results', { hook_results: { [key]: results } });
}

function resultsJson(before: readonly HookResult[], after: readonly HookResult[]): JsonObject {
  const results: unknown = { before_request_hooks: before, after_request_hooks: after };
  return results as JsonObject;
}
