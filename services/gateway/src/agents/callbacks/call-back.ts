import { joinAgentPath, readAgentReply, ToldSoFar } from '@sluice/a2a';
import { GatewayError } from '@sluice/errors';
import { jsonBounds, readJsonObject } from '@sluice/json';
import { checkUpstreamUrl } from '@sluice/outbound';
import { UpstreamCall } from '../../calls/upstream-call.ts';
import type { ArrivedRequest } from '../../exchange/arrived-request.ts';
import { agentCallbackEvent } from '../../exchange/event.ts';
import type { BodyReply } from '../../exchange/reply.ts';
import { isOurs } from '../../http/caller-headers.ts';
import { connectionTokens, hopByHop } from '../../http/connection-headers.ts';
import type { Stage } from '../../pipeline/pipeline.ts';
import { callbackFailure } from '../agent-failure.ts';
import type { AgentParts } from '../agent-parts.ts';
import { agentPlan } from '../agent-plan.ts';
import { beginCall, deniedEnd, outcomeOfFailure } from '../begin-call.ts';
import { usedSince } from '../claim-work.ts';
import { type AgentExchange, expectAgentCall } from '../find-agent.ts';
import { cardRequest, placeOf } from '../read-asked.ts';
import { targetOf } from './take-callbacks.ts';

/** Of the connection, of proxies, and of browsers; all else is between the agent and who wants to be called. */
const notPassed: ReadonlySet<string> = new Set([
  ...hopByHop,
  'accept-encoding',
  'cookie',
  'set-cookie',
  'forwarded',
  'via',
]);

/** Receivers note what they are told, and work on it later. */
const timeoutMs = 30_000;

/** Innermost of callbacks: checks what the agent tells, counts it, and passes it on to where the caller wants it. */
export function callBack(parts: AgentParts): Stage {
  return async (exchange) => {
    expectAgentCall(exchange);
    const { subject, arrival } = exchange;
    const { server } = subject;
    if (server === undefined) throw new Error('callBack runs after findAgent');
    subject.event = agentCallbackEvent({ id: server.source.id, slug: server.source.slug });
    const { url, principal } = targetOf(exchange);
    const plan = agentPlan(server);
    if (plan.pushes === undefined) throw new GatewayError('agent.push_not_supported');
    subject.isRead = true;
    const body = await arrival.readBody();
    const type = arrival.headers['content-type'];
    const value = readJsonObject(body, jsonBounds.reply);
    const told = new ToldSoFar();
    if (value !== undefined) told.add(readAgentReply(value));
    if (told.taskId !== undefined) {
      const whose = await parts.notes.whose(placeOf(exchange), 'task', told.taskId, principal);
      // Of one that is nobody's yet the agent may tell before it has answered.
      if (whose === 'others') throw new GatewayError('agent.task_not_found');
    }
    const guard = parts.guards.of(exchange, plan.protocol);
    const asked = { ...cardRequest, form: 'other', kind: 'push', body } as const;
    const begun = await beginCall(parts, exchange, plan, asked, {
      verdicts: guard?.verdicts,
    });
    const startedAt = performance.now();
    let call: UpstreamCall | undefined;
    const facts = async () => ({ told, usage: await usedSince(parts.notes, exchange, told) });
    try {
      const sent = guard?.readsAnswer === true ? await guard.after(body, type) : body;
      call = open(url, sent, exchange, parts);
      await call.head;
      const { status } = call;
      const firstByteMs = performance.now() - startedAt;
      call.abort(new GatewayError('request.superseded'));
      if (status >= 300 && status < 400) throw new GatewayError('agent.callback_redirected');
      const outcome =
        status < 400
          ? ({ outcome: 'success' } as const)
          : ({ outcome: 'upstream_error', errorCode: 'upstream.error' } as const);
      await begun.end({
        ...outcome,
        status,
        upstreamStatus: status,
        firstByteMs,
        ...(await facts()),
      });
      return taken(status);
    } catch (caught) {
      const error = callbackFailure(caught);
      call?.abort(error);
      if (error.code === 'guardrail.denied')
        await begun.end({ ...deniedEnd(error), ...(await facts()) });
      else
        await begun.end({
          outcome: outcomeOfFailure(error),
          status: error.status,
          errorCode: error.code,
          failureCause: error.failureCause,
          ...(await facts()),
        });
      throw error;
    }
  };
}

function open(
  url: string,
  body: Buffer,
  { key, arrival }: AgentExchange,
  { hostRules, pools }: AgentParts,
): UpstreamCall {
  if (key === undefined) throw new Error('nobody was let in');
  const { url: to } = checkUpstreamUrl(url, hostRules, 'pushNotificationConfig.url', 'caller');
  const pool = pools.pool(to.origin, { by: 'caller', owner: key.source.workspaceId });
  return new UpstreamCall(pool, {
    path: joinAgentPath(to, '', ''),
    method: 'POST',
    headers: { ...passedHeaders(arrival), 'content-length': String(body.length) },
    body,
    timeoutMs,
    idleTimeoutMs: timeoutMs,
    signal: arrival.signal,
  });
}

function passedHeaders({ headers: arrived }: ArrivedRequest): Record<string, string> {
  const named = connectionTokens(arrived.connection);
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(arrived))
    if (
      value !== undefined &&
      !notPassed.has(name) &&
      named?.has(name) !== true &&
      !isOurs(name) &&
      !/^(?:x-forwarded-|proxy-|sec-)/.test(name)
    )
      headers[name] = String(value);
  return headers;
}

/** Agents act on the status alone. */
function taken(status: number): BodyReply {
  return { kind: 'body', status, headers: {}, body: Buffer.alloc(0) };
}
