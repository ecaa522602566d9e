import { waitHintMs } from '@sluice/engine';
import { GatewayError } from '@sluice/errors';
import type { UpstreamPools } from '@sluice/outbound';
import { usage } from '@sluice/proto-stubs';
import {
  isFinalFault,
  type ReplyFacts,
  type StreamReader,
  type Translation,
} from '@sluice/providers';
import type { ModelExchange } from '../exchange/exchange.ts';
import type { PreparedCall } from '../exchange/prepared-call.ts';
import type { BodyReply, Reply, StreamReply } from '../exchange/reply.ts';
import type { Target } from '../exchange/target.ts';
import { inTurn, largeBytes } from '../http/large-work.ts';
import { overloaded } from '../http/read-body.ts';
import { type Authoriser, isMadeForEachCall } from '../upstream-auth/authoriser.ts';
import type { AttemptRecord, UsageRecorder } from '../usage/record-attempt.ts';
import { replyHeaders } from './reply-headers.ts';
import { rawReply } from './streams/raw-reply.ts';
import { streamReply } from './streams/stream-reply.ts';
import { type Unread, UpstreamCall } from './upstream-call.ts';

export interface AttemptDeps {
  pools: UpstreamPools;
  authoriser: Authoriser;
  recorder: UsageRecorder;
  requestTimeoutMs: number;
  /** Until the first content event of a stream; 0 = no limit of its own. */
  firstByteTimeoutMs: number;
  streamIdleTimeoutMs: number;
  replyBytesMax: number;
}

/** What one call came to. Exactly one of `reply` and `error` is set. */
export interface AttemptResult {
  reply: Reply | undefined;
  error: GatewayError | undefined;
  status: number;
  /** No answer arrived. */
  isNetworkFailure: boolean;
  /** Asking the same model again cannot help. */
  isFinal: boolean;
  waitHintMs: number | undefined;
}

/** What a call needs to know beside the request that it sends. */
export interface AttemptContext {
  record: AttemptRecord;
  /** Aborts this call alone; the exchange's signal does when it is not set. */
  signal?: AbortSignal;
  /** Whether refusals are looked into for what makes a retry pointless. */
  mayRetry: boolean;
  /** Checks a complete answer before it is recorded, and may replace it. */
  inspect: ((body: Buffer) => Promise<BodyReply | undefined>) | undefined;
}

const { Outcome } = usage;

/** One call of one upstream: send, decode, record. Never throws; leaves exactly one usage record. */
export async function attempt(
  exchange: ModelExchange,
  target: Target,
  outgoing: PreparedCall,
  context: AttemptContext,
  deps: AttemptDeps,
): Promise<AttemptResult> {
  let call: UpstreamCall | undefined;
  try {
    const signed = authorised(exchange, target, outgoing, context, deps);
    const sent = signed instanceof Promise ? await signed : signed;
    const pool = deps.pools.pool(sent.origin, {
      tls: target.tls,
      by: outgoing.addressBy,
      owner: exchange.key?.source.workspaceId ?? '',
    });
    call = new UpstreamCall(pool, {
      path: outgoing.path,
      method: outgoing.method,
      headers: sent.headers,
      body: sent.body,
      timeoutMs: target.timeoutMs ?? deps.requestTimeoutMs,
      idleTimeoutMs: target.planned.idleTimeoutMs ?? deps.streamIdleTimeoutMs,
      signal: context.signal ?? exchange.arrival.signal,
    });
    await call.head;
    return await receive(exchange, target, outgoing, call, context, deps);
  } catch (caught) {
    const error =
      caught instanceof GatewayError ? caught : new GatewayError('internal', { cause: caught });
    // A fault of ours may leave the upstream talking to nobody.
    call?.abort(error);
    await context.record.finish(outcomeOf(error), error.status, error.code, undefined);
    return {
      reply: undefined,
      error,
      status: error.status,
      isNetworkFailure: withoutAnswer.has(error.code),
      isFinal: false,
      waitHintMs: undefined,
    };
  }
}

type Sent = Pick<PreparedCall, 'origin' | 'headers' | 'body'>;

/** The request as it is sent: with the proof of who asks, where that is made for each call. */
function authorised(
  exchange: ModelExchange,
  target: Target,
  outgoing: PreparedCall,
  context: AttemptContext,
  deps: AttemptDeps,
): Promise<Sent> | Sent {
  const { auth, origin, path, method, headers, body } = outgoing;
  if (!isMadeForEachCall(auth)) return outgoing;
  return deps.authoriser.authorise({
    recipe: auth,
    apiKey: target.apiKey,
    setting: target.setting,
    savedSetting: target.savedSetting,
    metadata: metadataByRank(exchange),
    owner: exchange.key?.source.workspaceId ?? '',
    origin,
    path,
    method,
    headers,
    body,
    signal: context.signal ?? exchange.arrival.signal,
  });
}

/** As it wins: the workspace's, the key's, then what the request adds. */
function metadataByRank({ bundle, key, metadata }: ModelExchange) {
  return [bundle?.source.metadata ?? {}, key?.source.metadata ?? {}, metadata];
}

const withoutAnswer: ReadonlySet<string> = new Set([
  'upstream.unreachable',
  'upstream.connect_timeout',
  'upstream.reset',
  'upstream.stream_cut',
]);

export function outcomeOf(error: GatewayError): usage.Outcome {
  if (error.code === 'request.aborted' || error.code === 'request.superseded')
    return Outcome.CALLER_GONE;
  if (error.code === 'upstream.error') return Outcome.UPSTREAM_ERROR;
  if (error.code.startsWith('upstream.')) return Outcome.UPSTREAM_FAILURE;
  return error.status >= 500 ? Outcome.GATEWAY_ERROR : Outcome.DENIED;
}

function answered(call: UpstreamCall, reply: Reply, isFinal = false): AttemptResult {
  return {
    reply,
    error: undefined,
    status: reply.status,
    isNetworkFailure: false,
    isFinal,
    waitHintMs: reply.status === 429 ? waitHintMs(call.headers) : undefined,
  };
}

async function receive(
  exchange: ModelExchange,
  target: Target,
  outgoing: PreparedCall,
  call: UpstreamCall,
  context: AttemptContext,
  deps: AttemptDeps,
): Promise<AttemptResult> {
  const { record } = context;
  record.firstByte();
  const translation = outgoing.translation;
  const isSuccess = call.status >= 200 && call.status < 300;
  const compressed =
    call.headers['content-encoding'] !== undefined &&
    call.headers['content-encoding'] !== 'identity';

  const passesOn =
    exchange.subject.operation.body === 'raw' ||
    // Sound is heard while it is made.
    (exchange.subject.operation.reply === 'sound' &&
      (translation?.mode === 'native' || (isSuccess && isSound(call)))) ||
    // An answer without a body is not of any format.
    exchange.arrival.method === 'HEAD' ||
    (compressed && translation?.mode === 'native');
  if (translation === undefined || passesOn)
    return answered(call, rawReply(outgoing, call, record));
  if (compressed) {
    call.abort(new GatewayError('upstream.invalid_response'));
    throw new GatewayError('upstream.invalid_response', {
      message: 'The provider compressed its reply although it was not asked to.',
    });
  }
  if (isSuccess && call.isEventStream) {
    const reader = translation.openStream(outgoing.context, outgoing.sentJson);
    return answered(call, await streamed(target, outgoing, reader, call, context, deps));
  }

  const bytesMax = isSuccess ? deps.replyBytesMax : Math.min(deps.replyBytesMax, errorBytesMax);
  const bytes = await call.readOrLeave(bytesMax, exchange.arrival.holdBytes);
  if (!Buffer.isBuffer(bytes)) {
    if (mayPassUnread(target, translation, isSuccess))
      return answered(call, rawReply(outgoing, call, record));
    const refused = unreadError(bytes, bytesMax);
    call.abort(refused);
    throw refused;
  }
  // The whole answer is here: what follows cannot fail for the upstream's sake.
  const decode = () =>
    isSuccess
      ? translation.decode(bytes, outgoing.context, { status: call.status, headers: call.headers })
      : translation.decodeError(call.status, bytes, outgoing.context);
  const decoded =
    bytes.length < largeBytes
      ? decode()
      : await inTurn(exchange.bundle?.source.workspaceId ?? '', bytes.length, decode);
  if (decoded.isUnread === true && target.planned.hooks !== undefined)
    throw new GatewayError('upstream.response_too_large', {
      message: 'The provider sent a reply of more values than can be checked.',
    });
  const headers = replyHeaders(call.headers, decoded.body === undefined);
  if (decoded.body !== undefined)
    headers['content-type'] = decoded.contentType ?? 'application/json';
  const body = decoded.body ?? bytes;
  const plain: BodyReply = { kind: 'body', status: call.status, headers, body };
  const reply = isSuccess ? await inspected(context, plain, decoded.facts) : plain;
  if (!isSuccess)
    await record.finish(Outcome.UPSTREAM_ERROR, call.status, 'upstream.error', decoded.facts);
  return answered(
    call,
    reply,
    !isSuccess && context.mayRetry && isFinalFault(call.status, bytes.toString('utf8')),
  );
}

/** No provider has so much to say of an error; it is read as text several times. */
const errorBytesMax = 1024 * 1024;

/** Bytes that are the caller's as they came, and that nobody has to look at first. */
function mayPassUnread({ planned }: Target, translation: Translation, isSuccess: boolean): boolean {
  return (
    translation.mode === 'native' &&
    planned.hooks === undefined &&
    (isSuccess || translation.entry.envelope?.translatesErrors !== true)
  );
}

function unreadError(why: Unread, bytesMax: number): GatewayError {
  return why === 'overloaded'
    ? overloaded()
    : new GatewayError('upstream.response_too_large', {
        message: `The provider sent more than the ${bytesMax} bytes that are read, and its reply has to be translated or checked.`,
      });
}

/** Speech in a vendor's own words may still be JSON around it. */
function isSound(call: UpstreamCall): boolean {
  return /^(?:audio\/|application\/octet-stream)/i.test(String(call.headers['content-type']));
}

/** Runs the checks of a complete answer and records what the caller will see of it. */
async function inspected(
  context: AttemptContext,
  plain: BodyReply,
  facts: ReplyFacts,
): Promise<BodyReply> {
  const checked = plain.status === 200 ? await context.inspect?.(plain.body) : undefined;
  const reply =
    checked === undefined
      ? plain
      : { ...checked, headers: { ...plain.headers, ...checked.headers } };
  // A denied answer was paid for all the same.
  const isDenied = reply.status === 446;
  await context.record.finish(
    isDenied ? Outcome.DENIED : Outcome.SUCCESS,
    reply.status,
    isDenied ? 'guardrail.denied' : '',
    facts,
  );
  return reply;
}

/** Waits for the first content event: until then a fault is an ordinary error, not a broken stream. */
async function streamed(
  target: Target,
  outgoing: PreparedCall,
  reader: StreamReader,
  call: UpstreamCall,
  { record }: AttemptContext,
  deps: AttemptDeps,
): Promise<StreamReply> {
  const headers = replyHeaders(call.headers, outgoing.translation?.mode === 'native');
  headers['content-type'] = String(call.headers['content-type'] ?? 'text/event-stream');
  if (
    outgoing.translation?.mode === 'translated' ||
    outgoing.translation?.entry.envelope?.openUnframer
  )
    headers['content-type'] = 'text/event-stream; charset=utf-8';
  const stream = streamReply({
    call,
    reader,
    record,
    passesOverload:
      outgoing.translation?.upstreamFormat === 'anthropic-messages' && !inspectsOverload(target),
  });
  const timeoutMs = target.planned.firstByteTimeoutMs ?? deps.firstByteTimeoutMs;
  if (timeoutMs === 0) await stream.committed;
  else await within(record.remainingMs(timeoutMs), timeoutMs, stream.committed, call);
  return {
    kind: 'stream',
    status: call.status,
    headers,
    pipeTo: stream.pipeTo,
    discard: stream.discard,
    wasWhole: () => reader.phase === 'complete',
  };
}

/** The integration asks that an overloaded Anthropic counts as a 529, not as a stream that says so. */
function inspectsOverload({ configurations }: Target): boolean {
  const flag =
    configurations.anthropic_inspect_stream_for_overloaded_error ??
    configurations.anthropicInspectStreamForOverloadedError;
  return flag === true || flag === 'true';
}

async function within(
  remainingMs: number,
  timeoutMs: number,
  committed: Promise<void>,
  call: UpstreamCall,
): Promise<void> {
  const timer = setTimeout(
    () =>
      call.abort(
        new GatewayError('upstream.timeout', {
          message: `The provider sent no content within ${timeoutMs} ms.`,
        }),
      ),
    remainingMs,
  );
  try {
    await committed;
  } finally {
    clearTimeout(timer);
  }
}
