import { GatewayError } from '@sluice/errors';
import { usage } from '@sluice/proto-stubs';
import type { StreamReader } from '@sluice/providers';
import type { Exchange, Reply, StreamReply } from '../pipeline/exchange.ts';
import { UpstreamCall } from '../upstream/call.ts';
import type { HostRules } from '../upstream/host-rules.ts';
import type { UpstreamPools } from '../upstream/pools.ts';
import type { AttemptRecord, UsageRecorder } from '../usage/attempt-record.ts';
import { type Outgoing, prepareOutgoing } from './outgoing.ts';
import { rawReply } from './raw-reply.ts';
import { addGatewayHeaders, replyHeaders } from './reply-headers.ts';
import { streamReply } from './stream-reply.ts';
import type { Target } from './target.ts';

export interface AttemptDeps {
  pools: UpstreamPools;
  hostRules: HostRules;
  recorder: UsageRecorder;
  requestTimeoutMs: number;
  streamIdleTimeoutMs: number;
  replyBytesMax: number;
}

const { Outcome } = usage;

/**
 * One try at one target: check, reserve, send, decode, record. Leaves exactly
 * one usage record from the moment the upstream may be called.
 */
export async function attempt(
  exchange: Exchange,
  target: Target,
  deps: AttemptDeps,
): Promise<Reply> {
  const outgoing = prepareOutgoing(exchange, target, deps.hostRules);
  const reserved = await exchange.limits?.reserveTarget(
    {
      provider: target.entry.id,
      providerSlug: target.saved?.slug,
      // A counter is kept for each: its name must have a bound.
      model: target.model === '' ? undefined : target.model.slice(0, 1024),
    },
    target.saved,
  );
  if (reserved !== undefined) exchange.limitStates = [...exchange.limitStates, ...reserved.states];
  const record = await deps.recorder.beginAttempt(exchange, target);
  record.counters = reserved?.counters ?? [];
  exchange.attempts++;
  let call: UpstreamCall | undefined;
  try {
    call = new UpstreamCall(deps.pools.pool(outgoing.origin), {
      path: outgoing.path,
      method: outgoing.method,
      headers: outgoing.headers,
      body: outgoing.body,
      timeoutMs: target.timeoutMs ?? deps.requestTimeoutMs,
      idleTimeoutMs: deps.streamIdleTimeoutMs,
      signal: exchange.signal,
    });
    await call.head;
    return await receive(exchange, target, outgoing, call, record, deps);
  } catch (caught) {
    const error =
      caught instanceof GatewayError ? caught : new GatewayError('internal', { cause: caught });
    // A fault of ours may leave the upstream talking to nobody.
    call?.abort(error);
    await record.finish(outcomeOf(error), error.status, error.code, undefined);
    throw error;
  }
}

function outcomeOf(error: GatewayError): usage.Outcome {
  if (error.code === 'request.aborted') return Outcome.CALLER_GONE;
  if (error.code === 'upstream.error') return Outcome.UPSTREAM_ERROR;
  if (error.code.startsWith('upstream.')) return Outcome.UPSTREAM_FAILURE;
  return error.status >= 500 ? Outcome.GATEWAY_ERROR : Outcome.DENIED;
}

async function receive(
  exchange: Exchange,
  target: Target,
  outgoing: Outgoing,
  call: UpstreamCall,
  record: AttemptRecord,
  deps: AttemptDeps,
): Promise<Reply> {
  record.firstByte();
  const wire = outgoing.call;
  const isSuccess = call.status >= 200 && call.status < 300;
  const compressed =
    call.headers['content-encoding'] !== undefined &&
    call.headers['content-encoding'] !== 'identity';

  const passesOn =
    exchange.route.isProxy ||
    // An answer without a body is not of any format.
    exchange.method === 'HEAD' ||
    (compressed && wire?.mode === 'native');
  if (wire === undefined || passesOn) return rawReply(target, outgoing, call, record);
  if (compressed) {
    call.abort(new GatewayError('upstream.invalid_response'));
    throw new GatewayError('upstream.invalid_response', {
      message: 'The provider compressed its reply although it was not asked to.',
    });
  }
  if (isSuccess && call.isEventStream) {
    const reader = wire.openStream(outgoing.context, outgoing.sentJson);
    return await streamed(target, outgoing, reader, call, record);
  }

  const bytes = await call.readAll(deps.replyBytesMax);
  // The whole answer is here: what follows cannot fail for the upstream's sake.
  const decoded = isSuccess
    ? wire.decode(bytes, outgoing.context)
    : wire.decodeError(call.status, bytes, outgoing.context);
  const headers = replyHeaders(call.headers, decoded.body === undefined);
  if (decoded.body !== undefined) headers['content-type'] = 'application/json';
  addGatewayHeaders(headers, target, outgoing.droppedParams);
  await record.finish(
    isSuccess ? Outcome.SUCCESS : Outcome.UPSTREAM_ERROR,
    call.status,
    isSuccess ? '' : 'upstream.error',
    decoded.facts,
  );
  return { kind: 'body', status: call.status, headers, body: decoded.body ?? bytes };
}

/** Waits for the first content event: until then a fault is an ordinary error, not a broken stream. */
async function streamed(
  target: Target,
  outgoing: Outgoing,
  reader: StreamReader,
  call: UpstreamCall,
  record: AttemptRecord,
): Promise<StreamReply> {
  const headers = replyHeaders(call.headers, outgoing.call?.mode === 'native');
  headers['content-type'] = String(call.headers['content-type'] ?? 'text/event-stream');
  if (outgoing.call?.mode === 'translated')
    headers['content-type'] = 'text/event-stream; charset=utf-8';
  addGatewayHeaders(headers, target, outgoing.droppedParams);
  const stream = streamReply({ call, reader, record });
  await stream.committed;
  return { kind: 'stream', status: call.status, headers, pipeTo: stream.pipeTo };
}
